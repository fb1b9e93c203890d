"""Parametric descriptions and collections become batches in the broker."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.client.client import BrokerClient
from broker_core.client.prepare import prepare
from broker_core.errors import BadRequest, DescriptionRefused
from broker_core.wire.checks import DiagnosticView
from tests.broker.jobs import key, reach, submit

SWEEP = (
    'JobType = "Parametric"; Parameters = {parameters}; '
    'Executable = "/bin/sh"; Arguments = "-c \\"echo _PARAM_ $ParameterValue\\""; StdOutput = "out"; '
    'OutputSandbox = {{"out"}};'
)


async def output(client: BrokerClient, job: str) -> str:
    await reach(client, job, "Done")
    return (await client.read_file(job, "out")).content.decode().strip()


async def test_a_parametric_description_becomes_one_batch_without_values_sent(client: BrokerClient) -> None:
    receipt = await submit(client, SWEEP.format(parameters="7; ParameterStart = 1; ParameterStep = 3"))
    rows = [(await client.job(job)).row for job in receipt.ids]
    assert [row["parameter"] for row in rows] == ["1", "4"]
    assert [row["name"] for row in rows] == ["Node_1", "Node_4"]
    assert {row["batch"] for row in rows} == {receipt.batch}
    assert receipt.batch
    assert [await output(client, job) for job in receipt.ids] == ["1 1", "4 4"]


async def test_the_values_of_a_list_keep_their_order(client: BrokerClient) -> None:
    receipt = await submit(client, SWEEP.format(parameters='{"x", y, 3}'), hold="stay")
    assert [(await client.job(job)).row["parameter"] for job in receipt.ids] == ["x", "y", "3"]


async def test_parameters_that_stand_for_nothing_are_refused(client: BrokerClient) -> None:
    with pytest.raises(BadRequest) as refused:
        await submit(client, SWEEP.format(parameters="0"))
    assert refused.value.code == "bad_values"
    with pytest.raises(DescriptionRefused):
        await submit(client, SWEEP.format(parameters="5; ParameterStep = 0"))
    assert (await client.jobs_page()).total == 0


async def test_a_collection_becomes_jobs_with_descriptions_and_files_of_their_own(
    client: BrokerClient, tmp_path: Path
) -> None:
    (tmp_path / "data").write_text("from the file\n")
    text = """
        Type = "Collection";
        RetryCount = 2;
        Nodes = {
            [ NodeName = "reads"; Executable = "/bin/cat"; Arguments = "data"; InputSandbox = {"data"};
              StdOutput = "out"; OutputSandbox = {"out"}; ],
            [ Executable = "/bin/echo"; Arguments = "hello"; StdOutput = "out"; OutputSandbox = {"out"}; ]
        };
    """
    prepared = await prepare(text, tmp_path)
    assert prepared.ok, prepared.diagnostics
    receipt = await client.submit_prepared(prepared, key=key())
    assert [await output(client, job) for job in receipt.ids] == ["from the file", "hello"]
    details = [await client.job(job) for job in receipt.ids]
    assert [one.row["name"] for one in details] == ["reads", "Node_1"]
    assert {one.row["batch"] for one in details} == {receipt.batch}
    assert [len(one.files) for one in details] == [1, 0]
    assert all("RetryCount = 2" in one.description for one in details)


async def test_each_job_of_a_sweep_gets_the_files_of_its_own_value(
    client: BrokerClient, tmp_path: Path
) -> None:
    for name in ("a.dat", "b.dat", "common"):
        (tmp_path / name).write_text(f"from {name}\n")
    text = (
        'JobType = "Parametric"; Parameters = {a, b}; Executable = "/bin/sh"; '
        'Arguments = "-c \\"ls *.dat; cat _PARAM_.dat common\\""; StdOutput = "out"; '
        'InputSandbox = {"_PARAM_.dat", "common"}; OutputSandbox = {"out"};'
    )
    prepared = await prepare(text, tmp_path)
    assert prepared.ok, prepared.diagnostics
    receipt = await client.submit_prepared(prepared, key=key())
    said = [await output(client, job) for job in receipt.ids]
    assert said == ["a.dat\nfrom a.dat\nfrom common", "b.dat\nfrom b.dat\nfrom common"]
    details = [await client.job(job) for job in receipt.ids]
    assert [[file.name for file in one.files] for one in details] == [
        ["common", "a.dat"],
        ["common", "b.dat"],
    ]


async def test_a_value_without_its_file_is_refused(client: BrokerClient, tmp_path: Path) -> None:
    (tmp_path / "a.dat").write_text("a")
    text = 'Executable = "/bin/cat"; Arguments = "_PARAM_.dat"; InputSandbox = "_PARAM_.dat";'
    prepared = await prepare(text, tmp_path, values=["a"])
    with pytest.raises(DescriptionRefused) as refused:
        await client.submit_prepared(prepared, key=key(), values=["a", "b"])
    [told] = [one.message for one in refused.value.diagnostics if isinstance(one, DiagnosticView)]
    assert "b.dat" in told


async def test_a_node_in_a_file_runs_like_any_other(client: BrokerClient, tmp_path: Path) -> None:
    (tmp_path / "far.jdl").write_text(
        'Executable = "/bin/echo"; Arguments = "far"; StdOutput = "out"; OutputSandbox = "out";'
    )
    prepared = await prepare(
        'Type = "Collection"; Nodes = {[ NodeName = "far"; File = "far.jdl"; ]};', tmp_path
    )
    receipt = await client.submit_prepared(prepared, key=key())
    assert [await output(client, job) for job in receipt.ids] == ["far"]


async def test_a_node_in_a_file_is_refused_by_name(client: BrokerClient) -> None:
    with pytest.raises(BadRequest) as refused:
        await submit(client, 'Type = "Collection"; Nodes = {[ NodeName = "far"; File = "far.jdl"; ]};')
    assert "far" in refused.value.message


async def test_a_check_counts_the_jobs_of_a_sweep(client: BrokerClient) -> None:
    report = await client.check(SWEEP.format(parameters="300"))
    assert (report.ok, report.jobs, report.cpus) == (True, 300, 1)
    assert (await client.check('Executable = "/bin/true";')).jobs == 1


async def test_list_match_of_a_sweep_is_about_its_jobs_and_agrees_with_submitting(
    client: BrokerClient,
) -> None:
    text = SWEEP.format(parameters="{0, 100000}") + " Requirements = other.GlueCEInfoTotalCPUs > _PARAM_;"
    report = await client.match(text)
    assert [(one.name, one.jobs, one.matching) for one in report.parts] == [
        ("value 0", 1, 1),
        ("value 100000", 1, 0),
    ]
    assert (report.matching, report.analysis[:35]) == (1, "For value 0, the first of 2 parts: ")
    chosen = await client.match(text, part="value 100000", limit=0)
    assert (chosen.matching, chosen.known) == (0, 1)
    receipt = await submit(client, text)
    await reach(client, receipt.ids[0], "Done")
    assert (await client.job(receipt.ids[1])).row["state"] == "Waiting"
    with pytest.raises(BadRequest) as refused:
        await client.match(text, part="value 5")
    assert refused.value.code == "no_such_part"
    with pytest.raises(BadRequest, match="no value at all"):
        await client.match(SWEEP.format(parameters="0"))


GRAPH = """[ Type = "DAG"; Nodes = [
    first = [ description = [ Executable = "/bin/true"; ]; ];
    last = [ description = [ Executable = "/bin/true"; ]; ];
]; Dependencies = {{first, last}}; ]"""


async def test_a_graph_that_nobody_runs_matches_nowhere_and_is_refused_with_the_reason(
    client: BrokerClient,
) -> None:
    report = await client.match(GRAPH)
    assert [(part.name, part.matching) for part in report.parts] == [("first", 0), ("last", 0)]
    assert "0 of 1 satisfy 'offers graphs of jobs'" in report.analysis
    with pytest.raises(BadRequest) as refusal:
        await submit(client, GRAPH)
    assert refusal.value.code == "graphs_not_run"
    assert not (await client.jobs_page()).columns["id"]
