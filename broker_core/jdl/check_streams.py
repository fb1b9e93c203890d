"""StdInput, StdOutput and StdError (section 4.2)."""

from __future__ import annotations

from dataclasses import dataclass

from broker_core.jdl.check_sandboxes import Sandbox
from broker_core.jdl.names import base_name, has_wildcard, wrong_name, wrong_output
from broker_core.jdl.reading import Reading


@dataclass(frozen=True, slots=True)
class Streams:
    """File names of the three streams; empty where none is named."""

    stdin: str
    stdout: str
    stderr: str


def streams(reading: Reading, inputs: Sandbox) -> Streams:
    """Check the three streams and return their names."""
    found = Streams(reading.string("stdinput"), reading.string("stdoutput"), reading.string("stderror"))
    for key, name in (("stdoutput", found.stdout), ("stderror", found.stderr)):
        if name and _plain(reading, key, name) and (wrong := wrong_output(name)):
            reading.error(*wrong, key)
    if found.stdin and _plain(reading, "stdinput", found.stdin):
        _input(reading, found.stdin, inputs)
    if reading.limits.dialect != "crossdesk" and found.stdout and found.stderr:
        _pair(reading, found)
    return found


def _plain(reading: Reading, key: str, name: str) -> bool:
    if has_wildcard(name):
        message = f"{reading.ad.entries[key].name} must name one file; leave out wildcards."
        reading.error("stream-wildcard", message, key)
        return False
    return True


def _input(reading: Reading, name: str, inputs: Sandbox) -> None:
    if name.startswith("/"):
        return
    if wrong := wrong_name(name):
        reading.error(*wrong, "stdinput")
    elif not inputs.brings(base_name(name)):
        message = f"{name} is not in InputSandbox, so the job would not find its input; add it there."
        reading.error("stdin-not-in-sandbox", message, "stdinput")


def _pair(reading: Reading, found: Streams) -> None:
    if found.stdout != found.stderr and base_name(found.stdout) == base_name(found.stderr):
        message = (
            "StdOutput and StdError have the same file name in different folders; use one path or two names."
        )
        reading.error("stream-names-clash", message, "stderror")
