"""The policies that come with the program (CB-SCH-04, CB-SCH-05, CB-SCH-11)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from broker_core.matching import ordering
from broker_core.policies.policy import Choices, Policy, Request

Places = npt.NDArray[np.intp]
BEST_FIT = "best-fit"
"""The policy that a broker has unless told otherwise, and the one to fall back to."""


def best_fit(choices: Choices, request: Request) -> Places:
    """Short queues, few sites, close data, a high Rank, then the smallest surplus of CPUs."""
    # Sets stand in the order of the mode that found them.
    places = np.arange(len(choices))
    if not request.inter_cluster:
        places = ordering.best_fit(
            choices.free,
            choices.total,
            choices.waiting,
            choices.rank,
            choices.close_files,
            request.cpus,
            request.max_site_queue,
        )
    overloaded = choices.waiting[places] > request.max_site_queue
    return places[np.lexsort((choices.sizes[places], overloaded))]


def worst_fit(choices: Choices, request: Request) -> Places:
    """The site with most free CPUs; several only where no single one suffices."""
    alone = _alone(choices, request)
    if not len(alone):
        return _several(choices, request)
    return alone[np.argsort(-choices.free[alone], kind="stable")]


def first_fit(choices: Choices, request: Request) -> Places:
    """The first site listed with enough free CPUs; several only where no single one suffices."""
    alone = _alone(choices, request)
    if not len(alone):
        return _several(choices, request)
    lacks = choices.free[alone] < request.cpus
    return alone[np.lexsort((choices.listed[alone], lacks))]


def _alone(choices: Choices, request: Request) -> Places:
    return np.flatnonzero(choices.sizes == 1)


def _several(choices: Choices, request: Request) -> Places:
    """As few sites as can be, among equally many Best Fit (CB-SCH-11)."""
    return np.lexsort((choices.free - request.cpus, choices.sizes))


POLICIES: dict[str, Policy] = {BEST_FIT: best_fit, "worst-fit": worst_fit, "first-fit": first_fit}
"""Built-in policies by the name under which they are chosen."""
