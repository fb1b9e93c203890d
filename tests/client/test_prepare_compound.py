"""Files of sweeps, collections and graphs: found on this machine before anything is sent."""

from __future__ import annotations

from pathlib import Path

from broker_core.client.prepare import Prepared, prepare_now

SWEEP = 'JobType = "Parametric"; Parameters = {a, b}; Executable = "run_PARAM_.sh"; '


def names(ready: Prepared) -> list[str]:
    return [one.name for one in ready.files]


def told(ready: Prepared) -> list[tuple[str, int, str]]:
    return [(one.code, one.line, one.message) for one in ready.diagnostics]


def test_the_files_of_every_value_are_found(tmp_path: Path) -> None:
    for name in ("runa.sh", "runb.sh", "common"):
        (tmp_path / name).write_text(name)
    ready = prepare_now(SWEEP + 'InputSandbox = {"run_PARAM_.sh", "common"};', tmp_path)
    assert told(ready) == []
    assert names(ready) == ["runa.sh", "runb.sh", "common"]
    assert [one.executable for one in ready.files] == [True, True, False]


def test_the_missing_file_of_a_value_is_named(tmp_path: Path) -> None:
    (tmp_path / "runa.sh").write_text("x")
    ready = prepare_now(SWEEP + 'InputSandbox = {"run_PARAM_.sh"};', tmp_path)
    assert [(code, "runb.sh" in message) for code, _, message in told(ready)] == [
        ("sandbox-file-missing", True)
    ]


def test_values_given_apart_choose_the_files(tmp_path: Path) -> None:
    (tmp_path / "seven.dat").write_text("7")
    text = 'Executable = "/bin/cat"; Arguments = "_PARAM_.dat"; InputSandbox = "_PARAM_.dat";'
    assert names(prepare_now(text, tmp_path, values=["seven"])) == ["seven.dat"]
    assert told(prepare_now(text, tmp_path)) == []


def test_nodes_in_files_are_written_in_with_their_own_files(tmp_path: Path) -> None:
    (tmp_path / "nodes").mkdir()
    (tmp_path / "nodes" / "data").write_text("x")
    (tmp_path / "nodes" / "b.jdl").write_text(
        '[ Executable = "/bin/cat"; Arguments = "data"; InputSandbox = "data" ]'
    )
    text = 'Type = "Collection"; Nodes = {[NodeName = "b"; File = "nodes/b.jdl"],[Executable = "/bin/true"]};'
    ready = prepare_now(text, tmp_path)
    assert ready.ok, told(ready)
    assert names(ready) == ["data"]
    assert ready.text == text
    assert 'Executable = "/bin/cat"' in ready.whole
    assert "nodes/b.jdl" not in ready.whole


def test_a_file_that_a_node_lacks_is_told_at_its_place(tmp_path: Path) -> None:
    text = 'Type = "DAG";\nNodes = [ a = [ description = [ Executable = "x.sh"; InputSandbox = "x.sh" ] ] ];'
    assert [(code, line) for code, line, _ in told(prepare_now(text, tmp_path))] == [
        ("sandbox-file-missing", 2)
    ]
    (tmp_path / "x.sh").write_text("")
    assert names(prepare_now(text, tmp_path)) == ["x.sh"]


def test_what_is_wrong_in_a_nodes_file_is_told_with_both_places(tmp_path: Path) -> None:
    (tmp_path / "b.jdl").write_text('StdOutput = "x";\nNodeNumber = "many";')
    text = 'Type = "Collection";\nNodes = { [ NodeName = "b"; File = "b.jdl"; ] };'
    found = told(prepare_now(text, tmp_path))
    assert [(code, line) for code, line, _ in found] == [("missing-executable", 2), ("wrong-type", 2)]
    assert found[1][2].startswith("Node b: b.jdl:2:14: ")


def test_a_file_that_is_not_there_or_holds_a_graph_is_refused(tmp_path: Path) -> None:
    (tmp_path / "graph.jdl").write_text('Type = "Collection"; Nodes = {[ Executable = "/bin/true" ]};')
    text = 'Type = "DAG"; Nodes = [ a = [ file = "none.jdl" ]; b = [ file = "graph.jdl" ] ];'
    ready = prepare_now(text, tmp_path)
    assert not ready.ok
    assert {one.code for one in ready.errors} == {"node-file-unreadable", "nested-workflow"}


def test_a_graph_with_files_is_whole_when_it_is_sent(tmp_path: Path) -> None:
    (tmp_path / "b.jdl").write_text('Executable = "/bin/true";')
    text = 'Type = "DAG"; Nodes = [ a = [ node_retry_count = 2; file = "b.jdl"; ]; ];'
    ready = prepare_now(text, tmp_path)
    assert ready.ok, told(ready)
    assert 'description = [\nExecutable = "/bin/true";\n];' in ready.whole


def test_files_of_the_whole_are_sent_for_nodes_that_name_them(tmp_path: Path) -> None:
    for name in ("common.sh", "one.dat"):
        (tmp_path / name).write_text(name)
    text = """
        Type = "Collection"; InputSandbox = {"common.sh"};
        Nodes = { [ Executable = "common.sh"; InputSandbox = {root.InputSandbox[0], "one.dat"} ] };
    """
    ready = prepare_now(text, tmp_path)
    assert told(ready) == []
    assert names(ready) == ["common.sh", "one.dat"]
