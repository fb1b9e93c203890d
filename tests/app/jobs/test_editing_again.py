"""New like this: the editor has the description with its files and the value of the job."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QApplication

from app.editor.editor import Editor
from app.jobs.copy_to_edit import with_inputs
from broker_core.client.prepare import prepare
from broker_core.wire.submission import Submission, SubmissionItem
from tests.app.windows import Stage, play
from tests.broker.jobs import upload
from tests.waiting import eventually


def test_a_copy_of_a_job_of_a_sweep_has_its_files_and_its_value_and_can_be_submitted(
    qapp: QApplication, broker: Path
) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        client = on.context.client
        program = await upload(client, b"#!/bin/sh\necho $1\n", "check it.sh", executable=True)
        text = (
            'Executable = "check it.sh"; Arguments = "_PARAM_"; JobName = "check-_PARAM_"; '
            'InputSandbox = {"bin/check it.sh"}; StdOutput = "out"; OutputSandbox = {"out"};'
        )
        item = SubmissionItem(description=text, files=[program], values=["one", "two"])
        job = (await client.submit(Submission(key="edit-one-of-a-sweep", items=[item], hold="x"))).ids[1]
        await eventually(lambda: len(on.window.jobs.table.view) == 2, what="the batch has a line")
        on.window.jobs.table.view.fold_all(True)
        await eventually(lambda: on.window.jobs.view.choose_all([job]), what="the table shows it")
        assert on.window.jobs.view.chosen() == [job]
        on.context.trigger("job.edit")
        editor = await eventually(lambda: on.window.findChild(Editor), 10)
        assert isinstance(editor, Editor)
        assert editor.path is not None
        assert editor.path.parent.parent == broker / "copies"
        assert 'Arguments = "two"; JobName = "check-two";' in editor.text()
        assert not editor.dirty
        await eventually(lambda: not editor.checking.pending)
        assert editor.problems.problems == ()
        receipt = await client.submit_prepared(await prepare(editor.path))
        await eventually(lambda: on.context.jobs.row(receipt.ids[0]) is not None)
        await eventually(lambda: on.context.jobs.row(receipt.ids[0])["state"] == "Done")
        assert (await client.read_file(receipt.ids[0], "out")).content == b"two\n"

    play(qapp, broker, scenario)


def test_addresses_in_the_sandbox_stay_and_files_are_named_as_they_lie_there() -> None:
    text = 'Executable = "a"; InputSandbox = {"/home/ann/a", "data*", "https://example.org/big.dat"};'
    assert with_inputs(text, ["a", "data1"]) == (
        'Executable = "a"; InputSandbox = {"a", "data1", "https://example.org/big.dat"};'
    )
    based = 'InputSandboxBaseURI = "gsiftp://se/x"; InputSandbox = {"far", "file:///near"};'
    assert 'InputSandbox = {"near", "far"};' in with_inputs(based, ["near"])


def test_a_copy_whose_files_cannot_be_had_opens_without_them_and_says_so(
    qapp: QApplication, broker: Path
) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        client, noticed = on.context.client, list[str]()
        on.context.noticed.connect(lambda notice: noticed.append(notice.text))
        file = await upload(client, b"data", "data.txt")
        item = SubmissionItem(
            description='Executable = "/bin/true"; InputSandbox = "data.txt";', files=[file]
        )
        job = (await client.submit(Submission(key="edit-without-room", items=[item], hold="x"))).ids[0]
        await eventually(lambda: on.window.jobs.view.choose_all([job]))
        (broker / "copies").write_text("a file where a folder should be")
        on.context.trigger("job.edit")
        await eventually(lambda: noticed)
        assert "The files cannot be saved" in noticed[0]
        editor = await eventually(lambda: on.window.findChild(Editor))
        assert isinstance(editor, Editor)
        assert editor.path is None

    play(qapp, broker, scenario)
