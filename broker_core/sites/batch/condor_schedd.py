"""Asks a schedd by HTCondor's own bindings (htcondor2): a program of its own, as each call may block.

What it prints is what HTCondor's commands print, so that one reader does for both ways.
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Sequence
from itertools import islice
from typing import Any

from broker_core.sites.batch.commands import MISSING
from broker_core.sites.batch.condor_lists import JOBS, NAME, NODES, SEPARATOR, SLOTS, begins

_RECENT = 600
"""Seconds for which jobs that left the queue are listed with the reason."""
_MOST = 1000
_AT_ONCE = 100
"""Jobs that one constraint names: it is parsed by descent."""
_ENDED = "4"
_FAILED = ("TotalError", "TotalPermissionDenied")


def main(words: Sequence[str]) -> int:
    """Runs `submit OPTION...`, `release ID...`, `remove ID...`, `status MARK`, `queues`, `nodes` or `detect`.

    Returns the exit status: MISSING where the bindings are not installed.
    """
    try:
        condor: Any = importlib.import_module("htcondor2")
    except ImportError:
        sys.stderr.write("HTCondor's Python bindings (htcondor2) are not installed here.\n")
        return MISSING
    act, *values = words
    try:
        sys.stdout.write(f"{_ACTS[act](condor, values)}\n")
    except (condor.HTCondorException, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _submit(condor: Any, options: Sequence[str]) -> str:
    """Options are lines of the description, before the last one: `queue COUNT`."""
    *lines, last = sys.stdin.read().splitlines()
    description = condor.Submit("\n".join([*lines, *options, last, ""]))
    taken = condor.Schedd().submit(description, count=int(last.removeprefix("queue ")))
    first = taken.first_proc()
    return f"{taken.cluster()}.{first} - {taken.cluster()}.{first + taken.num_procs() - 1}"


def _release(condor: Any, ids: Sequence[str]) -> str:
    return _act(condor, condor.JobAction.Release, ids)


def _remove(condor: Any, ids: Sequence[str]) -> str:
    return _act(condor, condor.JobAction.Remove, ids)


def _act(condor: Any, action: Any, ids: Sequence[str]) -> str:
    """Jobs that are gone, or are released already, are no error; raises ValueError for any other trouble."""
    schedd, left = condor.Schedd(), iter(ids)
    while some := list(islice(left, _AT_ONCE)):
        totals = schedd.act(action, some)
        if totals is None:
            raise ValueError(f"the schedd gave no answer to {action.name}")
        failed = {key: int(totals[key]) for key in _FAILED if totals.get(key)}
        if failed:
            raise ValueError(f"the schedd did not do {action.name} for all of {' '.join(some)}: {failed}")
    return "."


def _status(condor: Any, words: Sequence[str]) -> str:
    """The queue, and then what left it a short while ago, so that nothing is lost between both."""
    schedd, mine = condor.Schedd(), begins(words[0])
    ads = schedd.query(constraint=mine, projection=list(JOBS), opts=condor.QueryOpt.DefaultMyJobsOnly)
    lines = {_key(ad): _line(ad, JOBS) for ad in ads}
    try:
        lines |= {_key(ad): _past(ad) for ad in _gone(schedd, mine)}
    except condor.HTCondorException as error:
        # The queue alone is a whole list; only reasons are missing.
        sys.stderr.write(f"HTCondor's history cannot be read: {error}\n")
    return "\n".join([*lines.values(), "."])


def _gone(schedd: Any, mine: str) -> Any:
    since = f"EnteredCurrentStatus < {int(time.time()) - _RECENT}"
    return schedd.history(constraint=mine, projection=[*JOBS, "RemoveReason"], match=_MOST, since=since)


def _key(ad: Any) -> tuple[int, int]:
    return int(ad["ClusterId"]), int(ad["ProcId"])


def _past(ad: Any) -> str:
    reason = ad.get("RemoveReason", "undefined")
    return _line({**ad, "JobStatus": _ENDED, "RemoteHost": "undefined", "HoldReason": reason}, JOBS)


def _queues(condor: Any, words: Sequence[str]) -> str:
    slots = condor.Collector().query(condor.AdType.Startd, projection=list(SLOTS))
    jobs = condor.Schedd().query(projection=["JobStatus"])
    return "\n".join(
        [*(_line(ad, SLOTS) for ad in slots), SEPARATOR, *(_line(ad, ("JobStatus",)) for ad in jobs), "."]
    )


def _nodes(condor: Any, words: Sequence[str]) -> str:
    slots = condor.Collector().query(condor.AdType.Startd, projection=list(NODES))
    return "\n".join([*(_line(ad, NODES) for ad in slots), "."])


def _line(ad: Any, names: Sequence[str]) -> str:
    """Attributes with tabs between them, none of which holds a tab or a line's end."""
    return "\t".join(" ".join(str(ad.get(name, "undefined")).split()) for name in names)


def _detect(condor: Any, words: Sequence[str]) -> str:
    """The schedd has to answer."""
    condor.Schedd().query(constraint="false", projection=[NAME], limit=1)
    return str(condor.version())


_ACTS = {
    "submit": _submit,
    "release": _release,
    "remove": _remove,
    "status": _status,
    "queues": _queues,
    "nodes": _nodes,
    "detect": _detect,
}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
