"""Whether a job is done or has failed: by its state, and by the exit code where it ran to its end."""

from __future__ import annotations

import time

import pytest

from broker_core.command_line.words import exit_code_or_signal
from broker_core.jobs.outcome import (
    Outcome,
    brief_cause,
    cases,
    ended_by,
    failure_cause,
    failure_line,
    outcome_of,
    outcomes,
)
from broker_core.jobs.query import parse
from broker_core.jobs.states import JobState


@pytest.mark.parametrize(
    ("state", "exit_code", "outcome"),
    [
        ("Done", 0, Outcome.DONE),
        ("Done", 3, Outcome.FAILED),
        ("Done", None, Outcome.DONE),
        ("Cleared", 0, Outcome.DONE),
        ("Cleared", 3, Outcome.FAILED),
        ("Aborted", None, Outcome.FAILED),
        ("Aborted", 0, Outcome.FAILED),
        ("Canceled", 3, Outcome.CANCELED),
        ("Dreaming", 0, Outcome.UNKNOWN),
        ("", None, Outcome.UNKNOWN),
    ],
)
def test_an_ended_job_is_done_failed_or_canceled(state: str, exit_code: int | None, outcome: Outcome) -> None:
    assert outcome_of(state, exit_code) is outcome


@pytest.mark.parametrize("state", [state for state in JobState if state.active])
def test_a_job_that_goes_on_has_not_failed_whatever_an_earlier_attempt_left(state: JobState) -> None:
    found = {outcome_of(state, code) for code in (None, 0, 1)}
    assert found == {Outcome(state.value)}
    assert Outcome(state.value).active
    assert not Outcome(state.value).ended


def test_each_outcome_but_the_unknown_is_active_or_ended() -> None:
    assert [one for one in Outcome if one.active == one.ended] == [Outcome.UNKNOWN]


def test_the_cases_of_an_outcome_are_all_that_have_it() -> None:
    every = {(state, bad): outcome_of(state, int(bad)) for state in JobState for bad in (False, True)}
    found = {case: one for one in Outcome for case in cases(one)}
    assert found == every


@pytest.mark.parametrize(
    ("row", "brief", "cause"),
    [
        (("Done", 0, None, "Exit code 0"), "", ""),
        (("Done", 7, None, "Exit code 7"), "exit 7", "exit 7"),
        (("Cleared", 7, None, "The output was delivered"), "exit 7", "exit 7"),
        (("Done", 7, 9, "Exit code 7"), "exit 7", "exit 7"),
        (
            ("Aborted", None, 9, "The application was ended by signal 9 (SIGKILL)"),
            "SIGKILL",
            "SIGKILL",
        ),
        (("Aborted", None, 99, ""), "signal 99", "signal 99"),
        (("Aborted", 1, 9, "No resource is left"), "", "No resource is left"),
        (("Canceled", None, 9, "Canceled by its owner"), "", ""),
        (("Running", 7, 9, ""), "", ""),
    ],
)
def test_why_a_job_failed_is_said_in_a_few_words(
    row: tuple[str, int | None, int | None, str], brief: str, cause: str
) -> None:
    assert brief_cause(*row) == brief
    assert failure_cause(*row) == cause


def test_columns_have_the_outcomes_of_their_rows_and_many_rows_take_no_time() -> None:
    states = [state.value for state in JobState] * 12_000
    codes = [None, 0, 3, 0, 1] * (len(states) // 5 + 1)
    begun = time.process_time()
    found = outcomes(states, codes[: len(states)])
    assert time.process_time() - begun < 1.0
    assert found[:9] == [outcome_of(state, code) for state, code in zip(states[:9], codes, strict=False)]
    assert len(found) == len(states)


@pytest.mark.parametrize(
    ("row", "line"),
    [
        (("Done", 7, None, "", "calibration.dat is not here"), "Exit 7 · calibration.dat is not here"),
        (("Cleared", 7, None, "", ""), "Exit 7"),
        (("Done", 7, None, "Exit code 7", ""), "Exit 7"),
        (("Aborted", None, 9, "Ended by signal 9 (SIGKILL)", ""), "Ended by signal 9 (SIGKILL)"),
        (("Aborted", None, 9, "Ended by signal 9 (SIGKILL)", "half done"), "SIGKILL · half done"),
        (("Aborted", None, 9, "The agent was killed by signal 9", ""), "The agent was killed by signal 9"),
        (("Aborted", None, 15, "", ""), "SIGTERM"),
        (("Aborted", None, None, "No site\nfits", ""), "No site fits"),
        (("Aborted", None, None, "Its time was over", "step 3"), "Its time was over · step 3"),
        (("Done", 0, None, "", "a warning"), ""),
        (("Canceled", 3, None, "", "stopped"), ""),
        (("Running", 3, None, "", "earlier"), ""),
    ],
)
def test_one_line_says_why_a_job_failed(row: tuple[str, int | None, int | None, str, str], line: str) -> None:
    assert failure_line(*row) == line


@pytest.mark.parametrize(
    ("row", "end"),
    [
        (("Running", 7, 9, ""), (None, None)),
        (("Waiting", 7, None, "Given up at far"), (None, None)),
        (("Done", 0, 9, "Exit code 0"), (0, None)),
        (("Cleared", 7, None, ""), (7, None)),
        (("Aborted", 0, 9, "Killed by signal 9 (SIGKILL)"), (None, 9)),
        (("Aborted", 7, 9, "No resource is left"), (None, None)),
        (("Aborted", 7, None, ""), (None, None)),
        (("Canceled", 7, 15, "Canceled by its owner"), (None, None)),
    ],
)
def test_what_an_earlier_attempt_left_is_not_the_end(
    row: tuple[str, int | None, int | None, str], end: tuple[int | None, int | None]
) -> None:
    assert ended_by(*row) == end
    names = ("state", "exit_code", "signal", "reason")
    columns = {name: [value] for name, value in zip(names, row, strict=True)}
    code, number = end
    assert parse("exit:≠77").select(columns, [0], 0.0) == ([0] if code is not None else [])
    assert parse("signal:>0").select(columns, [0], 0.0) == ([0] if number is not None else [])
    shown = "" if end == (None, None) else f"signal {number}" if number else str(code)
    assert exit_code_or_signal(dict(zip(names, row, strict=True))) == shown
