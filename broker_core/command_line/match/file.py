"""List-match against a file of resources, without a broker."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from broker_core.broker.matchmaking.match_context import MatchContext
from broker_core.broker.matchmaking.policy_plugins import PolicyPlugins
from broker_core.broker.submission.items import refused
from broker_core.broker.submission.match_parts import SHOWN, parts_of, place_of, row, tell
from broker_core.command_line import output
from broker_core.command_line.invocation import session
from broker_core.information.resource_file import read
from broker_core.information.updater import SourceAnswer
from broker_core.jdl.check import DEFAULT, check
from broker_core.matching.match import Matches, match
from broker_core.matching.report import report
from broker_core.policies.applied import applied
from broker_core.resources.cache import ResourceCache
from broker_core.resources.facts import SourceHeard
from broker_core.settings.settings import load
from broker_core.system.paths import places
from broker_core.wire.matches import MatchReport, MatchRequest


class FileMatch:
    """Matches as a broker with the user's settings would. What a site can do besides what it publishes, and
    the broker's way to it, are taken for granted."""

    def __init__(self, text: str, path: Path, site: str, policy: str) -> None:
        checked = check(text)
        if checked.description is None:
            raise refused(checked.diagnostics)
        settings = load(places(session().state_dir).settings)
        self._name = policy or settings.policy
        self._policy = PolicyPlugins(settings.mode).named(self._name)
        cache = _cache(read(path))
        self._pool = cache.pool(0.0)
        circumstances = MatchContext(settings)
        circumstances.storage = cache.storage.known
        self._context = replace(circumstances.shown(site), assume_abilities=True)
        self._description, self._parts = checked.description, parts_of(text, DEFAULT)
        self._found: dict[int, Matches] = {}

    async def ask(self, **fields: Any) -> MatchReport:
        """A page of the answer; takes the fields of MatchRequest. Raises BadRequest for an unknown part."""
        question = MatchRequest(description="", **fields)
        place = place_of(self._parts, question.part) if self._parts or question.part else 0
        made = report(
            self._matches(place),
            offset=question.offset,
            limit=question.limit,
            only=question.only,
            explain=question.explain,
            policy=self._name,
        )
        tell(made, self._parts, place)
        if not question.offset:
            made.parts = [row(part, self._matches(at)) for at, part in enumerate(self._parts[:SHOWN])]
        return made

    def _matches(self, place: int) -> Matches:
        """The matches of one part, or of the one job."""
        if place not in self._found:
            description = self._parts[place].description if self._parts else self._description
            found = match(description, self._pool, context=self._context)
            self._found[place] = applied(self._policy, self._name, found)
        return self._found[place]


def _cache(answer: SourceAnswer) -> ResourceCache:
    for remark in answer.remarks:
        output.say(remark, "yellow")
    cache = ResourceCache()
    cache.report(SourceHeard("file", 0.0, 0.0, answer.facts, complete=True, storage=answer.storage))
    return cache
