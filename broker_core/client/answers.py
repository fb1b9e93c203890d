"""What the broker answers, turned into values and into the errors of `broker_core.errors`."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar, cast

import orjson
from pydantic import BaseModel, TypeAdapter, ValidationError

from broker_core import errors
from broker_core.errors import (
    BadRequest,
    CrossDeskError,
    DescriptionRefused,
    SiteSilent,
    Unreachable,
    VersionsDiffer,
)
from broker_core.version import VERSION
from broker_core.wire.checks import DiagnosticView

Wanted = TypeVar("Wanted")
Model = TypeVar("Model", bound=BaseModel)
_REMEDY = (
    "Close the older one and start it again: this program, or the broker (`crossdesk broker stop`; "
    "jobs run on)."
)


def _family(base: type[CrossDeskError]) -> list[type[CrossDeskError]]:
    return [base, *(kind for child in base.__subclasses__() for kind in _family(child))]


_KINDS = [kind for kind in _family(CrossDeskError) if kind.__module__ == errors.__name__]
_BY_CODE = {kind.code: kind for kind in _KINDS}
# A broker that is not reached gives no answer, so one with this status is about a site.
_BY_STATUS = {kind.status: kind for kind in reversed(_KINDS)} | {SiteSilent.status: SiteSilent}


def value(content: bytes) -> Any:
    """The JSON value of an answer; raises Unreachable if it is not JSON (another program answers)."""
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise Unreachable(
            "What answers on the broker's socket does not speak as a broker.",
            remedy="Stop it with `crossdesk broker stop` and try again.",
        ) from error


def fitting(kind: type[Wanted], said: Any) -> Wanted:
    """An answer as what it should be, fields of a newer broker left out; raises VersionsDiffer."""
    try:
        found: Wanted = _adapter(cast(Any, kind)).validate_python(said, extra="ignore")
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, (error.title, *first["loc"])))
        # Without the cause, whose text has values of the answer: one may be a secret.
        raise _differ(f"{place}: {first['msg']}") from None
    return found


def unchecked(kind: type[Model], said: Any) -> Model:
    """The same for long answers, whose values are not looked at; raises VersionsDiffer for missing fields."""
    lacking = _required(kind) - said.keys() if isinstance(said, dict) else {"all of it"}
    if lacking:
        raise _differ(f"{kind.__name__}: without {', '.join(sorted(lacking))}")
    return kind.model_construct(**said)


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


@cache
def _required(kind: type[BaseModel]) -> frozenset[str]:
    return frozenset(name for name, field in kind.model_fields.items() if field.is_required())


def _differ(what: str) -> VersionsDiffer:
    words = f"This program (CrossDesk {VERSION}) and its broker are of different versions"
    return VersionsDiffer(f"{words}: an answer does not fit ({what}).", remedy=_REMEDY)


def refusal(status: int, content: bytes) -> CrossDeskError:
    """The error that an answer with a status of 400 or more stands for."""
    try:
        said = orjson.loads(content)
    except orjson.JSONDecodeError:
        said = {}
    if not isinstance(said, dict) or "message" not in said:
        said = {"code": "", "message": f"The broker answered with status {status}."}
    return _error(status, said)


def _error(status: int, said: dict[str, Any]) -> CrossDeskError:
    code = str(said.get("code", ""))
    kind = _BY_CODE.get(code) or _BY_STATUS.get(status) or _by_hundred(status)
    words = {"place": said.get("place", ""), "remedy": said.get("remedy", ""), "code": code}
    found = said.get("diagnostics") or []
    if found or issubclass(kind, DescriptionRefused):
        diagnostics = fitting(list[DiagnosticView], found)
        return DescriptionRefused(said["message"], tuple(diagnostics), **words)
    return kind(said["message"], **words)


def _by_hundred(status: int) -> type[CrossDeskError]:
    return BadRequest if 400 <= status < 500 else CrossDeskError
