"""Batch scripts and notebooks are submitted as they are, and it is said what became of their lines."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.main import get_group

from broker_core.client.programs import batch_scripts
from broker_core.client.programs.describe import describe, how_it_runs
from broker_core.client.programs.file_kind import ItemKind, classify
from broker_core.client.programs.path_facts import facts_of
from broker_core.command_line.program import application
from broker_core.jdl import batch_options
from tests.command_line.calling import crossdesk
from tests.running import RunningBroker

ARRAY = """#!/bin/sh
#SBATCH --job-name=sweep
#SBATCH --array=2-6:2%2
#SBATCH -t 5 -o %x-%A_%a.out
#SBATCH --mail-user=me@example.org
cd "$SLURM_SUBMIT_DIR"
cat values.txt
echo "$SLURM_ARRAY_TASK_ID of $SLURM_ARRAY_TASK_COUNT, ${SLURM_JOB_ID:+numbered}"
"""
NODES = """#!/bin/sh
#PBS -N nodes
#PBS -j oe
cd "$PBS_O_WORKDIR"
test "$(pwd)" = "$PBS_O_WORKDIR" && wc -l <"$PBS_NODEFILE"
echo "trouble" >&2
"""


def test_an_array_for_slurm_runs_on_this_machine(running_broker: RunningBroker, tmp_path: Path) -> None:
    script = tmp_path / "sweep.sbatch"
    script.write_text(ARRAY)
    (tmp_path / "values.txt").write_text("values\n")
    done = crossdesk("job", "submit", str(script), "--wait")
    assert done.code == 0, done.err
    assert "Batch script for Slurm" in done.err
    assert "No mail is sent" in done.err
    assert "values.txt" not in done.err  # what carried over needs no word
    logs = [crossdesk("job", "log", job).out for job in done.out.split()]
    assert logs == [f"values\n{number} of 3, numbered\n" for number in (2, 4, 6)]


def test_a_script_for_pbs_finds_its_folder_and_its_node_file(
    running_broker: RunningBroker, tmp_path: Path
) -> None:
    script = tmp_path / "nodes.pbs"
    script.write_text(NODES)
    done = crossdesk("job", "submit", str(script), "--wait")
    assert done.code == 0, done.err
    assert crossdesk("job", "log", done.out.strip()).out.split() == ["1", "trouble"]


def test_what_is_not_possible_is_refused_unless_it_is_forced(
    running_broker: RunningBroker, tmp_path: Path
) -> None:
    script = tmp_path / "second.sbatch"
    script.write_text("#!/bin/sh\n#SBATCH --dependency=afterok:7\necho second\n")
    refused = crossdesk("job", "submit", str(script))
    assert refused.code == 1
    assert "Line 2: --dependency=afterok:7 is not possible." in refused.err
    assert "--force" in refused.err
    assert not crossdesk("job", "list", "--json").json["jobs"]
    forced = crossdesk("job", "submit", str(script), "--force", "--wait")
    assert crossdesk("job", "log", forced.out.strip()).out == "second\n"


def test_a_script_is_translated_with_a_table_of_its_lines(tmp_path: Path) -> None:
    script = tmp_path / "sweep.sbatch"
    script.write_text(ARRAY)
    shown = crossdesk("jdl", "from", str(script))
    assert shown.code == 0
    assert "Parameters = 7;\nParameterStart = 2;\nParameterStep = 2;\n" in shown.out
    assert "--array=2-6:2%2" in shown.err
    assert "sweep.sbatch, a script for Slurm: 5 carried over, 1 left out." in shown.err
    kept = crossdesk("jdl", "from", str(script), "-o", str(tmp_path / "sweep.jdl"))
    assert kept.out == ""
    assert crossdesk("jdl", "check", str(tmp_path / "sweep.jdl")).code == 0
    value = crossdesk("jdl", "from", str(script), "--json").json
    assert value["dialect"] == "slurm"
    assert {"line": 5, "fate": "left out"}.items() <= value["lines"][-1].items()


def test_what_is_no_batch_script_is_said_to_be_none(tmp_path: Path) -> None:
    plain = tmp_path / "plain.sh"
    plain.write_text("#!/bin/sh\ntrue\n")
    refused = crossdesk("jdl", "from", str(plain))
    assert refused.code == 1
    assert "plain.sh is no batch script: it has no lines for a batch system." in refused.err


def test_a_notebook_is_run_by_jupyter_and_its_result_has_a_name_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "my fit.ipynb"
    path.write_text('{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}')
    item = classify(facts_of(path))
    assert item.kind is ItemKind.NOTEBOOK
    assert how_it_runs(item).endswith("which the site must have; the result is my fit-executed.ipynb.")
    text = describe(item)
    assert 'Executable = "jupyter";' in text
    assert "--execute" in text
    assert "'--output=my fit-executed.ipynb' 'my fit.ipynb'" in text


_READ = [*Path(batch_scripts.__file__).parent.glob("*.py"), Path(batch_options.__file__)]


@pytest.mark.parametrize("source", _READ, ids=lambda path: path.stem)
def test_what_a_line_is_answered_with_can_be_done(source: Path) -> None:
    text = source.read_text()
    nouns = get_group(application()).commands
    for noun, verb in re.findall(r"`crossdesk ([a-z]+) ?([a-z-]*)", text):
        assert verb in getattr(nouns.get(noun), "commands", {}), f"crossdesk {noun} {verb}"
    assert "DAG" not in text, "graphs are not run"
