"""Searching in open files by a process that is ended when its time is over."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from broker_core.system.process_start import start_whole
from broker_core.wire.log_search import LogSearch

SECONDS = 5.0
"""That the process has for one request."""
_LINE = 16 << 20
"""Bytes of one answer."""
_PROGRAM = Path(__file__).with_name("program.py")


@dataclass(frozen=True, slots=True)
class FoundInFiles:
    """What the process said of the files, in their order."""

    answers: Sequence[dict[str, Any]]
    """`hits`, `more` and `remark` of each file; fewer than there are files where the time was over."""
    problem: str = ""
    """Why nothing can be searched for, such as an expression that is none."""


async def search_files(wanted: LogSearch, handles: Sequence[int], seconds: float = SECONDS) -> FoundInFiles:
    """Search in open files; the descriptors stay the caller's."""
    process, canceled = await start_whole(
        asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", str(_PROGRAM)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            pass_fds=handles,
            limit=_LINE,
        )
    )
    assert process.stdin is not None
    assert process.stdout is not None
    answers: list[dict[str, Any]] = []
    try:
        if canceled is not None:
            raise canceled
        question = wanted.model_dump(include={"text", "regex", "context", "most"}) | {"files": list(handles)}
        process.stdin.write(json.dumps(question).encode() + b"\n")
        async with asyncio.timeout(seconds):
            while len(answers) < len(handles) and (line := await process.stdout.readline()):
                answer = json.loads(line)
                if "problem" in answer:
                    return FoundInFiles((), answer["problem"])
                answers.append(answer)
    except TimeoutError:
        pass  # what came until then is the answer
    finally:
        await _end(process)
    return FoundInFiles(answers)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Kill the process if it is still there, and take its end; not to be cut short by a cancel."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):  # it may end just now
            process.kill()
    await asyncio.shield(process.wait())
