"""Names of compared jobs, and what is said of their files."""

from __future__ import annotations

from app.inspector.compare.compared_job import ComparedJob, titles
from app.inspector.compare.facts import facts, version_words
from tests.app.inspector.recorded import row


def test_jobs_of_one_name_are_told_apart_by_value_or_id() -> None:
    jobs = [ComparedJob("abcdefgh", row("Done", parameter="0.1")), ComparedJob("bcdefghi", row("Done"))]
    assert titles(jobs) == ["train-network · 0.1", "train-network"]
    same = [ComparedJob("abcdefgh", row("Done")), ComparedJob("bcdefghi", row("Done"))]
    assert titles(same) == ["train-network · abcdef", "train-network · bcdefg"]


def test_files_of_one_size_and_other_content_are_numbered() -> None:
    assert version_words([5, 5, None], ["a", "b", None]) == ("5 B, version 1", "5 B, version 2", "–")
    assert version_words([5, 7], ["a", "b"]) == ("5 B", "7 B")
    assert version_words([5, 5], ["a", "a"]) == ("5 B", "5 B")


def test_a_job_of_which_nothing_is_known_has_a_dash_in_every_row() -> None:
    found = facts([ComparedJob("a", row("Done", exit_code=0)), ComparedJob("b", {}, problem="gone")])
    assert found
    assert all(one.values[1] == "–" for one in found)


def test_the_last_error_is_a_fact_where_a_broker_tells_it() -> None:
    told = row("Done", exit_code=1, error_line="ValueError: no data")
    found = facts([ComparedJob("a", told), ComparedJob("b", row("Done", exit_code=0))])
    assert next(one.values for one in found if one.name == "Last error") == ("ValueError: no data", "–")
