"""Policies that were added to the program: installed ones, and files in the user's own folder (CB-SCH-03).

A file `<config folder>/crossdesk/policies/NAME.py` with a function `order(choices, request)` is the policy
NAME; see `broker_core.policies.policy` for what it gets and gives. Installed packages name theirs in the
entry point group `crossdesk.policies`. A shared broker knows only installed ones.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from platformdirs import user_config_dir

from broker_core.errors import BadRequest
from broker_core.policies.built_in import POLICIES, best_fit
from broker_core.policies.policy import Policy

log = logging.getLogger("crossdesk.policies")
GROUP = "crossdesk.policies"
"""Entry point group of installed policies."""
FUNCTION = "order"
"""Name of the function in a user's file."""
BUILT_IN, INSTALLED = "built-in", "installed"


@dataclass(frozen=True, slots=True)
class KnownPolicy:
    """A policy that can be chosen, or why it cannot."""

    name: str
    origin: str
    """built-in, installed, or the path of the user's file."""
    doc: str
    order: Policy
    """The built-in order for one that does not load."""
    error: str = ""
    """Why it does not load; empty if it does."""


def user_folder() -> Path:
    """Where a user puts policies of their own."""
    return Path(user_config_dir("crossdesk")) / "policies"


class PolicyPlugins:
    """All policies for the order of candidates. Files are read again when they have changed."""

    def __init__(self, mode: str) -> None:
        self._folder = None if mode == "shared" else user_folder()
        self._fixed = _named([*_built_in(), *_installed()])
        self._files: dict[Path, tuple[tuple[int, int], KnownPolicy]] = {}
        self._known: dict[str, KnownPolicy] = {}
        self.look()

    def look(self) -> dict[str, KnownPolicy]:
        """Policies by name, as they are on the disk now; the built-in ones first."""
        self._files = {path: self._read(path) for path in self._paths()}
        self._known = _named([*self._fixed.values(), *(found for _, found in self._files.values())])
        return self._known

    def policy(self, name: str) -> Policy:
        """The function of a policy; the built-in order for a name that is not known or does not load."""
        known = self._known.get(name)
        return best_fit if known is None else known.order

    def named(self, name: str) -> Policy:
        """The function of a policy that is asked for, as it is on the disk now; raises BadRequest for one
        that is not known or does not load."""
        known = self.look().get(name)
        if known is None:
            remedy = f"Use {', '.join(self.usable())}."
            raise BadRequest("There is no policy of this name.", place=name, remedy=remedy)
        if known.error:
            raise BadRequest(
                f"The policy cannot be used: {known.error}.", place=name, remedy="Correct its file."
            )
        return known.order

    def usable(self) -> list[str]:
        """Names that can be chosen."""
        return [name for name, known in self._known.items() if not known.error]

    def _paths(self) -> list[Path]:
        if self._folder is None:
            return []
        try:
            return sorted(path for path in self._folder.glob("*.py") if not path.name.startswith("_"))
        except OSError as problem:
            log.warning("The folder of policies cannot be read: %s", problem)
            return []

    def _read(self, path: Path) -> tuple[tuple[int, int], KnownPolicy]:
        stamp = _stamp(path)
        before = self._files.get(path)
        if before is not None and before[0] == stamp:
            return before
        found = _loaded(path.stem, str(path), lambda: _function(path))
        return stamp, found


def _stamp(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size


def _function(path: Path) -> Any:
    """What a user's file calls `order`; always from its text, as a remembered translation may be older."""
    module = ModuleType(f"crossdesk_policy_{path.stem}")
    module.__file__ = str(path)
    exec(compile(path.read_bytes(), str(path), "exec"), vars(module))  # noqa: S102 - the user's own code
    if not hasattr(module, FUNCTION):
        raise ImportError(f"it has no function {FUNCTION}(choices, request)")
    return getattr(module, FUNCTION)


def _built_in() -> Iterator[KnownPolicy]:
    for name, policy in POLICIES.items():
        yield KnownPolicy(name, BUILT_IN, inspect.getdoc(policy) or "", policy)


def _installed() -> Iterator[KnownPolicy]:
    for point in sorted(entry_points(group=GROUP), key=lambda one: one.name):
        yield _loaded(point.name, INSTALLED, point.load)


def _loaded(name: str, origin: str, load: Any) -> KnownPolicy:
    try:
        policy = load()
        inspect.signature(policy).bind("choices", "request")
        return KnownPolicy(name, origin, inspect.getdoc(policy) or "", policy)
    except (Exception, SystemExit) as problem:  # noqa: BLE001 - a plug-in may raise anything
        return KnownPolicy(name, origin, "", best_fit, f"{type(problem).__name__}: {problem}")


def _named(policies: list[KnownPolicy]) -> dict[str, KnownPolicy]:
    """By name; who comes first keeps the name, the other is listed under its name and origin."""
    found: dict[str, KnownPolicy] = {}
    for one in policies:
        first = found.get(one.name)
        if first is None:
            found[one.name] = one
            continue
        name = f"{one.name} ({one.origin})"
        found[name] = KnownPolicy(
            name, one.origin, one.doc, best_fit, f"there is a policy {one.name} already ({first.origin})"
        )
    return found
