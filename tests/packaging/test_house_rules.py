"""Rules that keep the sources habitable, checked over all of them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from statistics import median

import pytest

from tests.packaging.sources import ROOT, python_files

pytestmark = pytest.mark.tools

_NO_NAMES = {"utils", "helpers", "misc", "manager", "common"}
_UNFINISHED = re.compile(r"\b(?:TODO|FIXME|XXX|NotImplementedError)\b")


def test_the_median_file_is_near_100_lines() -> None:
    lengths = [len((ROOT / path).read_text().splitlines()) for path in _code() if path.name != "__init__.py"]
    assert 40 < median(lengths) < 160


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert [path for path in _code() if path.stem in _NO_NAMES or path.parent.name in _NO_NAMES] == []


def test_nothing_is_left_unfinished() -> None:
    found = [
        path for path in python_files("app", "broker_core") if _UNFINISHED.search((ROOT / path).read_text())
    ]
    assert found == []


def test_no_test_is_expected_to_fail_or_skipped() -> None:
    mark = re.compile(r"pytest\.(?:mark\.)?(?:skip\b|xfail|importorskip|skipif)")
    assert [
        path for path in python_files("tests") if path != _me() and mark.search((ROOT / path).read_text())
    ] == []


def _me() -> Path:
    return Path(__file__).resolve().relative_to(ROOT)


def test_no_test_module_is_imported_by_another() -> None:
    """What tests share stands in a module of its own."""
    imported = re.compile(r"(?m)^\s*(?:from|import) tests\.(?:\w+\.)*test_\w+")
    assert [path for path in python_files("tests") if imported.search((ROOT / path).read_text())] == []


def test_every_folder_of_tests_is_a_package() -> None:
    folders = {path.parent for path in python_files("tests")}
    assert [folder for folder in folders if not (ROOT / folder / "__init__.py").is_file()] == []


def test_the_wheel_lists_every_package() -> None:
    listed = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"])
    there = {".".join(path.parent.parts) for path in python_files("app", "broker_core")}
    assert listed == there | {"crossdesk_resources"}


def test_the_version_stands_in_one_place() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert "version" not in project
    assert "version" in project["dynamic"]


def test_the_lock_files_name_no_index_and_check_every_file() -> None:
    for name in ("requirements.lock", "requirements-dev.lock"):
        text = (ROOT / "packaging" / name).read_text()
        assert "://" not in text
        assert "--index" not in text
        assert "--find-links" not in text
        pinned = re.findall(r"(?m)^[a-z0-9][\w.-]*==.*$", text)
        assert pinned
        assert all(line.endswith("\\") for line in pinned), "each is followed by its hashes"


def test_every_dependency_is_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for name, wanted in (
        ("requirements.lock", project["dependencies"]),
        ("requirements-dev.lock", project["dependencies"] + project["optional-dependencies"]["dev"]),
    ):
        locked = set(re.findall(r"(?m)^([a-z0-9][\w.-]*)==", (ROOT / "packaging" / name).read_text()))
        names = {re.match(r"[\w.-]+", one)[0].lower().replace("_", "-") for one in wanted}
        assert names - locked == set()


def test_every_dependency_has_its_reason_in_the_architecture_page() -> None:
    page = (ROOT / "broker_core" / "ARCHITECTURE.md").read_text()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = {re.match(r"[\w.-]+", one)[0] for one in project["dependencies"]}
    assert [name for name in names if name not in page] == []


def test_the_licence_is_shipped_whole() -> None:
    text = (ROOT / "LICENSE").read_text()
    assert "Apache License" in text
    assert "END OF TERMS AND CONDITIONS" in text


def test_every_link_of_the_readme_leads_to_a_file() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", (ROOT / "README.md").read_text())
    assert links
    assert [link for link in links if not (ROOT / link).is_file()] == []


def _code() -> list[Path]:
    return python_files("app", "broker_core", "tests", "packaging")
