"""List-match against a file of resources, without a broker."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from broker_core.broker.circumstances import Circumstances
from broker_core.broker.places import places
from broker_core.broker.plugins import PolicyPlugins
from broker_core.broker.settings import load
from broker_core.client.prepare import Prepared
from broker_core.command_line import output
from broker_core.command_line.session import session
from broker_core.errors import BadRequest
from broker_core.information.resource_file import read
from broker_core.information.updater import Answer
from broker_core.matching.match import match
from broker_core.matching.report import report
from broker_core.policies.applied import applied
from broker_core.policies.policy import Policy
from broker_core.resources.cache import ResourceCache
from broker_core.resources.facts import SourceHeard
from broker_core.resources.pool import Pool
from broker_core.wire.matches import MatchReport, MatchRequest


class FileMatch:
    """Matches as a broker with the user's settings would. What a site can do besides what it publishes, and
    the broker's way to it, are taken for granted."""

    def __init__(self, prepared: Prepared, path: Path, site: str, policy: str) -> None:
        if prepared.description is None:
            raise prepared.refused()
        settings = load(places(session().state_dir).settings)
        context = replace(Circumstances(settings).shown(site), assume_abilities=True)
        self._policy = policy or settings.policy
        order = _policy(self._policy, PolicyPlugins(settings.mode))
        found = match(prepared.description, _pool(read(path)), context=context)
        self._found, problem = applied(order, self._policy, found)
        if problem:
            output.say(f"The policy {self._policy} failed, the built-in order counts: {problem}.", "yellow")

    async def ask(self, **fields: Any) -> MatchReport:
        """A page of the answer; takes the fields of MatchRequest."""
        question = MatchRequest(description="", **fields)
        return report(
            self._found,
            offset=question.offset,
            limit=question.limit,
            only=question.only,
            explain=question.explain,
            policy=self._policy,
        )


def _policy(name: str, known: PolicyPlugins) -> Policy:
    if name not in known.usable():
        raise BadRequest(
            "There is no usable policy of this name.",
            place=name,
            remedy="Use " + ", ".join(known.usable()) + ".",
        )
    return known.policy(name)


def _pool(answer: Answer) -> Pool:
    for remark in answer.remarks:
        output.say(remark, "yellow")
    cache = ResourceCache()
    cache.report(SourceHeard("file", 0.0, 0.0, answer.facts, complete=True))
    return cache.pool(0.0)
