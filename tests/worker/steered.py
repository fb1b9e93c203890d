"""Programs that are steered alike in Python, C and sh, and publish what they use."""

from __future__ import annotations

import shutil
from pathlib import Path

PYTHON = """
import time
import crossdesk_publish as publish

rate = publish.parameter("rate", 0.5, minimum=0.0, maximum=1.0, unit="1/s")
size = publish.parameter("size", 3, minimum=1, maximum=10)
solver = publish.parameter("solver", "cg", choices=["cg", "gmres"])
title = publish.parameter("title", "first")
stop = publish.parameter("stop", False)
step = 0
while not stop.value:
    step += 1
    publish.series(step, used=rate.value, size=size.value)
    solver.value, title.value
    time.sleep(0.03)
"""


def program(kind: str, folder: Path) -> list[str]:
    """Words of a program of one kind, made in `folder`."""
    made = folder / f"steered-{kind}"
    if kind == "python":
        made.write_text(f"#!{shutil.which('python3')}\n{PYTHON}")
    made.chmod(0o700)
    return [str(made)]
