"""Synthetic sites as their user writes them down."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.errors import BadRequest
from broker_core.simulation.sites_file import read_sites
from tests.simulation.made import replayed, workload

GOOD = """
[[sites]]
name = "ifca"
cpus = 20
submission_delay = 30
poll_delay = 2.5
speed = 1.5
attributes = { GlueHostMainMemoryRAMSize = 4096 }

[[sites]]
name = "lip"
cpus = 8
"""


def test_sites_are_read_with_their_delays_and_attributes(tmp_path: Path) -> None:
    ifca, lip = read_sites(_file(tmp_path, GOOD))
    assert (ifca.name, ifca.cpus, ifca.submission_delay, ifca.poll_delay, ifca.speed) == (
        "ifca",
        20,
        30,
        2.5,
        1.5,
    )
    assert ifca.attributes == {"GlueHostMainMemoryRAMSize": 4096}
    assert (lip.speed, lip.submission_delay) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no sites"),
        ("sites = 3", "no sites"),
        ("[[sites]", "cannot be read"),
        ("sites = [3]", "no table"),
        ('[[sites]]\nname = "a"', "cpus of the site is missing"),
        ("[[sites]]\ncpus = 2", "name of the site is missing"),
        ('[[sites]]\nname = "a"\ncpus = 0', "cpus = 0 is out of range"),
        ('[[sites]]\nname = "a"\ncpus = true', "whole number"),
        ('[[sites]]\nname = "a"\ncpus = 2.5', "whole number"),
        ("[[sites]]\nname = 5\ncpus = 2", "not a text"),
        ('[[sites]]\nname = "a"\ncpus = 2\nspeed = 0', "speed = 0 is out of range"),
        ('[[sites]]\nname = "a"\ncpus = 2\npoll_delay = -1', "out of range"),
        ('[[sites]]\nname = "a"\ncpus = 2\nspeed = nan', "out of range"),
        ('[[sites]]\nname = "a"\ncpus = 2\nattributes = 3', "not a table"),
        ('[[sites]]\nname = "a"\ncpus = 2\ncpu = 2', "A site has no 'cpu'"),
        ('[[sites]]\nname = "a"\ncpus = 2\n[[sites]]\nname = "a"\ncpus = 2', "Two sites are called a"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(BadRequest) as caught:
        read_sites(_file(tmp_path, text))
    assert told in caught.value.message
    assert "sites.toml" in caught.value.place
    assert caught.value.remedy


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="cannot be read"):
        read_sites(tmp_path / "sites.toml")


def _file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "sites.toml"
    path.write_text(text)
    return path


LDIF = """
dn: GlueCEUniqueID=ce.lip.pt:2119/jobmanager-pbs-long,mds-vo-name=lip,o=grid
objectClass: GlueCE
GlueCEUniqueID: ce.lip.pt:2119/jobmanager-pbs-long
GlueCEInfoTotalCPUs: 24
GlueCEStateFreeCPUs: 3
GlueCEStateStatus: Production

dn: GlueCEUniqueID=ce.empty.pt:2119/jobmanager-pbs-long,mds-vo-name=lip,o=grid
objectClass: GlueCE
GlueCEUniqueID: ce.empty.pt:2119/jobmanager-pbs-long
GlueCEInfoTotalCPUs: 0
"""


def test_sites_come_from_what_an_information_system_published(tmp_path: Path) -> None:
    path = tmp_path / "grid.ldif"
    path.write_text(LDIF.lstrip())
    (site,) = read_sites(path)
    assert (site.ce, site.cpus) == ("ce.lip.pt:2119/jobmanager-pbs-long", 24)
    outcome = replayed(workload(1, jobs=30), (site,))
    assert outcome.summary().finished == 30


def test_an_ldif_file_without_cpus_is_told(tmp_path: Path) -> None:
    path = tmp_path / "grid.ldif"
    path.write_text("dn: o=grid\nobjectClass: organization\no: grid\n")
    with pytest.raises(BadRequest, match="no computing element"):
        read_sites(path)
