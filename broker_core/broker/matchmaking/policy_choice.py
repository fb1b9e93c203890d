"""Which policies are in force: as the settings say, or as was chosen since, kept over a restart."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Collection
from pathlib import Path

import orjson

from broker_core.broker.matchmaking.policy_plugins import BUILT_IN, PolicyPlugins
from broker_core.errors import BadRequest, NotAuthorized, StorageFull
from broker_core.policies.policy import Policy
from broker_core.policies.queues import QUEUES, QueuePolicy
from broker_core.wire.queue import PolicyChoice, PolicyView

log = logging.getLogger("crossdesk.policies")


class ActivePolicies:
    """The policies that can be chosen and those in force."""

    def __init__(self, path: Path, plugins: PolicyPlugins, order: str, queue: str) -> None:
        self._path = path
        self._plugins = plugins
        self.order = _known(order, plugins.look(), "policy")
        """Name of the policy that orders the candidates of a job."""
        self.queue = _known(queue, QUEUES, "queue policy")
        """Name of the policy that decides who may pass whom in the queue."""
        self._restore()
        self._in_force = plugins.policy(self.order)
        if error := plugins.look()[self.order].error:
            log.warning("The policy %s does not load, the built-in order counts: %s", self.order, error)

    def policy(self, name: str = "") -> Policy:
        """A policy by its name, without one that in force; raises BadRequest for one that is not usable.

        What is in force stays as it was when it was chosen, whatever became of its file.
        """
        return self._plugins.named(name) if name else self._in_force

    def queue_policy(self) -> QueuePolicy:
        """The queue policy in force, new."""
        return QUEUES[self.queue]()

    def views(self, problem: str = "") -> list[PolicyView]:
        """All policies that can be chosen, those in the user's folder as they are now.

        `problem`: why the order in force failed when it was last asked.
        """
        failed = f"it failed last time, the built-in order counted: {problem}" if problem else ""
        orders = [
            PolicyView(
                name=name,
                kind="order",
                origin=one.origin,
                doc=one.doc,
                chosen=name == self.order,
                error=one.error or (failed if name == self.order else ""),
            )
            for name, one in self._plugins.look().items()
        ]
        return orders + [
            PolicyView(
                name=name,
                kind="queue",
                origin=BUILT_IN,
                doc=inspect.getdoc(policy) or "",
                chosen=name == self.queue,
            )
            for name, policy in QUEUES.items()
        ]

    def choose(self, choice: PolicyChoice) -> None:
        """Put policies in force and keep the choice.

        Raises BadRequest for one that cannot be used, StorageFull where the choice cannot be kept.
        """
        order = choice.order or self.order
        in_force = self._plugins.named(order) if choice.order else self._in_force
        queue = _known(choice.queue, QUEUES, "queue policy") if choice.queue else self.queue
        self._keep({"order": order, "queue": queue})
        self.order, self.queue, self._in_force = order, queue, in_force

    def _keep(self, choice: dict[str, str]) -> None:
        fresh = self._path.with_suffix(".new")
        try:
            fresh.write_bytes(orjson.dumps(choice))
            fresh.replace(self._path)
        except OSError as error:
            raise StorageFull(
                f"The choice cannot be kept: {(error.strerror or str(error)).lower()}.",
                place=str(self._path),
                remedy="Make room on the disk, then choose again.",
            ) from error

    def _restore(self) -> None:
        """Take over what was chosen before the last stop; the settings count where that is gone."""
        try:
            kept = chosen_policies(self._path)
            if not kept:
                return
            self._plugins.named(kept["policy"])
            self.queue = _known(kept["queue_policy"], QUEUES, "queue policy")
            self.order = kept["policy"]
        except BadRequest as error:
            log.warning("The choice of policies is not restored, the settings count: %s", error)


def chosen_policies(path: Path) -> dict[str, str]:
    """What was chosen instead of the settings `policy` and `queue_policy`; empty: nothing."""
    try:
        kept = orjson.loads(path.read_bytes())
        return {"policy": str(kept["order"]), "queue_policy": str(kept["queue"])}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError) as error:
        log.warning("The choice of policies is not restored, the settings count: %s", error)
        return {}


def _known(name: str, known: Collection[str], what: str) -> str:
    if name not in known:
        raise BadRequest(
            f"There is no {what} of this name.", place=name, remedy="Use " + ", ".join(known) + "."
        )
    return name


def authorize(
    mode: str, owner: str, administrators: Collection[str], what: str = "choose the policies"
) -> None:
    """Raise NotAuthorised where a shared broker is not this user's to change."""
    if mode == "shared" and owner not in administrators:
        raise NotAuthorized(
            f"Only administrators {what} of a shared broker.",
            place=owner,
            remedy="Ask one of its administrators (setting `administrators`).",
        )
