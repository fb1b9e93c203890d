"""The parts of the scheduler put together: the same for the broker, the simulator and the tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

from broker_core.jobs.attempt_events import AttemptReport
from broker_core.reactor.reactor import TimerFired
from broker_core.resources.facts import SourceHeard
from broker_core.scheduling.attempts.attempts import Attempts
from broker_core.scheduling.attempts.ends import AttemptEnds
from broker_core.scheduling.attempts.fencing import Fences
from broker_core.scheduling.attempts.forced_rematch import ForcedRematch
from broker_core.scheduling.attempts.recovering import Recovering
from broker_core.scheduling.attempts.rematching import Rematching
from broker_core.scheduling.attempts.reports import AttemptReports
from broker_core.scheduling.attempts.several_ends import SeveralEnds
from broker_core.scheduling.attempts.several_sites import SeveralSites
from broker_core.scheduling.attempts.site_reactions import SiteReactions
from broker_core.scheduling.attempts.slot_reports import SlotReports
from broker_core.scheduling.attempts.start_deadlines import StartDeadlines
from broker_core.scheduling.cache_update import CacheUpdate
from broker_core.scheduling.coallocation.messages import ComponentGathered, LauncherLost, TrafficCounted
from broker_core.scheduling.config import SchedulerConfig
from broker_core.scheduling.deadlines import Deadlines
from broker_core.scheduling.eligibility import Match
from broker_core.scheduling.messages import (
    CancelAsked,
    ElsewhereAsked,
    HoldAsked,
    JobsRecovered,
    LinkChanged,
    PoliciesChosen,
    ReleaseAsked,
    ReplicasFound,
    SlotsUnheard,
    StartForetold,
    SubmissionRecorded,
)
from broker_core.scheduling.questions import Questions
from broker_core.scheduling.queue.admission import Admission
from broker_core.scheduling.queue.explanations import Explanations
from broker_core.scheduling.queue.fresh_answers import FreshAnswers
from broker_core.scheduling.queue.intake import Intake
from broker_core.scheduling.queue.rematch_interval import RematchInterval
from broker_core.scheduling.queue.scheduling_pass import SchedulingPass
from broker_core.scheduling.requests import UserRequests
from broker_core.scheduling.scheduler import Scheduler
from broker_core.scheduling.selection import Selector
from broker_core.scheduling.slots.effects import (
    GlideinUnavailable,
    PayloadLost,
    PayloadReturned,
    SlotsRefused,
    SpareMachines,
)
from broker_core.scheduling.state import SchedulerState
from broker_core.scheduling.turn import Step, Turn

Handlers = dict[type, Callable[[Any], object]]


def build(
    match: Match,
    positions: Callable[[], int],
    rules: SchedulerConfig | None = None,
    policies: PoliciesChosen | None = None,
) -> Scheduler:
    """A scheduler. `match`: the matchmaking function; `positions`: the next position in the log; `policies`:
    by which it decides until others are chosen."""
    state = SchedulerState(match, positions, rules or SchedulerConfig())
    selector, several = Selector(state), SeveralSites(state)
    attempts = Attempts(state, several)
    rounds = SchedulingPass(state, selector, attempts)
    if policies is not None:
        rounds.use(policies)
    fences = Fences(state)
    starts = StartDeadlines(state, fences, selector)
    admission = Admission(state, selector, attempts, rounds)
    rematching = Rematching(state, selector, attempts)
    elsewhere = ForcedRematch(state, selector, fences, rematching)
    ends = AttemptEnds(state, attempts, rematching, fences)
    together = SeveralEnds(state, several, rematching, fences)
    sites = SiteReactions(state, fences, starts, ends)
    reports = AttemptReports(state, sites, together)
    questions = Questions(state, selector, rounds, elsewhere)
    deadlines = Deadlines(admission, fences, starts, together)
    updates = CacheUpdate(state)
    answers = FreshAnswers(state, updates, rounds)
    intake = Intake(state, admission, answers)
    handlers = _of_attempts(reports, SlotReports(state, reports))
    handlers |= _by_users(UserRequests(state, admission, fences, together), elsewhere)
    handlers |= _of_launchers(together, several)
    handlers |= {
        SubmissionRecorded: intake.submitted,
        JobsRecovered: Recovering(state, attempts, sites, several).handle,
        SourceHeard: updates.add,
        LinkChanged: reports.link_changed,
        SlotsUnheard: admission.slots_unheard,
        ReplicasFound: lambda _: state.eligibility.forget(),
        StartForetold: attempts.foretold,
        PoliciesChosen: rounds.use,
        TimerFired: deadlines.enforce,
    }
    interval = RematchInterval(state, rounds, answers)
    explanations = Explanations(state, rounds, admission, questions)
    steps: list[Step] = [updates, interval, intake, rounds, explanations]
    if not state.rules.cache:
        steps.append(answers)
    return Scheduler(state, handlers, Turn(state, interval, steps, deadlines), questions)


def _of_attempts(reports: AttemptReports, slots: SlotReports) -> Handlers:
    of_sites: Handlers = dict.fromkeys(get_args(AttemptReport), reports.handle)
    return of_sites | {
        SlotsRefused: slots.refused,
        GlideinUnavailable: slots.unavailable,
        PayloadReturned: slots.unavailable,
        PayloadLost: slots.lost,
        SpareMachines: slots.spare,
    }


def _of_launchers(together: SeveralEnds, several: SeveralSites) -> Handlers:
    return {
        ComponentGathered: together.tell,
        LauncherLost: together.tell,
        TrafficCounted: several.counted,
    }


def _by_users(requests: UserRequests, elsewhere: ForcedRematch) -> Handlers:
    return {
        CancelAsked: requests.cancel,
        HoldAsked: requests.hold,
        ReleaseAsked: requests.release,
        ElsewhereAsked: elsewhere.handle,
    }
