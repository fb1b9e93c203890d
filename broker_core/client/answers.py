"""What the broker answers, turned into values and into the errors of `broker_core.errors`."""

from __future__ import annotations

from typing import Any

import orjson

from broker_core import errors
from broker_core.errors import BadRequest, CrossDeskError, DescriptionRefused, Unreachable
from broker_core.wire.checks import Diagnostic


def _family(base: type[CrossDeskError]) -> list[type[CrossDeskError]]:
    return [base, *(kind for child in base.__subclasses__() for kind in _family(child))]


_KINDS = [kind for kind in _family(CrossDeskError) if kind.__module__ == errors.__name__]
_BY_CODE = {kind.code: kind for kind in _KINDS}
_BY_STATUS = {kind.status: kind for kind in reversed(_KINDS)}


def value(content: bytes) -> Any:
    """The JSON value of an answer; raises Unreachable if it is not JSON (another program answers)."""
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise Unreachable(
            "What answers on the broker's socket does not speak as a broker.",
            remedy="Stop it with `crossdesk broker stop` and try again.",
        ) from error


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
        diagnostics = tuple(Diagnostic.model_validate(one) for one in found)
        return DescriptionRefused(said["message"], diagnostics, **words)
    return kind(said["message"], **words)


def _by_hundred(status: int) -> type[CrossDeskError]:
    return BadRequest if 400 <= status < 500 else CrossDeskError
