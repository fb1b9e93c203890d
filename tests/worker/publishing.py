"""Programs that publish the same in Python, C and sh, for the tests of sites."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from broker_core.jobs.published.recording import Recording
from broker_core.worker.script import publish_path

PYTHON = """
import array, os, time, crossdesk_publish as publish
publish.series(1, loss=0.5)
while not os.path.exists({gate!r}):
    time.sleep(0.02)
publish.series(2, loss=0.25)
publish.array("field", array.array("d", range(6)), (2, 3))
publish.table("layers", ["name", "weights"], [["first", 128]])
publish.progress(1, "done")
"""
C = """
#include <unistd.h>
#include "crossdesk_publish.h"

int main(int count, char **words)
{
    double field[6] = {0, 1, 2, 3, 4, 5};
    size_t shape[2] = {2, 3};
    (void)count;
    crossdesk_series(1, "loss", 0.5);
    while (access(words[1], F_OK) != 0)
        usleep(20000);
    crossdesk_series(2, "loss", 0.25);
    crossdesk_array("field", "f8", field, 2, shape);
    return crossdesk_progress(1, "done") == 0 ? 0 : 1;
}
"""
SH = """#!/bin/sh
crossdesk-publish series -x 1 loss=0.5
while ! [ -e "$1" ]; do sleep 0.05; done
crossdesk-publish series -x 2 loss=0.25
printf '0 1 2\\n3,4,5\\n' | crossdesk-publish array field
printf 'name,weights\\nfirst,128\\n' | crossdesk-publish table layers
crossdesk-publish progress 1 done
"""


def program(kind: str, folder: Path, gate: Path) -> str:
    """A program of one kind in `folder`, which publishes once, and the rest when `gate` is there."""
    made = folder / f"published-{kind}"
    if kind == "python":
        made.write_text(f"#!{shutil.which('python3')}\n{PYTHON.format(gate=str(gate))}")
    elif kind == "sh":
        made.write_text(SH)
    else:
        (folder / "program.c").write_text(C)
        words = ["cc", "-std=gnu99", "-Wall", "-Wextra", "-Werror", f"-I{publish_path()}", "-o", str(made)]
        subprocess.run([*words, str(folder / "program.c"), "-lm"], check=True)
    made.chmod(0o700)
    return str(made)


def read(path: Path) -> Recording:
    """What is there."""
    made = Recording()
    made.feed(path.read_bytes())
    return made


def is_whole(found: Recording, *, table: bool) -> bool:
    """True for all that each of these programs publishes."""
    x, y = found.curves["loss"].points()
    assert (x.tolist(), y.tolist()) == ([1, 2], [0.5, 0.25])
    assert found.arrays["field"].newest.values.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert found.progress is not None
    assert (found.progress.share, found.progress.text, found.unreadable) == (1, "done", 0)
    return not table or found.tables["layers"].rows == (("first", 128),)
