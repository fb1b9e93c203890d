"""What an agent says to the broker, and says again when it changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.errors import BadRequest
from broker_core.interactive.sessions.agent_report import read_word
from broker_core.worker.agent_settings import CONTACT, leave_contact

FIRST = {"key": "ssh-ed25519 AAAA", "fingerprint": "SHA256:x", "node": "n1"}


def test_the_last_whole_line_holds(tmp_path: Path) -> None:
    leave_contact(tmp_path, FIRST)
    assert read_word(tmp_path / CONTACT).story == "The agent's key is SHA256:x."
    leave_contact(tmp_path, FIRST | {"trouble": "relay:1 does not answer."})
    troubled = read_word(tmp_path / CONTACT)
    assert troubled.story.endswith("It reaches no place to meet a desk: relay:1 does not answer.")
    leave_contact(tmp_path, FIRST | {"trouble": ""})
    with (tmp_path / CONTACT).open("a") as file:
        file.write('{"key": "half')
    assert read_word(tmp_path / CONTACT).trouble == ""


def test_what_is_brought_piece_by_piece_is_understood(tmp_path: Path) -> None:
    """As from a site far away: only what is new is brought."""
    leave_contact(tmp_path, FIRST | {"trouble": "x" * 300})
    here = tmp_path / "here"
    here.write_bytes((tmp_path / CONTACT).read_bytes())
    leave_contact(tmp_path, FIRST)
    with here.open("ab") as file:
        file.write((tmp_path / CONTACT).read_bytes()[here.stat().st_size :])
    assert read_word(here).trouble == ""


def test_hundreds_of_words_are_as_good_as_one(tmp_path: Path) -> None:
    for number in range(300):
        leave_contact(tmp_path, FIRST | {"trouble": f"number {number}"})
    assert read_word(tmp_path / CONTACT).trouble == "number 299"


@pytest.mark.parametrize("text", ["", "nothing\n", "[]\n", '{"key": 1}\n'])
def test_anything_else_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / CONTACT).write_text(text)
    with pytest.raises(BadRequest, match="cannot be read"):
        read_word(tmp_path / CONTACT)
