"""Shell text that this machine is asked in: its answer, and its end where it gives none."""

from __future__ import annotations

from pathlib import Path

from broker_core.sites.local_shell import printed_here
from tests.waiting import eventually


async def test_its_words_are_its_arguments_and_its_errors_are_no_answer() -> None:
    text = 'printf "%s|" "$@"; echo trouble >&2; cat'
    assert await printed_here(text, "a b", "", seconds=60) == "a b||"


async def test_what_does_not_end_in_time_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    text = 'sleep 600 & echo $! >"$1"; echo begun; wait'
    assert await printed_here(text, str(tmp_path / "pid"), seconds=1.0) == ""
    child = Path("/proc") / (tmp_path / "pid").read_text().strip() / "cmdline"
    await eventually(lambda: not child.exists() or not child.read_bytes())
