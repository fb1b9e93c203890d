"""HTCondor through its bindings: what the contract of all batch systems does not ask."""

from __future__ import annotations

import inspect
from pathlib import Path

import htcondor2
import pytest

from broker_core.sites.adapter import AttemptStatus
from broker_core.sites.batch import condor_bindings
from broker_core.sites.batch.commands import MISSING
from broker_core.sites.batch.condor import Condor
from broker_core.sites.batch.condor_bindings import CondorBindings
from broker_core.sites.batch.systems import system_for
from broker_core.wire.sites import SiteSpec
from tests.sites.batch.beds import Bed, gone
from tests.testbed.simulated import condor_bindings as stand_in


@pytest.mark.parametrize(
    ("simulated", "real", "names"),
    [
        (stand_in.Schedd, htcondor2.Schedd, ("__init__", "submit", "query", "act", "history")),
        (stand_in.Collector, htcondor2.Collector, ("__init__", "query")),
    ],
    ids=["schedd", "collector"],
)
def test_the_stand_in_is_called_like_the_bindings(
    simulated: type, real: type, names: tuple[str, ...]
) -> None:
    for name in names:
        assert _parameters(simulated, name) == _parameters(real, name), name


def _parameters(owner: type, name: str) -> list[tuple[str, object, object]]:
    signature = inspect.signature(getattr(owner, name))
    return [(one.name, one.kind, one.default) for one in signature.parameters.values()]


@pytest.mark.parametrize("bed", ["simulated-condor-bindings"], indirect=True)
def test_a_job_that_was_removed_tells_why(bed: Bed) -> None:
    id = bed.submit("m1.a.1", bed.script("a", "true"))
    bed.cancel(id)
    gone(bed, "m1.a.1", id)
    job = bed.listed("m1.")[id]
    assert job.seen is AttemptStatus.ENDED
    assert job.reason.startswith("ended by HTCondor: Python-initiated action")


@pytest.mark.parametrize("bed", ["simulated-condor-bindings"], indirect=True)
def test_options_are_lines_of_the_description_and_cannot_multiply_the_job(bed: Bed) -> None:
    id = bed.submit("m1.a.1", bed.script("a", "true"), options=("accounting_group = physics", "queue 3"))
    assert list(bed.listed("m1.")) == [id]


def test_without_a_schedd_the_words_of_the_bindings_are_told(tmp_path: Path) -> None:
    bed = Bed(CondorBindings(), "default", {"CONDOR_CONFIG": "ONLY_ENV"}, tmp_path)
    for command in (bed.system.detect(), bed.system.status("m1."), bed.system.queues()):
        done = bed.ask(command)
        assert (done.returncode, done.stdout) == (1, "")
        assert "Unable to" in done.stderr


def test_without_the_bindings_it_is_as_if_the_commands_were_missing(tmp_path: Path) -> None:
    (tmp_path / "htcondor2.py").write_text("raise ImportError\n")
    bed = Bed(CondorBindings(), "default", {"PYTHONPATH": str(tmp_path)}, tmp_path)
    done = bed.ask(bed.system.detect())
    assert done.returncode == MISSING
    assert "not installed" in done.stderr


@pytest.mark.parametrize(
    ("host", "installed", "way"),
    [("", True, CondorBindings), ("", False, Condor), ("access.example.org", True, Condor)],
)
def test_the_bindings_are_taken_where_they_are_and_the_schedd_is_reached_from_here(
    monkeypatch: pytest.MonkeyPatch, host: str, installed: bool, way: type
) -> None:
    assert condor_bindings.installed()
    monkeypatch.setattr("broker_core.sites.batch.systems.installed", lambda: installed)
    assert type(system_for(SiteSpec(name="pool", kind="condor", host=host))) is way
