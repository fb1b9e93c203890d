"""What a dropped or submitted program becomes: nothing is said of output, so that all of it comes home."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.client.programs.describe import describe
from broker_core.client.programs.file_kind import classify
from broker_core.client.programs.path_facts import facts_of
from broker_core.jdl.check import check
from broker_core.jdl.names import ALL_NEW


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("run it.sh", b"#!/bin/sh\necho 1\n"),
        ("no first line.sh", b"echo 1\n"),
        ("fit.py", b"print(1)\n"),
        ("book.ipynb", b'{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'),
        ("train.sbatch", b"#!/bin/sh\n#SBATCH -n 2\ntrue\n"),
        ("jobs.sub", b"executable = /bin/true\nqueue 2\n"),
        ("tool", b"\x7fELF\x02\x01\x01" + b"\0" * 60),
    ],
)
def test_its_description_has_no_list_of_output(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    path.chmod(0o755)
    text = describe(classify(facts_of(path)))
    assert "OutputSandbox" not in text
    found = check(text).description
    assert found is not None
    assert found.output_sandbox == (ALL_NEW,)
