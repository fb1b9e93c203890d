"""What a change makes of the tags and the note of a job."""

from __future__ import annotations

import pytest

from broker_core.errors import BadRequest
from broker_core.jdl.user_tags import MOST
from broker_core.jobs.annotations import LONGEST_NOTE, Annotation, change_of, counted_tags


def test_tags_come_and_go_whatever_their_case_and_the_first_spelling_stays() -> None:
    before = Annotation(("Calib", "pilot"), "as it was")
    after = before.changed(change_of(["calib", "new"], ["PILOT"]))
    assert after == Annotation(("Calib", "new"), "as it was")
    assert after.text == "Calib new"
    assert after.changed(change_of(note="")).note == ""


def test_more_tags_than_a_job_bears_and_notes_that_are_too_long_are_refused() -> None:
    full = Annotation().changed(change_of([f"t{number}" for number in range(MOST)]))
    with pytest.raises(BadRequest, match="at most 16"):
        full.changed(change_of(["one-more"]))
    assert len(full.changed(change_of(["one-more"], ["t3"])).tags) == MOST
    with pytest.raises(BadRequest, match="4,098 bytes"):
        change_of(note="é" * (LONGEST_NOTE // 2 + 1))
    assert change_of(note=" é\r\nb\0 ").note == "é\nb"


def test_tags_of_many_jobs_are_counted_without_regard_to_case() -> None:
    assert counted_tags(["b Calib", "calib", "", "Calib a"]) == [("a", 1), ("b", 1), ("Calib", 3)]
