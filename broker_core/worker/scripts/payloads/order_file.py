"""The order of an attempt, as `job_starter.sh` gets it, of programs that need nothing but files and words."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from broker_core.worker.scripts.plain.records import Order, read

_LINES = re.compile(r"^export (\w+)=('?)([^'\n]*)\2$", re.MULTILINE)
_ESCAPED = re.compile(rb"\\0([0-7]{3})")
_USED = frozenset(
    {"__jobid", "__attempt", "__directory", "__environment", "__input_file", "__job", "__arguments"}
    | {"__standard_input", "__standard_output", "__standard_error", "__output_file", "__wall_limit"}
    | {"__kill_grace", "__news", "__publish", "__box", "__use", "CROSSDESK_ATTEMPT"}
    | {"__most_output", "__stay"}
)
_NO_MATTER = frozenset(
    {"__interactive", "__nodes", "__subjob_index", "__beat", "__lease", "__lease_file"}
)
"""Of the watchdog, or the same for all plain programs; what is in neither makes an order special."""
_KILL_GRACE = 5


def read_order(folder: str, base: Mapping[str, str]) -> Order | None:
    """The order in the directory of an attempt, with what `lasting_starter.py` wants to know; None for one
    that is not plain. `base`: the environment that its program gets beside its own. Raises OSError."""
    known = _variables(folder)
    if not known.keys() <= _USED | _NO_MATTER or "__box" not in known or known.get("__interactive") != "0":
        return None
    outputs = [one for one in known.get("__output_file", "").split(",") if one]
    pairs = [one.partition("=") for one in decoded(known.get("__environment", ""))]
    if any("\\" in decode(one) for one in outputs) or "CROSSDESK_BATCH_SCRIPT" in (one[0] for one in pairs):
        return None
    # What is not the job's is opened in its box, which shows that or not.
    if decode(known.get("__standard_input", "")).startswith("/"):
        return None
    here = decode(known["__directory"])
    limit = known.get("__wall_limit", "")
    return {
        "tag": known["CROSSDESK_ATTEMPT"],
        "directory": here,
        "program": decode(known["__job"]),
        "arguments": decoded(known.get("__arguments", "")),
        "environment": _environment(base, here, known, {name: value for name, _, value in pairs}),
        "stdin": decode(known.get("__standard_input", "")),
        "stdout": decode(known.get("__standard_output", "")) or "std.out",
        "stderr": decode(known.get("__standard_error", "")) or "std.err",
        "inputs": decoded(known.get("__input_file", "")),
        "outputs": [(decode(one), one) for one in outputs] if "." not in outputs else [],
        "brings_all": "." in outputs,
        "most_brought": int(known.get("__most_output") or 0),
        "most_named": int(known.get("__stay") or 0),
        "wall_limit": float(limit) if limit else None,
        "lease": known.get("__lease", ""),
        "kill_grace": float(known.get("__kill_grace") or _KILL_GRACE),
        "nice": 0,
        "use": decode(known.get("__use", "")),
        "news": decode(known.get("__news", "")),
        "box": decoded(known["__box"]),
    }


def _variables(folder: str) -> dict[str, str]:
    """What the order sets; none if it does more than that and to start its Job Starter."""
    *_, last = lines = (text := read(f"{folder}/order").decode("ascii")).removesuffix("\n").split("\n")
    known = {name: value for name, _, value in _LINES.findall(text)}
    return known if len(known) == len(lines) - 1 and last.startswith("exec /bin/sh ") else {}


def _environment(
    base: Mapping[str, str], here: str, known: Mapping[str, str], own: Mapping[str, str]
) -> dict[str, str]:
    job, publish = f"{here}/job", decode(known.get("__publish", ""))
    given = {
        "CROSSDESK_SERVICES": f"{job}/.crossdesk-services",
        "CROSSDESK_PARAMETERS": f"{job}/.crossdesk-parameters",
        "CROSSDESK_DATA": f"{job}/.crossdesk-data",
        "CROSSDESK_PUBLISH": publish,
        "PATH": f"{base.get('PATH', os.defpath)}:{publish}" if publish else base.get("PATH", os.defpath),
        "PWD": job,
    }
    found = {**base, **given, **own, "CROSSDESK_ATTEMPT": known["CROSSDESK_ATTEMPT"]}
    if publish:
        modules = found.get("PYTHONPATH")
        found["PYTHONPATH"] = f"{modules}:{publish}" if modules else publish
    return found


def decode(text: str) -> str:
    """One escaped value (`broker_core/worker/encoding.py`)."""
    if "\\" not in text:
        return text
    if text == "\\":
        return ""
    return os.fsdecode(_ESCAPED.sub(lambda found: bytes([int(found[1], 8)]), text.encode("ascii")))


def decoded(text: str) -> list[str]:
    """A list of them."""
    return [decode(one) for one in text.split(",")] if text else []
