"""Programs that are steered alike in Python, C and sh, and publish what they use."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from broker_core.worker.script import publish_path

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
C = """
#include <unistd.h>
#include "crossdesk_publish.h"

int main(void)
{
    int step = 0;
    crossdesk_parameter("rate", 0.5, 0, 1, "1/s");
    crossdesk_integer("size", 3, 1, 10, "");
    crossdesk_choice("solver", "cg", "cg|gmres");
    crossdesk_text("title", "first");
    while (!crossdesk_switch("stop", 0)) {
        double rate = crossdesk_parameter("rate", 0.5, 0, 1, "1/s");
        crossdesk_series(++step, "used", rate);
        crossdesk_series(step, "size", (double)crossdesk_integer("size", 3, 1, 10, ""));
        usleep(30000);
    }
    return 0;
}
"""
SH = """#!/bin/sh
stop() { crossdesk-publish parameter -t switch stop false; }
step=0
while [ "$(stop)" = false ]; do
    step=$((step + 1))
    rate=$(crossdesk-publish parameter -n 0 -x 1 -u 1/s rate 0.5)
    size=$(crossdesk-publish parameter -t integer -n 1 -x 10 size 3)
    solver=$(crossdesk-publish parameter -c 'cg|gmres' solver cg)
    title=$(crossdesk-publish parameter title first)
    crossdesk-publish series -x $step "used=$rate" "size=$size"
done
"""


def program(kind: str, folder: Path) -> list[str]:
    """Words of a program of one kind, made in `folder`."""
    made = folder / f"steered-{kind}"
    if kind == "python":
        made.write_text(f"#!{shutil.which('python3')}\n{PYTHON}")
    elif kind == "sh":
        made.write_text(SH)
    else:
        (folder / "steered.c").write_text(C)
        words = ["cc", "-std=gnu99", "-Wall", "-Wextra", "-Werror", f"-I{publish_path()}", "-o", str(made)]
        subprocess.run([*words, str(folder / "steered.c"), "-lm"], check=True)
    made.chmod(0o700)
    return [str(made)]
