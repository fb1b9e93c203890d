"""Carries out a replay that was asked for on the command line."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson
from rich.progress import Progress

from broker_core.client.package_data import exists, folder
from broker_core.command_line import output
from broker_core.command_line.invocation import session
from broker_core.command_line.simulation import report as sim_report
from broker_core.command_line.simulation.own_policies import own_policies
from broker_core.errors import BadRequest
from broker_core.policies.guarded import failed
from broker_core.scheduling.config import SchedulerConfig
from broker_core.scheduling.scheduler import Scheduler
from broker_core.simulation import picture, production
from broker_core.simulation.curves import curves
from broker_core.simulation.outcome import ReplayOutcome
from broker_core.simulation.partitions import sites_of
from broker_core.simulation.replay import TraceReplay
from broker_core.simulation.site import SiteFacts
from broker_core.simulation.sites_file import read_sites
from broker_core.simulation.swf import read_swf
from broker_core.simulation.trace import WorkloadTrace
from broker_core.system.file_errors import unusable
from broker_core.system.gc_tuning import HARDLY_EVER, collect_rarely


@dataclass(frozen=True, slots=True)
class ReplayRequest:
    """What was asked for."""

    trace: str
    sites: Path | None
    policy: str
    queue: str
    cpus: int
    cache: bool
    jobs: int
    plot: Path | None
    progress: bool
    compared: tuple[str, ...] = ()
    """Policies to replay the same jobs under as well: an order of the sites, or `ORDER/QUEUE`."""


def run(wish: ReplayRequest) -> None:
    """Replay, and show the result; raises BadRequest for what cannot be."""
    if wish.plot is not None and wish.plot.suffix.lower() != ".svg":
        raise BadRequest(
            "Curves are only written as SVG.", place=str(wish.plot), remedy="Give a name that ends in .svg."
        )
    trace = read_swf(_found(wish.trace))
    trace = trace.first(wish.jobs) if wish.jobs else trace
    sites = read_sites(wish.sites) if wish.sites is not None else sites_of(trace, wish.cpus)
    collect_rarely(HARDLY_EVER)
    if wish.compared:
        _compare(trace, sites, wish)
        return
    began = time.monotonic()
    outcome, note = _replayed(trace, sites, wish)
    took = time.monotonic() - began
    shape = curves(outcome)
    if wish.plot is not None:
        _write(wish.plot, picture.svg(outcome, shape))
    if note:
        output.say(note, "yellow")
    if not session().json:
        sim_report.show(outcome, shape, (wish.policy, wish.queue), took)
        return
    _tell(sim_report.value(outcome, shape, (wish.policy, wish.queue), took) | {"policy_note": note}, wish)


def _tell(value: dict[str, Any], request: ReplayRequest) -> None:
    """Write a result as JSON."""
    if request.progress:
        _line({"result": value})
    else:
        output.as_json(value)


def _compare(trace: WorkloadTrace, sites: tuple[SiteFacts, ...], request: ReplayRequest) -> None:
    """Replay the same jobs under each of the policies, and show what came of it side by side."""
    if request.plot is not None:
        raise BadRequest("The curves of one replay fit a picture.", remedy="Leave --plot or --compare out.")
    requests = [request, *(_under(request, words) for words in request.compared)]
    for one in requests:  # a name that is wrong is said before hours are spent on the others
        production.core(own_policies().named(one.policy), one.queue)
    results = []
    for one in requests:
        began = time.monotonic()
        outcome, note = _replayed(trace, sites, one)
        took = time.monotonic() - began
        value = sim_report.value(outcome, curves(outcome), (one.policy, one.queue), took)
        results.append(value | {"policy_note": note})
        if note:
            output.say(note, "yellow")
    if session().json:
        _tell({"runs": results}, request)
    else:
        sim_report.compare(results)


def _under(request: ReplayRequest, words: str) -> ReplayRequest:
    """The same replay under other policies; what is not named stays."""
    policy, _, queue = words.partition("/")
    return replace(request, policy=policy or request.policy, queue=queue or request.queue)


def _found(trace: str) -> Path:
    """The file of that name, else the shipped trace of that name."""
    shipped = f"traces/{trace}.swf.gz"
    if "/" not in trace and not Path(trace).exists() and exists(shipped):
        return folder(shipped)
    return Path(trace)


def _replayed(
    trace: WorkloadTrace, sites: tuple[SiteFacts, ...], wish: ReplayRequest
) -> tuple[ReplayOutcome, str]:
    """What became of the jobs, and a note if the policy failed."""
    policy = own_policies().named(wish.policy)
    core = production.core(policy, wish.queue, SchedulerConfig(cache=wish.cache))
    replay = TraceReplay(trace, sites, core)
    if wish.progress and session().json:
        replay.run(lambda now: _line({"progress": now.standing()}))
    elif session().json or not sys.stderr.isatty():
        replay.run()
    else:
        with Progress(console=output.messages(), transient=True) as bar:
            task = bar.add_task("Replaying", total=len(trace))
            replay.run(lambda now: bar.update(task, completed=now.over))
    outcome = ReplayOutcome(trace, sites, replay.start, replay.end, replay.place)
    return outcome, failed(wish.policy, core.part(Scheduler).policy_problem)


def _line(value: Any) -> None:
    """One line of JSON, at once."""
    sys.stdout.buffer.write(orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE))
    sys.stdout.buffer.flush()


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text)
    except OSError as problem:
        raise unusable("The picture cannot be written", path, problem) from None
