"""The LDAP updater against OpenLDAP with the GLUE schemas."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.information.updater import SourceFailed
from broker_core.resources.record import Resource
from broker_core.resources.values import values
from tests.information.asking import Grid, by_name, ldap
from tests.testbed.glue_tree import made_sites, record, tree
from tests.testbed.openldap import Slapd
from tests.testbed.ports import free_port


async def test_thousands_of_elements_arrive_with_both_vocabularies_in_one_record(grid: Grid) -> None:
    answer = await ldap(grid.index).fetch()
    facts = by_name(answer)
    assert facts.keys() == grid.elements.keys()
    assert (answer.complete, answer.silent, answer.refused) == (True, (), 0)
    for ce, made in list(grid.elements.items())[::97]:
        met = facts[ce].attributes
        assert met["GlueCEStateFreeCPUs"] == met["GLUE2ComputingShareFreeSlots"] == made.cpus - made.busy
        assert met["GlueCEInfoTotalCPUs"] == met["GLUE2ComputingManagerTotalSlots"] == made.cpus
        assert met["GLUE2ComputingShareMaxWallTime"] == 60 * met["GlueCEPolicyMaxWallClockTime"]
        assert facts[ce].site == made.site.upper()


async def test_cluster_hosts_site_and_storage_are_joined_with_their_types(grid: Grid) -> None:
    made = grid.sites["site003"][0]
    met = by_name(await ldap(grid.site_server, levels=1).fetch())[made.ce].attributes
    assert met["GlueClusterUniqueID"] == made.host
    assert met["GlueHostMainMemoryRAMSize"] == 2048 * (1 + made.number % 8)
    assert met["GlueHostNetworkAdapterOutboundIP"] is True
    assert met["GlueHostNetworkAdapterInboundIP"] is False
    assert "OPENMPI" in met["GlueHostApplicationSoftwareRunTimeEnvironment"]
    assert met["GlueCESEBindGroupSEUniqueID"] == ("se.site003.example.org", "se.central.example.org")
    assert met["GlueCESEBindSEUniqueID"] == "se.site003.example.org"
    assert (met["GlueSiteLatitude"], met["GlueSiteLongitude"]) == (38.0, -6.5)
    assert met["GlueSiteCountry"] == "Germany"
    assert met["GlueCEAccessControlBaseRule"] == ("VO:testvo", f"VO:vo{made.number % 10}")
    assert met["GLUE2ExecutionEnvironmentOSName"] == "Debian"
    assert met["GLUE2ManagerProductName"] == "slurm"
    assert not any("ForeignKey" in name or "ChunkKey" in name for name in met)


async def test_storage_elements_are_told_with_their_roomiest_area_and_their_protocols(grid: Grid) -> None:
    answer = await ldap(grid.index).fetch()
    assert len(answer.storage) == len(grid.sites)
    assert answer.storage["se.site003.example.org"] == {
        "GlueSEUniqueID": "se.site003.example.org",
        "GlueSEStatus": "Production",
        "GlueSALocalID": "large",
        "GlueSAStateAvailableSpace": 3_000_000,
        "GlueSEAccessProtocolType": ["gsiftp"],
    }


@pytest.mark.parametrize("schema", ["1.3", "2.0"])
async def test_one_vocabulary_alone_answers_for_both(grid: Grid, schema: str) -> None:
    facts = by_name(await ldap(grid.index, schemas=[schema]).fetch())
    assert facts.keys() == grid.elements.keys()
    made = grid.sites["site011"][1]
    one = facts[made.ce]
    met = values(Resource(one.ce, one.site, made.cpus, 0, 0, 0, 0.0, dict(one.attributes)))
    assert met["gluecename"] == met["glue2computingsharemappingqueue"] == "main"
    assert met["glueceinfolrmstype"] == met["glue2managerproductname"] == "slurm"
    assert met["gluehostmainmemoryramsize"] == met["glue2executionenvironmentmainmemorysize"]


async def test_what_never_changes_is_told_from_what_does(grid: Grid) -> None:
    facts = (await ldap(grid.site_server, levels=1).fetch()).facts[0]
    changing = facts.attributes.keys() - facts.static
    assert {"GlueCEStateFreeCPUs", "GLUE2ComputingShareFreeSlots", "GlueCEStateStatus"} <= changing
    assert not changing & {"GlueCEInfoTotalCPUs", "GlueSiteName", "GLUE2ComputingShareMaxWallTime"}


async def test_each_site_is_asked_directly_so_that_newer_figures_win(
    tmp_path: Path, slapds: list[Slapd]
) -> None:
    sites = made_sites(12, 3)
    server = Slapd(tmp_path / "sites", tree(sites))
    slapds.append(server)
    services = dict.fromkeys(sites, server.start())
    index = Slapd(tmp_path / "index", tree(sites, top="local", services=services))
    slapds.append(index)
    made = sites["site001"][0]
    server.modify(
        f"dn: GlueCEUniqueID={made.ce},Mds-Vo-name=site001,o=grid\n"
        "changetype: modify\nreplace: GlueCEStateFreeCPUs\nGlueCEStateFreeCPUs: 1\n"
    )
    facts = by_name(await ldap(index.start()).fetch())
    assert len(facts) == 12
    assert facts[made.ce].attributes["GlueCEStateFreeCPUs"] == 1


async def test_a_silent_site_affects_its_own_elements_only(tmp_path: Path, slapds: list[Slapd]) -> None:
    sites = made_sites(12, 3)
    server = Slapd(tmp_path / "sites", tree(sites))
    slapds.append(server)
    services = dict.fromkeys(sites, server.start())
    services["site002"] = f"ldap://127.0.0.1:{free_port()}"
    index = Slapd(tmp_path / "index", tree(sites, top="local", services=services))
    slapds.append(index)
    answer = await ldap(index.start()).fetch()
    heard = {one.site for one in answer.facts}
    assert heard == {"SITE000", "SITE001"}
    assert answer.silent == ("SITE002",)
    assert answer.complete
    assert "refused" in answer.remarks[0]


async def test_elements_that_only_the_index_knows_come_from_the_index(
    tmp_path: Path, slapds: list[Slapd]
) -> None:
    sites = made_sites(12, 3)
    server = Slapd(tmp_path / "sites", tree(sites))
    slapds.append(server)
    services = {"site000": server.start()}
    index = Slapd(tmp_path / "index", tree(sites, top="local", services=services))
    slapds.append(index)
    answer = await ldap(index.start()).fetch()
    assert len(answer.facts) == 12
    assert len(by_name(answer)) == 12
    assert answer.refused == 0


async def test_wrong_values_are_refused_one_by_one_and_named(tmp_path: Path, slapds: list[Slapd]) -> None:
    def element(part: str, name: str, **values: object) -> str:
        dn = f"GlueCEUniqueID={name},Mds-Vo-name={part},o=grid"
        classes = "GlueCETop GlueCE GlueCEInfo GlueCEState GlueSchemaVersion"
        version = {"GlueSchemaVersionMajor": 1, "GlueSchemaVersionMinor": 3}
        return record(dn, classes, {"GlueCEUniqueID": name} | values | version)

    ce = [f"ce{number}.example.org:2119/jobmanager-pbs-q" for number in range(4)]
    parts = [record(f"Mds-Vo-name={part},o=grid", "MDS", {"Mds-Vo-name": part}) for part in ("x", "y")]
    entries = [
        element("x", ce[0], GlueCEInfoTotalCPUs=10, GlueCEStateFreeCPUs=11),
        element("x", ce[1], GlueCEInfoTotalCPUs=-4, GlueCEStateFreeCPUs=3),
        element("x", ce[2], GlueCEInfoTotalCPUs=99999999999999999999),
        element("y", ce[0], GlueCEInfoTotalCPUs=7),
        element("y", "no-element", GlueCEInfoTotalCPUs=7),
        element("y", ce[3], GlueCEInfoTotalCPUs=8, GlueCEStateFreeCPUs=8),
    ]
    server = Slapd(tmp_path / "lying", [*parts, *entries])
    slapds.append(server)
    answer = await ldap(server.start(), levels=1).fetch()
    met = {name: one.attributes for name, one in by_name(answer).items()}
    assert met.keys() == {*ce}
    assert met[ce[0]]["GlueCEInfoTotalCPUs"] == 10
    assert "GlueCEStateFreeCPUs" not in met[ce[0]]
    assert "GlueCEInfoTotalCPUs" not in met[ce[1]] | met[ce[2]]
    assert met[ce[3]]["GlueCEStateFreeCPUs"] == 8
    assert sorted(remark.split(": ")[1] for remark in answer.remarks) == [
        "GlueCEInfoTotalCPUs refused",
        "GlueCEInfoTotalCPUs refused",
        "GlueCEStateFreeCPUs refused",
        "entry refused",
        "entry refused",
    ]
    assert answer.refused == 5


async def test_an_encrypted_server_is_believed_only_with_its_authority(
    tmp_path: Path, slapds: list[Slapd]
) -> None:
    server = Slapd(tmp_path / "encrypted", tree(made_sites(2, 1)), encrypted=True)
    slapds.append(server)
    address = server.start()
    assert len((await ldap(address, ca_file=str(server.authority)).fetch()).facts) == 2
    with pytest.raises(SourceFailed, match="certificate"):
        await ldap(address).fetch()


async def test_an_index_that_refuses_is_an_error_with_its_address() -> None:
    address = f"ldap://127.0.0.1:{free_port()}"
    with pytest.raises(SourceFailed) as failed:
        await ldap(address).fetch()
    assert failed.value.place == address
    assert "refused" in failed.value.message
    assert failed.value.remedy
