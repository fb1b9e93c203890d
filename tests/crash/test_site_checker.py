"""The judge of sites itself: what a broker keeps there is accounted for, and nothing else is."""

from __future__ import annotations

from pathlib import Path

from broker_core.sites.left_files import LeftAtSite, LeftFile, written
from broker_core.wire.sites import SiteSpec
from tests.crash.site_checker import Bed, faults_at, kept_by


def test_kept_directories_are_accounted_for_and_orphans_are_found(tmp_path: Path) -> None:
    spec = SiteSpec(
        name="far", kind="shell", directory=str(tmp_path / "there"), environment={"HOME": str(tmp_path)}
    )
    for tag in ("kept.1", "orphan.1", "over.1"):
        (tmp_path / "there" / "m1" / "attempts" / tag).mkdir(parents=True)
    group = tmp_path / "there" / "m1" / "groups"
    for name, tags in (("aone", "kept.1\ngone.1\n"), ("atwo", "gone.1\n")):
        (group / name).mkdir(parents=True)
        (group / name / "list").write_text(tags)
    here = tmp_path / "here"
    (here / "left").mkdir(parents=True)
    left = LeftAtSite((LeftFile("a", 1),))
    for tag in ("kept.1", "lost.1"):
        (here / "left" / tag).write_bytes(written(left))
    (here / "left" / "over.1").write_bytes(written(LeftAtSite()))
    assert kept_by(here) == {"kept.1", "lost.1"}
    assert set(faults_at(Bed(spec), "m1", 0, kept_by(here))) == {
        "far: attempts/orphan.1 stays",
        "far: attempts/over.1 stays",
        "far: attempts/lost.1 is kept by the broker's word, and gone",
        "far: groups/atwo stays",
    }
