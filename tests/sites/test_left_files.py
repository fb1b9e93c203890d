"""What jobs leave at sites, on paper: read from lists that anybody may have written, and bound in all."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from broker_core.sites.left_files import MOST_NAMES, LeftAtSite, LeftFile, read_written, shortened, written
from broker_core.sites.remote.stage_out import read_left

_DAY = 86_400.0
NAMES = st.text(st.characters(exclude_characters="\0"), min_size=1, max_size=9)
FILES = st.builds(LeftFile, NAMES, st.integers(0, 100))
LEFT = st.builds(
    LeftAtSite,
    st.lists(FILES, max_size=3).map(tuple),
    st.integers(0, 3),
    st.integers(0, 50),
    st.floats(0, 1e6),
    st.none() | st.floats(0, 1e6),
)


@given(LEFT)
def test_what_is_written_down_is_read_again(left: LeftAtSite) -> None:
    assert read_written(written(left)) == left


@given(st.binary(max_size=40))
def test_a_damaged_record_is_none(cut: bytes) -> None:
    whole = written(LeftAtSite((LeftFile("a", 1),)))
    assert read_written(whole[: len(cut)]) is None
    assert read_written(cut) is None


@given(st.lists(st.binary(max_size=30) | st.sampled_from([b"stay 1 ./a", b"stay 2 ./../b", b"stayed 5 x"])))
def test_a_list_that_a_job_wrote_names_nothing_outside(lines: list[bytes]) -> None:
    left = read_left(b"\n".join(lines))
    assert all(".." not in one.path.split("/") and not one.path.startswith("/") for one in left.files)


def test_no_more_names_are_taken_than_a_starter_lists() -> None:
    raw = b"".join(b"stay 1 ./%d\n" % number for number in range(10 * MOST_NAMES))
    assert len(read_left(raw).files) == MOST_NAMES


def test_a_number_that_no_disk_holds_is_none() -> None:
    assert read_left(b"stay " + b"9" * 5000 + b" ./a\nstayed 1 " + b"9" * 5000 + b"\n") == LeftAtSite()


@given(st.dictionaries(st.sampled_from("abcdefgh"), LEFT), st.integers(1, 500))
def test_the_oldest_go_until_the_rest_fits_and_none_within_a_day(
    kept: dict[str, LeftAtSite], most: int
) -> None:
    now = 5e5
    found = shortened(kept, most, now)
    assert all(left == replace(kept[tag], goes=now + _DAY) for tag, left in found.items())
    after = kept | found
    staying = [left for left in after.values() if left.goes is None or left.goes > now + _DAY]
    assert sum(left.size for left in staying) <= most
    assert all(left.since <= other.since for left in found.values() for other in staying)


def test_without_a_limit_nothing_goes_sooner() -> None:
    assert shortened({"a": LeftAtSite((LeftFile("a", 10**15),))}, 0, 0.0) == {}
