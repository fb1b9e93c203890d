"""How `crossdesk slots` tells of glideins and their slots."""

from __future__ import annotations

import pytest

from broker_core.command_line.invocation import begin
from broker_core.command_line.sites import slots as command
from broker_core.wire.slots import SlotsView, SlotView
from tests.app.slots.made_up import four


def test_each_glidein_is_a_line_with_both_slots(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "220")
    begin([])

    def told(_: object) -> SlotsView:
        return four()

    monkeypatch.setattr(command, "with_client", told)
    assert command.slots() == 0
    said = capsys.readouterr()
    head, queued, busy, shared, idle = said.out.rstrip("\n").split("\n")
    assert head.split()[:3] == ["SITE", "NODE", "STATE"]
    assert "not there yet" in queued
    assert "fit-2, nice 0, 100% of the CPU" in busy
    assert "fit-3, nice 10, 10% of the CPU" in shared
    assert "shell, nice 0, 90% of the CPU" in shared
    assert "3 m" in idle
    assert "41 jobs ran in them" in said.err


def test_a_slot_in_words() -> None:
    ending = SlotView(role="slot1", state="Claimed", taken=True, step="Ending", priority=None)
    assert command.slot_words(ending) == "a job of another user, ending"
    assert command.slot_words(SlotView(role="slot1", state="Reserved")) == "kept for its job"
    running = SlotView(role="slot1", state="Claimed", taken=True, step="Running", name="fit", line=3)
    assert command.slot_words(running) == "fit, 3 in line"
