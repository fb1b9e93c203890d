"""Which computing elements have which files near to them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from broker_core.resources.closeness import Replica, close_files, near, storage_of
from broker_core.resources.columns import Columns


def columns(*rows: tuple[str, dict[str, object]]) -> Columns:
    made = Columns()
    for ce, values in rows:
        made.put(ce, "site", values)
    return made


THREE = columns(
    ("ce1", {"gluecesebindgroupseuniqueid": ["se1.example.org", "se2.example.org"]}),
    ("ce2", {"glueceinfodefaultse": "SE2.example.org"}),
    ("ce3", {"gluecesebindseuniqueid": "se3.example.org"}),
    ("ce4", {}),
)


def test_a_file_counts_once_at_each_element_that_is_close_to_a_copy() -> None:
    files = [
        Replica("lfn:/a", (("se1.example.org", "gsiftp"), ("se2.example.org", "gsiftp"))),
        Replica("lfn:/b", (("se2.example.org", ""),)),
        Replica("lfn:/c", (("se9.example.org", ""),)),
    ]
    assert close_files(files, THREE) == {"ce1": 2, "ce2": 2}


def test_copies_that_the_program_cannot_read_do_not_count() -> None:
    files = [
        Replica("lfn:/a", (("se1.example.org", "rfio"),)),
        Replica("lfn:/b", (("se1.example.org", "gsiftp"),)),
        Replica("lfn:/c", (("se1.example.org", "srm"),)),
    ]
    assert close_files(files, THREE) == {"ce1": 3}
    assert close_files(files, THREE, ["gridftp"]) == {"ce1": 2}
    assert close_files(files, THREE, ["rfio", "gsiftp"]) == {"ce1": 3}
    assert close_files(files, THREE, ["https"]) == {"ce1": 1}


def test_elements_near_to_the_output_are_told_whatever_the_case() -> None:
    assert near("Se2.Example.org", THREE, 4).tolist() == [True, True, False, False]
    assert not near("elsewhere", THREE, 4).any()


@given(
    rows=st.lists(st.lists(st.integers(0, 9), max_size=3), min_size=1, max_size=12),
    files=st.lists(st.lists(st.integers(0, 9), max_size=3), max_size=150),
)
def test_counting_by_distinct_values_equals_counting_one_by_one(
    rows: list[list[int]], files: list[list[int]]
) -> None:
    names = ("gluecesebindgroupseuniqueid", "glueceinfodefaultse")
    values = [
        {names[0]: [f"se{one}" for one in row[1:]], **({names[1]: f"se{row[0]}"} if row else {})}
        for row in rows
    ]
    replicas = [
        Replica(f"lfn:{place}", tuple((f"se{one}", "") for one in file)) for place, file in enumerate(files)
    ]
    expected = {}
    for place, value in enumerate(values):
        count = sum(bool(one.storage() & storage_of(value)) for one in replicas)
        if count:
            expected[f"ce{place}"] = count
    made = columns(*((f"ce{place}", dict(value)) for place, value in enumerate(values)))
    assert close_files(replicas, made) == expected
