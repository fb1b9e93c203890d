"""Which policies are in force: as the settings say, or as was chosen since, kept over a restart."""

from __future__ import annotations

import logging
from pathlib import Path

import orjson

from broker_core.errors import BadRequest, NotAuthorised
from broker_core.policies.ordering import ORDERINGS
from broker_core.wire.queue import PolicyChoice, PolicyView

log = logging.getLogger("crossdesk.policies")
QUEUES = {"fcfs": "First come, first served (CB-SCH-07)."}
"""Policies of the queue."""


class PolicyChooser:
    """The policies that can be chosen and those in force."""

    def __init__(self, path: Path, order: str, queue: str) -> None:
        self._path = path
        self.order = order
        """Name of the policy that orders the candidates of a job."""
        self.queue = queue
        """Name of the policy that decides who may pass whom in the queue."""
        self._take(self._kept())

    def views(self) -> list[PolicyView]:
        """All policies that can be chosen."""
        orders = [(name, "order", policy.__doc__ or "") for name, policy in ORDERINGS.items()]
        queues = [(name, "queue", doc) for name, doc in QUEUES.items()]
        return [
            PolicyView(
                name=name, kind=kind, origin="built-in", doc=doc, chosen=name in (self.order, self.queue)
            )
            for name, kind, doc in orders + queues
        ]

    def choose(self, choice: PolicyChoice) -> None:
        """Put policies in force and keep the choice; raises BadRequest for one that does not exist."""
        for name, known in ((choice.order, ORDERINGS), (choice.queue, QUEUES)):
            if name and name not in known:
                raise BadRequest(
                    "There is no policy of this name.", place=name, remedy="Use " + ", ".join(known) + "."
                )
        self._take({"order": choice.order, "queue": choice.queue})
        fresh = self._path.with_suffix(".new")
        fresh.write_bytes(orjson.dumps({"order": self.order, "queue": self.queue}))
        fresh.replace(self._path)

    def _take(self, chosen: dict[str, str]) -> None:
        order, queue = chosen.get("order", ""), chosen.get("queue", "")
        self.order = order if order in ORDERINGS else self.order
        self.queue = queue if queue in QUEUES else self.queue

    def _kept(self) -> dict[str, str]:
        try:
            kept = orjson.loads(self._path.read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, orjson.JSONDecodeError) as error:
            log.warning("The choice of policies cannot be read, the settings count: %s", error)
            return {}
        return {name: kept[name] for name in ("order", "queue") if isinstance(kept.get(name), str)}


def authorise(mode: str, owner: str, administrators: tuple[str, ...]) -> None:
    """Raise NotAuthorised where a shared broker is not this user's to change."""
    if mode == "shared" and owner not in administrators:
        raise NotAuthorised(
            "Only administrators choose the policies of a shared broker.",
            place=owner,
            remedy="Ask one of its administrators (setting `administrators`).",
        )
