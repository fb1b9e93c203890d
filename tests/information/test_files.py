"""Resources out of files: LDIF as directories write it, TOML as people do."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from broker_core.errors import BadRequest
from broker_core.information.resource_file import read
from broker_core.information.updater import SourceSettings
from tests.information.asking import Grid, by_name, ldap, running, view
from tests.testbed.glue_tree import made_sites, record, tree
from tests.waiting import eventually

pytestmark = pytest.mark.expected_log("The source \\w+ fails")

CE = "ce.example.org:8443/cream-pbs-long"


def written(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


async def test_an_ldif_file_says_the_same_as_the_server_that_it_was_dumped_from(
    tmp_path: Path, grid: Grid
) -> None:
    few = {site: ces[:2] for site, ces in grid.sites.items()}
    path = written(tmp_path / "grid.ldif", "\n\n".join(tree(few)))
    answer = read(path)
    asked = by_name(await ldap(grid.site_server, levels=1).fetch())
    assert answer.refused == 0, answer.remarks
    assert len(answer.facts) == 80
    for one in answer.facts:
        assert one.attributes == {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in asked[one.ce].attributes.items()
        }
        assert one.site == asked[one.ce].site


def test_one_wrong_record_of_an_ldif_file_does_not_spoil_the_others(tmp_path: Path) -> None:
    good = "\n\n".join(tree(made_sites(2, 1), vocabularies=["1.3"]))
    bad = [
        "version: 1",
        "# only a comment",
        "GlueCEUniqueID: it has no name",
        "dn: GlueCEUniqueID=x,o=grid\nno colon here",
        "dn: GlueCEUniqueID=y,o=grid\nchangetype: delete",
        record("GlueCEUniqueID=z,o=grid", "GlueCE", {"GlueCEUniqueID": b"\xff\xfe", "GlueCEName": "z"}),
    ]
    answer = read(written(tmp_path / "grid.ldif", "\n\n".join([*bad, good]) + "\n"))
    assert len(answer.facts) == 2
    told = "\n".join(answer.remarks)
    assert "line 5: record refused" in told
    assert "line 7: record refused" in told
    assert "it is a change" in told
    assert "is not UTF-8" in told
    assert answer.refused == 5  # the nameless element is refused as a whole besides


@pytest.mark.parametrize(
    ("published", "words"),
    [
        ("GlueCEInfoTotalCPUs: many", "not a number"),
        ("GlueCEInfoTotalCPUs: -4", "negative"),
        ("GlueCEInfoTotalCPUs: nan", "not a number"),
        ("GlueCEInfoTotalCPUs: 1e99", "too large"),
        ("GlueCEInfoTotalCPUs: 1_000", "not a number"),
        ("GlueHostNetworkAdapterOutboundIP: perhaps", "neither TRUE nor FALSE"),
        ("GlueCEInfoLRMSType:: 6Q==", "not UTF-8"),
        ("GlueCEInfoLRMSType: " + "x" * 5000, "5,000 bytes"),
        ("GlueSiteLatitude: 91", "no place"),
        ("\n".join(["GlueCEInfoContactString: x"] * 10_001), "10,001 values"),
        ("\n".join(["GlueCEInfoContactString: " + "x" * 1000] * 501), "501,000 bytes"),
    ],
)
def test_a_value_that_cannot_be_is_refused_and_named(tmp_path: Path, published: str, words: str) -> None:
    text = f"dn: GlueCEUniqueID={CE},o=grid\nGlueCEUniqueID: {CE}\nGlueCEName: long\n{published}\n"
    answer = read(written(tmp_path / "one.ldif", text))
    assert answer.facts[0].attributes == {"GlueCEUniqueID": CE, "GlueCEName": "long"}
    (remark,) = answer.remarks
    assert remark.startswith(f"{CE}: {published.partition(':')[0]} refused")
    assert words in remark


@pytest.mark.parametrize(
    ("published", "name", "value"),
    [
        ("GlueCEInfoTotalCPUs:  12 ", "GlueCEInfoTotalCPUs", 12),
        ("GlueHostProcessorLoadLast1Min: 0.25", "GlueHostProcessorLoadLast1Min", 0.25),
        ("GlueCEPolicyPriority: -5", "GlueCEPolicyPriority", -5),
        ("gluehostnetworkadapteroutboundip: True", "GlueHostNetworkAdapterOutboundIP", True),
        ("GlueCEAccessControlBaseRule: VO:one", "GlueCEAccessControlBaseRule", ["VO:one"]),
        ("GlueCEInfoLRMSType:: c2zDqQ==", "GlueCEInfoLRMSType", "slé"),
    ],
)
def test_values_get_the_types_of_the_tables(tmp_path: Path, published: str, name: str, value: object) -> None:
    text = f"dn: GlueCEUniqueID={CE},o=grid\nGlueCEUniqueID: {CE}\n{published}\n"
    answer = read(written(tmp_path / "one.ldif", text))
    assert answer.facts[0].attributes[name] == value
    assert type(answer.facts[0].attributes[name]) is type(value)
    assert answer.refused == 0


def test_a_share_of_the_newer_vocabulary_is_named_as_it_says_or_by_its_parts(tmp_path: Path) -> None:
    def share(name: str, **more: object) -> str:
        values = {"GLUE2ShareID": name, "GLUE2ComputingShareServingState": "production"}
        queue = {"GLUE2ComputingShareMappingQueue": "long", "GLUE2ShareServiceForeignKey": "service"}
        return record(f"GLUE2ShareID={name},o=glue", "GLUE2ComputingShare", values | queue | more)

    entries = [
        share("said", GLUE2EntityOtherInfo=["Other=1", f"CREAMCEId={CE}"]),
        share("made", GLUE2ComputingShareMappingQueue="short"),
        record(
            "GLUE2EndpointID=e,o=glue",
            "GLUE2ComputingEndpoint",
            {
                "GLUE2EndpointID": "e",
                "GLUE2EndpointURL": "https://ce2.example.org:8443/ce-cream/services",
                "GLUE2EndpointInterfaceName": "org.glite.ce.CREAM",
                "GLUE2EndpointServiceForeignKey": "service",
            },
        ),
        record(
            "GLUE2ManagerID=m,o=glue",
            "GLUE2ComputingManager",
            {
                "GLUE2ManagerID": "m",
                "GLUE2ManagerProductName": "PBS",
                "GLUE2ManagerServiceForeignKey": "service",
            },
        ),
        record(
            "GLUE2ApplicationEnvironmentID=a,o=glue",
            "GLUE2ApplicationEnvironment",
            {
                "GLUE2ApplicationEnvironmentAppName": "OPENMPI",
                "GLUE2ApplicationEnvironmentComputingManagerForeignKey": "m",
            },
        ),
        record(
            "GLUE2PolicyID=p,o=glue",
            "GLUE2MappingPolicy",
            {"GLUE2PolicyRule": ["VO:a", "VO:b"], "GLUE2MappingPolicyShareForeignKey": "said"},
        ),
        record(
            "GLUE2ToStorageServiceID=t,o=glue",
            "GLUE2ToStorageService",
            {
                "GLUE2ToStorageServiceComputingServiceForeignKey": "service",
                "GLUE2ToStorageServiceStorageServiceForeignKey": "se.example.org",
            },
        ),
    ]
    met = by_name(read(written(tmp_path / "one.ldif", "\n\n".join(entries))))
    assert met.keys() == {CE, "ce2.example.org:8443/cream-pbs-short"}
    assert met[CE].attributes["GLUE2PolicyRule"] == ["VO:a", "VO:b"]
    assert met[CE].attributes["GLUE2ApplicationEnvironmentAppName"] == ["OPENMPI"]
    assert met[CE].attributes["GlueCESEBindGroupSEUniqueID"] == ["se.example.org"]
    assert met[CE].site == "example.org"


def test_toml_resources_share_defaults_and_keep_their_own_attributes(tmp_path: Path) -> None:
    text = f"""
    [defaults]
    GlueHostOperatingSystemName = "Debian"
    gluehostnetworkadapteroutboundip = true

    [[resources]]
    ce = "{CE}"
    site = "example"
    GlueCEInfoTotalCPUs = 64
    GlueCEInfoGatekeeperPort = 8443
    GlueHostApplicationSoftwareRunTimeEnvironment = ["MPICH"]
    MyOwn = 1.5

    [[resources]]
    ce = "two.example.net:2119/jobmanager-sge-all"
    GlueHostOperatingSystemName = "Other"
    GlueCEStateFreeCPUs = -1
    Odd = {{ a = 1 }}

    [[resources]]
    site = "nameless"
    """
    answer = read(written(tmp_path / "two.toml", text))
    one, two = answer.facts
    assert (one.site, two.site) == ("example", "example.net")
    assert one.attributes == {
        "GlueCEUniqueID": CE,
        "GlueHostOperatingSystemName": "Debian",
        "GlueHostNetworkAdapterOutboundIP": True,
        "GlueCEInfoTotalCPUs": 64,
        "GlueCEInfoGatekeeperPort": "8443",
        "GlueHostApplicationSoftwareRunTimeEnvironment": ["MPICH"],
        "MyOwn": 1.5,
    }
    assert two.attributes["GlueHostOperatingSystemName"] == "Other"
    assert answer.refused == 3


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.toml", "resources = 1", "names no resources"),
        ("a.toml", "= 1", "cannot be read"),
        ("a.json", "{}", "format"),
        ("missing.ldif", None, "no such file"),
        ("garbage.ldif", "\x80\x81: no\ntext\n", "no entry that can be read .line 1: record refused: a name"),
        ("garbage.ldif", "text\n", "not of the form name: value"),
    ],
)
def test_what_is_no_file_of_resources_is_refused_with_its_name(
    tmp_path: Path, name: str, text: str | None, words: str
) -> None:
    path = tmp_path / name
    if text is not None:
        written(path, text)
    with pytest.raises(BadRequest, match=words) as refused:
        read(path)
    assert refused.value.place == str(path)
    assert refused.value.remedy


async def test_a_file_is_read_again_as_soon_as_it_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("broker_core.information.file_updater.LOOK", 0.02)
    path = written(tmp_path / "grid.toml", f'[[resources]]\nce = "{CE}"\n')
    async with running(SourceSettings("file", "file", str(path), interval=3600.0)) as (updaters, heard):
        await eventually(lambda: len(heard.messages) == 1)
        await updaters.refresh()
        assert heard.messages[1].facts is heard.messages[0].facts, "nothing has changed"
        fresh = written(tmp_path / "fresh", f'[[resources]]\nce = "{CE}"\nGlueCEInfoTotalCPUs = 8\n')
        fresh.replace(path)
        await eventually(lambda: len(heard.messages) == 3)
        assert heard.messages[2].facts[0].attributes["GlueCEInfoTotalCPUs"] == 8
        os.unlink(path)
        await eventually(lambda: view(updaters, "file").state == "failed")
        assert str(path) in view(updaters, "file").reason
        assert len(heard.messages) == 3


def test_storage_elements_of_a_toml_file_are_told_with_their_types(tmp_path: Path) -> None:
    text = f"""
    [[resources]]
    ce = "{CE}"

    [[storage]]
    se = "se.example.org"
    gluesastateavailablespace = 7
    GlueSEStatus = 3

    [[storage]]
    GlueSEStatus = "Production"
    """
    answer = read(written(tmp_path / "one.toml", text))
    assert answer.storage == {"se.example.org": {"GlueSAStateAvailableSpace": 7, "GlueSEStatus": "3"}}
    assert answer.remarks == ("storage 2: refused: it has no se",)
