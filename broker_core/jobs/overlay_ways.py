"""How programs at sites that cannot reach each other get into one network, and which way a job takes."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

_ONLY_PRELOAD = "preload: "
"""With this a test job's word begins where nodes have the second way alone; the reason follows."""


class OverlayWay(StrEnum):
    """All components of an attempt take the same."""

    NAMESPACE = "namespace"
    """Each has a network namespace with a device of its own, whose packets are carried."""
    PRELOAD = "preload"
    """A library that is loaded into its programs has their connections carried."""


SHOWN = {
    OverlayWay.NAMESPACE: "by a network namespace at each site",
    OverlayWay.PRELOAD: "by a preload library at each site",
}
"""In words that follow `overlay`."""


def is_open(answer: object) -> bool:
    """True for the answer of a test job where components can be carried, and where there is none."""
    return not isinstance(answer, str) or answer == "yes" or answer.startswith(_ONLY_PRELOAD)


def way_over(answers: Iterable[str]) -> OverlayWay:
    """The way that is open at all sites with these answers of test jobs; empty: none has said anything."""
    only_preload = any(answer.startswith(_ONLY_PRELOAD) for answer in answers)
    return OverlayWay.PRELOAD if only_preload else OverlayWay.NAMESPACE


def why_preload(answer: str) -> str:
    """Why nodes have the second way alone; empty where they do not."""
    return answer.removeprefix(_ONLY_PRELOAD) if answer.startswith(_ONLY_PRELOAD) else ""
