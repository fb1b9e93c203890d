"""What a broker demands that is set to another dialect than CrossBroker's (`Limits.dialect`)."""

from __future__ import annotations

import re

from broker_core.jdl.reading import Reading
from broker_core.jdl.syntax.tree import Literal, walk

_CE = re.compile(r"[A-Za-z0-9.-]+:[0-9]{1,5}/(?:jobmanager|cream)-[A-Za-z0-9]+-[A-Za-z0-9_.-]+")
_NOT_FOR_CREAM = ("requirements", "rank", "retrycount", "shallowretrycount")
_PERUSAL = ("PerusalListFileURI", "PerusalFilesDestURI", "PerusalTimeInterval")


def check(reading: Reading) -> None:
    """Complain about what the broker's dialect does not allow; nothing in CrossBroker's own."""
    if reading.limits.dialect == "crossdesk":
        return
    _back_quotes(reading)
    _target(reading)
    if reading.limits.dialect == "cream":
        _cream(reading)


def _back_quotes(reading: Reading) -> None:
    for key, entry in reading.ad.entries.items():
        for part in walk(entry.value):
            if isinstance(part, Literal) and isinstance(part.value, str) and "`" in part.value:
                message = "A back-quote cannot stand in a string; leave it out, or send a script."
                reading.error("back-quote", message, key, part)


def _target(reading: Reading) -> None:
    target = reading.string("submitto")
    if target and not _CE.fullmatch(target):
        message = "SubmitTo must be host:port/jobmanager-system-queue, or with cream- before the system."
        reading.error("submit-to-form", message, "submitto")


def _cream(reading: Reading) -> None:
    if reading.string("type").lower() not in ("", "job"):
        reading.error("cream-one-job", "CREAM takes single jobs; submit each on its own.", "type")
    for text, place in reading.strings("jobtype"):
        if text.lower() != "normal":
            reading.error("cream-one-job", "CREAM takes jobs of JobType Normal only.", "jobtype", place)
    for name in ("BatchSystem", "QueueName"):
        if not reading.has(name.lower()) and not reading.has("submitto"):
            message = f"CREAM needs {name}; write it, or name the computing element in SubmitTo."
            reading.error("cream-needs", message, name)
    if reading.has("outputsandbox") and not any(
        reading.has(key) for key in ("outputsandboxdesturi", "outputsandboxbasedesturi")
    ):
        message = "CREAM needs OutputSandboxBaseDestURI or OutputSandboxDestURI: where the files go."
        reading.error("cream-needs", message, "outputsandbox")
    for name in _PERUSAL if reading.true("perusalfileenable") else ():
        if not reading.has(name.lower()):
            message = f"PerusalFileEnable needs {name}; write it, or leave both out."
            reading.error("cream-needs", message, "perusalfileenable")
    for key in _NOT_FOR_CREAM:
        if reading.has(key):
            message = f"CREAM does not look at {reading.ad.entries[key].name}; use CERequirements."
            reading.warning("cream-ignores", message, key)
