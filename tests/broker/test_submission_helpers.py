"""Helpers of installed packages turn one submitted item into several (CB-UAM-05)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from broker_core.broker.submission.expansion import GROUP, helped, installed
from broker_core.errors import BadRequest
from broker_core.wire.submission import SubmissionItem
from tests.broker.made_package import add_package
from tests.matching.made import job

_MODULE = """
def seasons(item, description):
    if description.ad.get("seasons") is None:
        return None
    return [item.model_copy(update={"name": name}) for name in ("spring", "autumn")]

def wrong(item, description):
    return {} if description.name == "odd" else 1 / 0 if description.name == "fails" else None
"""
_POINTS = (
    f"[{GROUP}]\nbroken = helpers_made:nothing\nseasons = helpers_made:seasons\nwrong = helpers_made:wrong\n"
)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An installed package with helpers, one of which does not load."""
    add_package(tmp_path, "helpers_made", _MODULE, _POINTS)
    monkeypatch.syspath_prepend(str(tmp_path))
    installed.cache_clear()
    yield
    installed.cache_clear()


@pytest.mark.expected_log("The submission helper broken cannot be loaded")
@pytest.mark.usefixtures("package")
def test_the_first_helper_that_takes_an_item_expands_it() -> None:
    assert [name for name, _ in installed()] == ["seasons", "wrong"]
    item = SubmissionItem(description='Executable = "/bin/true"; Seasons = 2;')
    made = helped(item, job("Seasons = 2;"))
    assert made is not None
    assert [(one.name, one.description) for one in made] == [
        ("spring", item.description),
        ("autumn", item.description),
    ]
    assert helped(item, job()) is None


@pytest.mark.expected_log("The submission helper")
@pytest.mark.usefixtures("package")
@pytest.mark.parametrize(("name", "why"), [("odd", "no list of items"), ("fails", "ZeroDivisionError")])
def test_a_helper_that_fails_refuses_the_submission_by_its_name(name: str, why: str) -> None:
    with pytest.raises(BadRequest) as refused:
        helped(SubmissionItem(description="x"), job(f'JobName = "{name}";'))
    assert (refused.value.code, refused.value.place) == ("helper_failed", "wrong")
    assert why in refused.value.message


def test_without_packages_there_is_no_helper() -> None:
    installed.cache_clear()
    assert installed() == ()
