# ruff: noqa: E501 - one script a line reads best as a table
"""Scripts as the manuals of clusters show them become descriptions, and every line is accounted for."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from broker_core.client.programs.batch_scripts.translation import Fate, Translation
from broker_core.client.programs.describe import translation
from broker_core.client.programs.file_kind import ItemKind, classify
from broker_core.client.programs.path_facts import facts_of
from broker_core.jdl.check import check
from broker_core.jdl.parametric import values

CORPUS = Path(__file__).parent / "scripts"
SCRIPTS = sorted(path for path in CORPUS.rglob("*") if path.is_file())
_DIRECTIVE = re.compile(r"#SBATCH|#PBS|#BSUB|#\$[ \t]*-")


def _translated(path: Path) -> Translation:
    item = classify(facts_of(path))
    assert item.kind is ItemKind.BATCH_SCRIPT, path
    return translation(item)


def _written(tmp_path: Path, text: str, name: str = "job.sbatch") -> Translation:
    path = tmp_path / name
    path.write_text(text)
    return _translated(path)


def _fates(found: Translation) -> dict[str, Fate]:
    return {one.option: one.fate for one in found.outcomes}


def test_the_corpus_has_scripts_of_five_systems() -> None:
    assert len(SCRIPTS) == 60
    assert {path.parent.name for path in SCRIPTS} == {"slurm", "pbs", "sge", "lsf", "condor"}


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_every_line_is_accounted_for(path: Path) -> None:
    found = _translated(path)
    lines = path.read_text().splitlines()
    counted = {one.line for one in found.outcomes}
    if path.parent.name == "condor":
        # A continued line belongs to the one that it continues.
        wanted = {
            number
            for number, line in enumerate(lines, 1)
            if line.strip() and not line.startswith((" ", "#", ")"))
        }
    else:
        wanted = {number for number, line in enumerate(lines, 1) if _DIRECTIVE.match(line)}
    assert wanted <= counted
    for one in found.outcomes:
        assert one.became if one.fate in (Fate.ATTRIBUTE, Fate.REQUIREMENT, Fate.SYSTEM_ONLY) else one.why, (
            one
        )


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_what_comes_out_is_a_description_without_errors(path: Path) -> None:
    found = _translated(path)
    checked = check(found.description)
    assert not checked.errors, [one.message for one in checked.errors]
    again = check(found.description).description
    assert again is not None
    assert again.name == found.attributes["JobName"]


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_every_script_can_be_carried_by_its_own_system(path: Path) -> None:
    found = check(_translated(path).description).description
    assert found is not None
    assert found.request.unsupported(path.parent.name) == []
    kind = path.parent.name
    assert found.request.carried_by(kind).words(kind) == found.request.words(kind)


EXPECTED: dict[str, dict[str, Any]] = {
    "slurm/hello.sbatch": {"JobName": "hello", "StdOutput": "hello.out", "StdError": "hello.out", "WallTime": "00:05:00"},
    "slurm/short-options.sh": {"JobName": "mini", "QueueName": "short", "NodeNumber": 4, "StdError": "mini.err"},
    "slurm/mpi-two-nodes.slurm": {"NodeNumber": 96, "HostNumber": 2, "MemoryPerCPU": 2000, "Account": "chem01", "QOS": "normal"},
    "slurm/gpu-a100.sbatch": {"GPUNumber": 4, "GPUModel": "a100", "NodeNumber": 32, "MemoryPerNode": 245760, "WallTime": "24:00:00"},
    "slurm/gpus-per-node.sbatch": {"GPUNumber": 2, "GPUModel": "h100", "NodeNumber": 32, "HostNumber": 2, "WallTime": "01:30:00"},
    "slurm/gpus-total.sbatch": {"GPUNumber": 2, "NodeNumber": 12, "MemoryPerNode": 81920},
    "slurm/gpus-per-task.sbatch": {"GPUNumber": 4, "NodeNumber": 8, "HostNumber": 1},
    "slurm/array-simple.sbatch": {"Parameters": 10, "JobType": "Parametric", "StdOutput": "part__PARAM_.log"},
    "slurm/array-step-limit.sbatch": {"Parameters": 100, "ParameterStart": 1, "ParameterStep": 7, "MaxRunningJobs": 5},
    "slurm/array-list.sbatch": {"Parameters": [1, 3, 5, 10, 11, 12], "MemoryPerNode": 500},
    "slurm/array-one.sbatch": {"Parameters": 8, "ParameterStart": 7},
    "slurm/features.sbatch": {"Features": ["skylake", "ib"], "WholeNodes": True, "HostNumber": 4, "ScratchSize": 20480},
    "slurm/license.sbatch": {"Licenses": ["matlab:1", "comsol"], "WallTime": "04:30:00", "Reservation": "course_12"},
    "slurm/all-memory.sbatch": {"WholeNodes": True},
    "slurm/repeated.sbatch": {"WallTime": "02:00:00", "MemoryPerCPU": 1024, "NodeNumber": 4},
    "pbs/serial.pbs": {"JobName": "serial", "WallTime": "01:00:00", "MemoryPerNode": 2048, "StdError": "std.out"},
    "pbs/select-mpi.pbs": {"NodeNumber": 128, "HostNumber": 4, "MemoryPerNode": 65536, "WholeNodes": True, "QueueName": "workq"},
    "pbs/torque-nodes.pbs": {"NodeNumber": 16, "HostNumber": 2, "WallTime": "03:00:00", "QueueName": "batch"},
    "pbs/torque-gpu.pbs": {"GPUNumber": 2, "NodeNumber": 4, "Features": ["fermi"], "MemoryPerCPU": 2000},
    "pbs/gadi-style.pbs": {"NodeNumber": 24, "GPUNumber": 2, "MemoryPerNode": 194560, "ScratchSize": 102400},
    "pbs/array-pro.pbs": {"Parameters": 21, "ParameterStart": 1, "ParameterStep": 2, "StdOutput": "out._PARAM_"},
    "pbs/array-torque.pbs": {"Parameters": 16},
    "pbs/hybrid.pbs": {"NodeNumber": 32, "HostNumber": 2, "WallTime": "00:30:00", "Executable": "/bin/bash"},
    "pbs/gpu-model.pbs": {"GPUNumber": 1, "GPUModel": "v100", "NodeNumber": 8, "MemoryPerNode": 65536, "QOS": "high"},
    "sge/serial.sge": {"WallTime": "00:30:00", "MemoryPerCPU": 2048, "StdError": "std.out"},
    "sge/smp.sge": {"NodeNumber": 8, "HostNumber": 1, "MemoryPerCPU": 1500, "WallTime": "12:00:00"},
    "sge/mpi-range.sge": {"NodeNumber": 16, "HostNumber": 0, "QueueName": "all.q", "Account": "climate"},
    "sge/array.sge": {"Parameters": 51, "ParameterStep": 5, "StdOutput": "out._PARAM_", "StdError": "err._PARAM_"},
    "sge/gpu.sge": {"GPUNumber": 2, "GPUModel": "p100", "ScratchSize": 15360, "WholeNodes": True},
    "sge/late.sge": {"WallTime": "01:00:00", "JobName": "late"},
    "lsf/serial.lsf": {"JobName": "serial", "QueueName": "normal", "WallTime": "02:30:00", "StdOutput": "out"},
    "lsf/one-host.lsf": {"NodeNumber": 16, "HostNumber": 1, "MemoryPerNode": 32000, "Account": "bio"},
    "lsf/ptile.lsf": {"NodeNumber": 64, "HostNumber": 4, "MemoryPerNode": 16000, "WholeNodes": True},
    "lsf/array.lsf": {"JobName": "sweep", "Parameters": 101, "ParameterStep": 3, "WallTime": "00:30:00"},
    "lsf/gpu.lsf": {"GPUNumber": 2, "GPUModel": "A100", "NodeNumber": 8},
    "condor/simple.sub": {"Executable": "work.sh", "Arguments": "one two", "MemoryPerNode": 2048, "ScratchSize": 4096},
    "condor/sweep.sub": {"Arguments": "--seed _PARAM_ --name 'a b'", "StdOutput": "out._PARAM_", "Parameters": 25},
    "condor/items.sub": {"Arguments": "fit.py _PARAM_", "Parameters": ["red", "green", "blue"]},
    "condor/gpu.sub": {"GPUNumber": 2, "NodeNumber": 8, "Account": "physics.train"},
    "condor/macros.sub": {"Executable": "run.sh", "Parameters": 4, "WallTime": "02:00:00"},
}  # fmt: skip


@pytest.mark.parametrize("name", EXPECTED)
def test_a_script_becomes_these_attributes(name: str) -> None:
    found = _translated(CORPUS / name).attributes
    assert {key: found.get(key) for key in EXPECTED[name]} == EXPECTED[name]


def test_an_array_has_the_numbers_that_its_system_would_give_it() -> None:
    ad = check(_translated(CORPUS / "slurm/array-step-limit.sbatch").description).description
    assert ad is not None
    assert values(ad.ad) == [str(number) for number in range(1, 100, 7)]


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("slurm/array-simple.sbatch", "SLURM_ARRAY_TASK_ID=_PARAM_"),
        ("slurm/array-simple.sbatch", "SLURM_ARRAY_TASK_COUNT=10"),
        ("slurm/short-options.sh", "SLURM_CPUS_PER_TASK=4"),
        ("slurm/mpi-two-nodes.slurm", "SLURM_NTASKS=96"),
        ("slurm/mpi-two-nodes.slurm", "SLURM_TASKS_PER_NODE=48(x2)"),
        ("slurm/mpi-two-nodes.slurm", "SLURM_MEM_PER_CPU=2000"),
        ("slurm/mpi-two-nodes.slurm", "SLURM_JOB_ACCOUNT=chem01"),
        ("slurm/short-options.sh", "SLURM_JOB_PARTITION=short"),
        ("slurm/gpu-a100.sbatch", "SLURM_GPUS_ON_NODE=4"),
        ("slurm/gpu-a100.sbatch", "SLURM_MEM_PER_NODE=245760"),
        ("pbs/select-mpi.pbs", "PBS_O_QUEUE=workq"),
        ("sge/mpi-range.sge", "QUEUE=all.q"),
        ("sge/array.sge", "SGE_TASK_ID=_PARAM_"),
        ("lsf/serial.lsf", "LSB_QUEUE=normal"),
        ("condor/simple.sub", "CROSSDESK_BATCH_SCRIPT=condor 1 1"),
        ("pbs/array-pro.pbs", "PBS_ARRAY_INDEX=_PARAM_"),
        ("pbs/array-torque.pbs", "PBS_ARRAYID=_PARAM_"),
        ("pbs/hybrid.pbs", "OMP_NUM_THREADS=4"),
        ("pbs/depend.pbs", "NAME=a b"),
        ("sge/array.sge", "SGE_TASK_LAST=46"),
        ("sge/smp.sge", "NSLOTS=8"),
        ("lsf/array.lsf", "LSB_JOBINDEX=_PARAM_"),
        ("lsf/gpu.lsf", "MODE=fast"),
        ("condor/sweep.sub", "LEVEL=3"),
    ],
)
def test_variables_that_a_script_may_read_are_set(name: str, variable: str) -> None:
    assert variable in _translated(CORPUS / name).attributes["Environment"]


def test_what_cannot_be_had_is_refused_and_what_has_no_meaning_elsewhere_is_for_its_system_alone() -> None:
    fates = _fates(_translated(CORPUS / "slurm/begin-and-hold.sbatch"))
    assert fates["--begin=now+1hour"] is fates["--hold"] is Fate.NOT_POSSIBLE
    assert fates["--requeue"] is Fate.LEFT_OUT
    words = _translated(CORPUS / "slurm/words-for-slurm.sbatch")
    assert {*_fates(words).values()} == {Fate.SYSTEM_ONLY}
    assert 'BatchOptions = [ slurm = {"--nice=100", ' in words.description


@pytest.mark.parametrize(
    ("lines", "hosts", "words"),
    [
        ("#SBATCH -n 128", 0, "They may be those of several nodes, as Slurm gives them; HostNumber = 1: of one."),
        ("#SBATCH -n 8 -c 4", None, "They are CPUs of one node; write HostNumber to spread them over several."),
        ("#SBATCH -n 8 --gpus=8", None, "They are CPUs of one node; write HostNumber to spread them over several."),
        ("#SBATCH -n 8 -N 2", 2, ""),
        ("#SBATCH -n 8 --ntasks-per-node=4", 2, ""),
        ("#SBATCH -n 1", None, ""),
        ("#SBATCH -c 8", None, ""),
        ("#BSUB -n 32,64", 0, "The least number; up to 64 were allowed. They may be those of several nodes, as LSF gives them; HostNumber = 1: of one."),
        ('#BSUB -n 8 -R "span[hosts=1]"', 1, ""),
        ("#$ -pe mpi 32", 0, "They may be those of several nodes, as Grid Engine gives them; HostNumber = 1: of one."),
        ("#$ -pe smp 8", 1, ""),
        ("#PBS -l procs=32", 0, "They may be those of several nodes, as PBS gives them; HostNumber = 1: of one."),
        ("#PBS -l ncpus=8", None, ""),
    ],
)  # fmt: skip
def test_cpus_without_nodes_are_spread_where_their_own_system_does_so(
    tmp_path: Path, lines: str, hosts: int | None, words: str
) -> None:
    found = _written(tmp_path, f"#!/bin/sh\n{lines}\nmpirun ./solver\n")
    assert found.attributes.get("HostNumber") == hosts
    counted = next(one for one in found.outcomes if "NodeNumber" in one.became)
    assert counted.why == words
    assert hosts != 0 or "HostNumber = 0" in counted.became
    assert not check(found.description).errors


def test_memory_of_all_cpus_is_shared_where_they_are_spread(tmp_path: Path) -> None:
    found = _written(tmp_path, "#!/bin/sh\n#PBS -l procs=32,mem=64gb\nmpirun ./solver\n")
    assert found.attributes["MemoryPerCPU"] == 2048


def test_what_each_site_calls_by_a_name_of_its_own_is_asked_for_in_both_words() -> None:
    vision = _translated(CORPUS / "pbs/gpu-model.pbs")
    assert 'BatchOptions = [ pbs = {"-l", ":gpu_type=v100", "-l", "qos=high"} ]' in vision.description
    models = [one for one in vision.outcomes if one.option == "gpu_type=v100"]
    assert [one.fate for one in models] == [Fate.REQUIREMENT, Fate.SYSTEM_ONLY]
    assert models[1].why == "Sites of PBS are asked so."
    assert '{"-l", ":fermi", ' in _translated(CORPUS / "pbs/torque-gpu.pbs").description
    assert '"-l", "tmpfs=15G"' in _translated(CORPUS / "sge/gpu.sge").description


def test_names_that_sites_give_are_for_the_system_of_the_script_alone() -> None:
    found = _translated(CORPUS / "slurm/short-options.sh")
    assert found.attributes["NamesOf"] == "slurm"
    named = next(one for one in found.outcomes if "QueueName" in one.became)
    assert named.fate is Fate.SYSTEM_ONLY
    assert named.why == "It counts at sites of Slurm that have it; elsewhere the job runs without."
    assert "NamesOf" not in _translated(CORPUS / "slurm/misspelt.sbatch").attributes


def test_misspelt_lines_are_said_with_what_is_meant() -> None:
    found = _translated(CORPUS / "slurm/misspelt.sbatch")
    whys = {one.line: one.why for one in found.refusals}
    assert "--cpus-per-task is meant, perhaps" in whys[2]
    assert whys[3] == whys[4] == "Slurm takes it for a comment: its lines begin with #SBATCH."
    assert whys[5] == "“two” is no whole number above 0."


def test_the_last_of_two_lines_counts_and_the_first_says_so() -> None:
    found = _translated(CORPUS / "slurm/repeated.sbatch")
    earlier = next(one for one in found.outcomes if one.line == 2)
    assert earlier.fate is Fate.LEFT_OUT
    assert earlier.why == "Line 3 asks for --time=2:00:00 instead, and the last one counts."


@pytest.mark.parametrize(
    "lines",
    [
        "#SBATCH -N1 -n1 --mem=1G\n#SBATCH hetjob\n#SBATCH -N4 --gres=gpu:2 --mem=9G",
        "#SBATCH -N1 -n1 --mem=1G\n#SBATCH packjob -N2\n#SBATCH -N4 --gres=gpu:2 --mem=9G",
        "#SBATCH -N1 -n1 --mem=1G : -N2 --mem=4G\n#SBATCH -N4 --gres=gpu:2 --mem=9G",
    ],
)
def test_options_of_a_further_part_of_a_job_are_refused_and_change_nothing_of_the_first(
    tmp_path: Path, lines: str
) -> None:
    found = _written(tmp_path, f"#!/bin/sh\n{lines}\ntrue\n")
    asked = {name: found.attributes.get(name) for name in ("HostNumber", "MemoryPerNode", "GPUNumber")}
    assert asked == {"HostNumber": 1, "MemoryPerNode": 1024, "GPUNumber": None}
    begins, last = found.refusals[0], found.refusals[-1]
    assert begins.why.startswith("A job whose parts ask for different things is one that this batch system")
    assert last.text == "#SBATCH -N4 --gres=gpu:2 --mem=9G"
    assert last.why == f"It is for the part of the job that begins in line {begins.line}."


def test_equal_chunks_are_added_and_others_refused_with_what_to_do(tmp_path: Path) -> None:
    text = "#!/bin/sh\n#PBS -l select={}\ntrue\n"
    found = _written(tmp_path, text.format("2:ncpus=8:mem=4gb+mem=4gb:ncpus=8"), "job.pbs")
    assert not found.refusals
    assert (found.attributes["HostNumber"], found.attributes["NodeNumber"]) == (3, 24)
    (refused,) = _written(tmp_path, text.format("1:ncpus=8+2:ncpus=16"), "job.pbs").refusals
    assert refused.why.endswith("or submit each kind as a job of its own.")


def test_several_queues_of_lsf_without_quotes_are_told_to_be_quoted(tmp_path: Path) -> None:
    (refused,) = _written(tmp_path, "#!/bin/sh\n#BSUB -q short long\ntrue\n", "job.lsf").refusals
    assert (
        refused.why
        == "“long” is no option. Options begin with a hyphen; a value with blanks stands in quotes."
    )


def test_a_script_that_calls_its_batch_system_runs_there_alone() -> None:
    found = _translated(CORPUS / "slurm/srun-step.sbatch")
    assert 'Requirements = other.GlueCEInfoLRMSType == "slurm";' in found.description
    assert "Only Slurm has srun" in found.outcomes[-1].why


def test_files_that_a_script_names_travel_along_but_not_those_that_it_writes(tmp_path: Path) -> None:
    for name in ("train.py", "conf.yaml", "out.txt", "std.out", "unnamed.csv"):
        (tmp_path / name).write_text("x")
    text = "#!/bin/sh\n#SBATCH -t 5\npython ./train.py --config=conf.yaml > out.txt\n# unnamed.csv\n"
    found = _written(tmp_path, text)
    sent = [Path(name).name for name in found.attributes["InputSandbox"]]
    assert sent == ["job.sbatch", "train.py", "conf.yaml"]


def test_long_options_may_be_cut_as_getopt_allows(tmp_path: Path) -> None:
    text = "#!/bin/sh\n#SBATCH --cpus-per-t=3 --job=cut\n#SBATCH --mem-per=3\ntrue\n"
    found = _written(tmp_path, text)
    assert found.attributes["NodeNumber"] == 3
    assert found.attributes["JobName"] == "cut"
    assert [one.option for one in found.refusals] == ["--mem-per=3"]


def test_a_hostile_script_adds_no_statement_and_no_line_is_lost(tmp_path: Path) -> None:
    found = _translated(CORPUS / "slurm/hostile.sbatch")
    checked = check(found.description).description
    assert checked is not None
    assert checked.executable != "/bin/sh"
    assert checked.stdout == "passwd"
    many = "#!/bin/sh\n" + "#SBATCH --bogus\n" * 1500
    assert len({one.line for one in _written(tmp_path, many).refusals}) == 1500


def test_commands_of_htcondor_are_known_under_all_their_names(tmp_path: Path) -> None:
    text = (
        "cmd = /bin/echo\nout = o.txt\nerr = e.txt\nskip_filechecks = true\ndeferral_window = 5\n"
        "max_transfer_input_mb = 9\nbatch_name = red\nrequest_gpus = 1\nrequire_gpus = Capability > 8\nqueue\n"
    )
    found = _written(tmp_path, text, "job.sub")
    assert not found.refusals
    wanted = {"Executable": "/bin/echo", "StdOutput": "o.txt", "StdError": "e.txt", "JobName": "red"}
    assert {name: found.attributes[name] for name in wanted} == wanted
    assert 'condor = {"require_gpus = Capability > 8"}' in found.description
    assert not check(found.description).errors


@pytest.mark.parametrize(
    ("statement", "values"),
    [
        ("queue name from names.txt", ["red one", "blue"]),
        ("queue name matching *.dat", ["a.dat", "b.dat"]),
        ("queue name matching files (b*.dat names.*)", ["b.dat", "names.txt"]),
        ("queue name in (x, y)", ["x", "y"]),
    ],
)
def test_values_of_a_queue_statement_come_from_files_beside_it(
    tmp_path: Path, statement: str, values: list[str]
) -> None:
    (tmp_path / "names.txt").write_text("red one\n\n# no value\n  blue\n")
    for name in ("b.dat", "a.dat"):
        (tmp_path / name).write_text("")
    found = _written(tmp_path, f"executable = /bin/echo\narguments = $(name)\n{statement}\n", "job.sub")
    assert (found.attributes["Parameters"], found.attributes["Arguments"]) == (values, "_PARAM_")


@pytest.mark.parametrize("name", ["none.txt", "/etc/hostname", "../other/names.txt"])
def test_values_come_from_no_other_folder(tmp_path: Path, name: str) -> None:
    found = _written(tmp_path, f"executable = /bin/echo\nqueue x from {name}\n", "job.sub")
    assert found.refusals[0].why == f"There is no file of values {name} beside the submit file."
    assert "Parameters" not in found.attributes


@pytest.mark.parametrize("text", ["\0\x01\x02", "#SBATCH", "#!/bin/sh\n#SBATCH \\\n", "queue queue queue ="])
def test_any_text_is_read_or_is_no_batch_script(tmp_path: Path, text: str) -> None:
    path = tmp_path / "job.sub"
    path.write_text(text)
    item = classify(facts_of(path))
    if item.kind is ItemKind.BATCH_SCRIPT:
        assert translation(item).description

@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("job.sbatch", "#!/bin/sh\n#SBATCH -a 1-9%3\ntrue\n"),
        ("job.pbs", "#!/bin/sh\n#PBS -t 1-9%3\ntrue\n"),
        ("job.sge", "#!/bin/sh\n#$ -tc 3\n#$ -t 1-9\ntrue\n"),
        ("job.lsf", '#!/bin/sh\n#BSUB -J "many[1-9]%3"\ntrue\n'),
        ("job.sub", "executable = /bin/true\nmax_materialize = 3\nqueue 9\n"),
    ],
)
def test_a_limit_of_tasks_at_once_is_kept(tmp_path: Path, name: str, text: str) -> None:
    found = _written(tmp_path, text, name)
    assert found.attributes["MaxRunningJobs"] == 3
    limits = [one for one in found.outcomes if one.became == "MaxRunningJobs = 3"]
    assert [one.fate for one in limits] == [Fate.ATTRIBUTE]
    checked = check(found.description).description
    assert checked is not None
    assert checked.most_running == 3


def test_the_last_of_two_arrays_says_whether_there_is_a_limit(tmp_path: Path) -> None:
    found = _written(tmp_path, "#!/bin/sh\n#SBATCH -a 1-9%3\n#SBATCH -a 1-4\ntrue\n")
    assert "MaxRunningJobs" not in found.attributes
