"""Of what news in its claims a glidein is woken."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from broker_core.worker.warm_agent import ClaimWatch


@pytest.fixture
def own(tmp_path: Path) -> Path:
    for name in ("claims", "taken", "past"):
        (tmp_path / name).mkdir()
    return tmp_path


def write(own: Path, claim: str, line: str) -> None:
    """As the broker does, at a moment of its own."""
    part = own / "claims" / f".{claim}"
    part.write_text(f"{line}\n")
    part.rename(own / "claims" / claim)
    moment = (own / "claims").stat().st_mtime_ns + 1
    os.utime(own / "claims", ns=(moment, moment))


def test_a_claim_that_begins_at_once_is_news_and_one_in_line_is_not(own: Path) -> None:
    watch = ClaimWatch(own)
    assert not watch.has_news()
    write(own, "first", "tag 0 run")
    assert watch.has_news()
    assert not watch.has_news()
    write(own, "second", "tag 0 run first")
    write(own, "third", "tag 0 run second")
    assert not watch.has_news()
    write(own, "job", "tag 0 run")
    write(own, "fourth", "tag 0 run third")
    assert watch.has_news()


@pytest.mark.parametrize("over", ["taken/first/exit", "past/first"])
def test_one_behind_a_claim_that_is_over_is_news(own: Path, over: str) -> None:
    watch = ClaimWatch(own)
    (own / over).mkdir(parents=True)
    write(own, "second", "tag 0 run first")
    assert watch.has_news()


@pytest.mark.parametrize("wanted", ["tag 0 back first", "tag 0 end first", "tag 0 stop"])
def test_what_is_wanted_anew_of_a_claim_is_news(own: Path, wanted: str) -> None:
    watch = ClaimWatch(own)
    write(own, "second", "tag 0 run first")
    assert not watch.has_news()
    write(own, "second", wanted)
    assert watch.has_news()


def test_claims_that_are_put_away_are_no_news(own: Path) -> None:
    watch = ClaimWatch(own)
    write(own, "first", "tag 0 run")
    assert watch.has_news()
    (own / "claims" / "first").unlink()
    assert not watch.has_news()
