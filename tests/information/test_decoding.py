"""What servers may send: entries come out as they were encoded, and nonsense is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.information.ldap.decode import Done, Malformed, read_answer
from tests.information.ldif_entries import ENTRY, element, entry


def receiver(data: bytes, step: int) -> Callable[[int], bytes]:
    """Gives the bytes in pieces, as a connection does."""
    pieces = iter(data[place : place + step] for place in range(0, len(data), step))
    return lambda _: next(pieces, b"")


def done(code: int) -> bytes:
    body = element(0x65, element(10, bytes([code])), element(4, b""), element(4, b"told"))
    return element(0x30, element(2, b"\x07"), body)


ENTRIES = st.lists(
    st.tuples(
        st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=300),
        st.dictionaries(
            st.text("abcXYZ019-", min_size=1, max_size=8).map(str.encode),
            st.lists(st.binary(max_size=200), max_size=4, unique=True),
            max_size=5,
        ),
    ),
    max_size=4,
)


@given(entries=ENTRIES, code=st.sampled_from([0, 4, 32]), step=st.integers(1, 400))
def test_entries_come_out_as_they_were_encoded(
    entries: list[tuple[str, ENTRY]], code: int, step: int
) -> None:
    data = b"".join(entry(*one) for one in entries) + done(code)
    *found, last = read_answer(receiver(data, step))
    assert last == Done(code, "told")
    assert found == [(name.encode(), attributes) for name, attributes in entries]


def drained(found: Iterable[object]) -> int:
    return sum(1 for _ in found)


@given(data=st.binary(max_size=600), step=st.integers(1, 100))
def test_nonsense_is_refused_and_never_an_accident(data: bytes, step: int) -> None:
    with pytest.raises(Malformed):
        drained(read_answer(receiver(data, step)))


@given(at=st.integers(0, 200), value=st.integers(0, 255), step=st.integers(1, 100))
def test_a_damaged_answer_is_refused_or_read_but_never_an_accident(at: int, value: int, step: int) -> None:
    data = bytearray(entry("GlueCEUniqueID=x,o=grid", {b"GlueCEName": [b"a", b"b" * 150]}) + done(0))
    data[at % len(data)] = value
    try:
        found = drained(read_answer(receiver(bytes(data), step)))
    except Malformed:
        return
    assert found <= 3


def test_a_message_that_claims_to_be_gigantic_is_refused_before_it_is_read() -> None:
    with pytest.raises(Malformed, match="4,294,967,295"):
        drained(read_answer(receiver(bytes.fromhex("3084ffffffff"), 6)))
