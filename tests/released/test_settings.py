"""Settings and site specifications of every released version are read (reliability case 23)."""

from __future__ import annotations

import tomllib
from dataclasses import asdict
from pathlib import Path

import pytest

from broker_core.broker.site_management.site_specs import SiteSpecs
from broker_core.settings.settings import load
from broker_core.wire.sites import SITE_KINDS, SiteSpec
from tests.released.trees import unpack
from tests.released.versions import RELEASED, ids


@pytest.mark.parametrize("version", RELEASED, ids=ids)
def test_every_setting_of_a_released_file_is_taken(version: Path) -> None:
    path = version / "broker.toml"
    written = tomllib.loads(path.read_text(encoding="utf-8"))
    settings = load([path])
    assert {name for name, origin in settings.origins.items() if origin == str(path)} == set(written)
    for name in set(written) - {"sources", "replicas"}:
        value = getattr(settings, name)
        assert (list(value) if isinstance(value, tuple) else value) == written[name], name
    assert [(one.name, one.kind, one.enabled) for one in settings.sources] == [
        ("grid", "ldap", False),
        ("mine", "file", True),
    ]
    assert settings.sources[0].options == {"schemas": ["1.3", "2.0"]}
    assert asdict(settings.replicas) == written["replicas"] | {
        "deadline": 20.0,
        "options": {},
        "described": (),
    }


@pytest.mark.parametrize("version", RELEASED, ids=ids)
def test_every_site_that_a_released_broker_kept_is_there_with_its_mark(version: Path, tmp_path: Path) -> None:
    unpack(version / "sites.json", tmp_path, {})
    before = {path: path.read_bytes() for path in tmp_path.glob("*/*")}
    sites = SiteSpecs(tmp_path)
    found = {spec.kind: spec for spec in sites.all()}
    assert set(found) == set(SITE_KINDS) - {"local"}
    slurm, plain = found["slurm"].model_dump(), SiteSpec(name="x", kind="slurm").model_dump()
    later = {"cluster", "list_interval", "outside", "reachable"}  # settings that version 0.1.0 had not
    usual = [name for name in slurm if slurm[name] == plain[name] and name not in later]
    assert usual == ["kind", "url", "proxy", "trust"]
    assert {sites.mark(spec.name) for spec in found.values()} == {
        path.read_text() for path in tmp_path.glob("*/.mark")
    }
    assert {path: path.read_bytes() for path in tmp_path.glob("*/*")} == before
