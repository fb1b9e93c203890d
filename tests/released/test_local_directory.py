"""The local site's directory of every released version is taken over: each attempt ends once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from broker_core.jobs.placement import Component
from tests.released.trees import unpack
from tests.released.versions import RELEASED, ids
from tests.sites.running_site import RunningSite


@pytest.mark.parametrize("version", RELEASED, ids=ids)
async def test_each_attempt_of_a_released_directory_goes_on(version: Path, tmp_path: Path) -> None:
    tags = json.loads((version / "local_tags.json").read_text())
    (tmp_path / "local").mkdir()
    unpack(version / "local.json", tmp_path / "local", {"@ROOT@": str(tmp_path)})
    attempts = {name: Component(*_parts(tag)) for name, tag in tags.items()}
    site = RunningSite(tmp_path / "local")
    try:
        await site.start([(attempt, None) for attempt in attempts.values()])
        ends = {name: await site.ended(attempt) for name, attempt in attempts.items()}
        assert {name: (one.exit_code, one.failure) for name, one in ends.items()} == {
            "ended": (7, ""),
            "canceled": (None, "killed"),
            "runs": (None, "lost"),  # it does not survive the machine on which it was recorded
            "ending": (None, "killed"),
            "waits": (5, ""),
        }
        assert {name for name, attempt in attempts.items() if len(site.ends(attempt)) != 1} == set()
        texts = {name: site.text(attempt) for name, attempt in attempts.items()}
        assert texts == {
            "ended": "whole\n",
            "canceled": "",
            "runs": "begun\n",
            "ending": "",
            "waits": "at last\n",
        }
        assert set(attempts.values()) == set(site.site.kept())
    finally:
        await site.close()


def _parts(tag: str) -> tuple[str, int]:
    job, _, number = tag.rpartition(".")
    return job, int(number)
