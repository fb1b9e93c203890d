"""The tables of the settings for sources and the replica catalogue."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from broker_core.errors import BadRequest
from broker_core.information.configuration import ReplicaSettings, replicas, sources
from broker_core.information.kinds import make
from broker_core.information.updater import SourceSettings


def parsed(text: str) -> Any:
    return tomllib.loads(text)["sources"]


def test_a_source_needs_a_name_and_a_kind_and_gets_the_defaults() -> None:
    text = """
    [[sources]]
    name = "grid"
    kind = "ldap"
    address = "ldap://bdii.example.org:2170"

    [sources.options]
    levels = 1

    [[sources]]
    name = "mine"
    kind = "file"
    path = "~/sites.toml"
    interval = 10

    [[sources]]
    name = "monitor"
    kind = "rgma"
    """
    assert sources(parsed(text), "broker.toml") == (
        SourceSettings("grid", "ldap", "ldap://bdii.example.org:2170", 120.0, 60.0, options={"levels": 1}),
        SourceSettings("mine", "file", "~/sites.toml", 10.0, 10.0),
        SourceSettings("monitor", "rgma", "", enabled=False),
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('sources = "grid"', "tables"),
        ("sources = [1]", "no table"),
        ('[[sources]]\nkind = "ldap"', "name"),
        ('[[sources]]\nname = "local"\nkind = "file"', "name"),
        ('[[sources]]\nname = "a b"\nkind = "file"', "name"),
        ('[[sources]]\nname = "a"', "kind"),
        ('[[sources]]\nname = "a"\nkind = 1', "text"),
        ('[[sources]]\nname = "a"\nkind = "file"\ninterval = 0', "interval"),
        ('[[sources]]\nname = "a"\nkind = "file"\ndeadline = true', "deadline"),
        ('[[sources]]\nname = "a"\nkind = "file"\ninterval = nan', "interval"),
        ('[[sources]]\nname = "a"\nkind = "file"\nenabled = "yes"', "enabled"),
        ('[[sources]]\nname = "a"\nkind = "file"\ncolour = 1', "colour"),
        ('[[sources]]\nname = "a"\nkind = "file"\npath = "x"\naddress = "y"', "path"),
        ('[[sources]]\nname = "a"\nkind = "file"\noptions = 1', "options"),
        ('[[sources]]\nname = "a"\nkind = "file"\n[[sources]]\nname = "a"\nkind = "file"', "twice"),
    ],
)
def test_wrong_sources_are_refused_with_place_and_remedy(text: str, words: str) -> None:
    with pytest.raises(BadRequest, match=words) as refused:
        sources(parsed(text), "broker.toml")
    assert refused.value.place == "broker.toml"
    assert refused.value.remedy


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (SourceSettings("a", "ldap", "http://x"), "address"),
        (SourceSettings("a", "ldap", "ldap://x", options={"levels": 3}), "levels"),
        (SourceSettings("a", "ldap", "ldap://x", options={"schemas": ["1.2"]}), "schema"),
        (SourceSettings("a", "ldap", "ldap://x", options={"schemas": []}), "schemas"),
        (SourceSettings("a", "ldap", "ldap://x", options={"patience": 0}), "patience"),
        (SourceSettings("a", "ldap", "ldap://x", options={"colour": 0}), "colour"),
        (SourceSettings("a", "file", "sites.xml"), "format"),
    ],
)
def test_options_that_a_kind_cannot_take_are_refused(settings: SourceSettings, words: str) -> None:
    with pytest.raises(BadRequest, match=words) as refused:
        make(settings)
    assert refused.value.place == "sources.a"
    assert refused.value.remedy


def test_the_replica_catalogue_is_the_embedded_one_unless_told_otherwise() -> None:
    assert replicas({}, "broker.toml") == ReplicaSettings()
    told = {"kind": "http", "address": "https://files.example.org", "deadline": 3}
    assert replicas(told, "broker.toml") == ReplicaSettings("http", "https://files.example.org", 3.0)


@pytest.mark.parametrize(
    ("table", "words"),
    [({"kind": "rls"}, "kind"), ({"kind": "http"}, "address"), ({"colour": 1}, "colour"), (7, "table")],
)
def test_wrong_catalogues_are_refused(table: object, words: str) -> None:
    with pytest.raises(BadRequest, match=words) as refused:
        replicas(table, "broker.toml")
    assert refused.value.place == "broker.toml"
