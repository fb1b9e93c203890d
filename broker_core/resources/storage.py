"""The storage elements that sources tell of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from broker_core.resources.facts import SourceHeard

Known = Mapping[str, Mapping[str, Any]]


class Storage:
    """All storage elements by name, each as the source that was heard last describes it."""

    def __init__(self) -> None:
        self._said: dict[str, Known] = {}
        self.known: dict[str, Mapping[str, Any]] = {}
        """Always the same object; to be read only."""

    def heard(self, said: SourceHeard) -> bool:
        """Take over an answer; True if something is another now. What a part of a source told that is
        silent this time stays."""
        before = self._said.pop(said.source, {})
        whole = said.complete and not said.silent
        self._said[said.source] = said.storage if whole else {**before, **said.storage}
        known = {name: one for some in self._said.values() for name, one in some.items()}
        if known == self.known:
            return False
        self.known.clear()
        self.known.update(known)
        return True
