"""Attributes that exclude or require each other, and those that are understood but not carried out."""

from __future__ import annotations

from collections.abc import Mapping

from broker_core.jdl import parametric
from broker_core.jdl.attributes.known import ATTRIBUTES, NOT_NEEDED, WITHOUT_EFFECT
from broker_core.jdl.checks.kind import DescriptionKind
from broker_core.jdl.diagnostics import Fix
from broker_core.jdl.reading import Reading
from broker_core.jdl.syntax.tokens import quoted

_EXCLUDE = (
    ("inputdata", "datarequirements"),
    ("outputsandboxdesturi", "outputsandboxbasedesturi"),
    ("interactivex11", "interactivedisplay"),
)
_REQUIRE = (
    ("prologuearguments", "prologue"),
    ("epiloguearguments", "epilogue"),
    ("jobstarterarguments", "jobstarter"),
    ("interactiveagentarguments", "interactiveagent"),
    ("outputsandboxdesturi", "outputsandbox"),
    ("fuzzy_factor", "fuzzyrank"),
    ("parameterstart", "parameters"),
    ("parameterstep", "parameters"),
    ("parameterfactor", "parameters"),
    ("maxrunningjobs", "parameters"),
)
_RANGES = {
    "retrycount": 0,
    "shallowretrycount": -1,
    "smpgranularity": 1,
    "hostnumber": 0,
    "expirytime": 0,
    "maxrunningjobs": 1,
}
"""Attributes with the least value that each may have."""
_BY_SETTINGS = ("retrycount", "shallowretrycount", "expirytime")
_FOR_ALL = (
    "virtualorganisation",
    "hlrlocation",
    "myproxyserver",
    "lbaddress",
    "allowzippedisb",
    "nodescollocation",
    "usertags",
    "jobgroup",
    "maxrunningjobs",
)
"""Attributes that must be the same for every value of a sweep."""


def check(reading: Reading, kind: DescriptionKind) -> None:
    """Complain about each pair that cannot be, and each wish that will not be fulfilled."""
    given = reading.ad.entries.keys()
    for one, other in _EXCLUDE:
        if one in given and other in given:
            message = f"{_name(reading, one)} and {_name(reading, other)} exclude each other; leave out one."
            reading.error("attributes-exclude", message, other)
    for one, other in _REQUIRE:
        if one in given and other not in given:
            message = f"{_name(reading, one)} has no meaning without {_known(other)}."
            reading.warning("attribute-without", message, one)
    for key in _RANGES.keys() & given:
        _range(reading, key)
    _without_effect(reading)
    for key in _BY_SETTINGS:
        if key in given:
            message = (
                f"{_name(reading, key)} is understood, but the broker's own settings say how long it tries."
            )
            reading.hint("not-carried-out", message, key)
    for key in _FOR_ALL:
        node = reading.node(key)
        if node is not None and parametric.MARK in reading.findings.text[node.start : node.end]:
            message = f"{_name(reading, key)} must be the same for all values; leave out {parametric.MARK}."
            reading.error("parameter-not-here", message, key)
    _hosts(reading, kind)
    _sweep(reading)
    if reading.has("parameters") and parametric.sequence(reading.ad) is None:
        reading.error("parameters-format", _parameters(parametric.counted(reading.ad)), "parameters")


def _sweep(reading: Reading) -> None:
    """Values alone make no sweep."""
    if not reading.has("parameters") or parametric.is_parametric(reading.ad):
        return
    kinds = [value for value, _ in reading.strings("jobtype") if value.lower() != "normal"]
    words = ", ".join(quoted(value) for value in ("Parametric", *kinds))
    wanted = f"{{{words}}}" if kinds else words
    if (entry := reading.ad.entries.get("jobtype")) is not None:
        fix = Fix("Make it a sweep", entry.value_start, entry.value_end, wanted)
    else:
        at = reading.ad.entries["parameters"].start
        fix = Fix("Make it a sweep", at, at, f"JobType = {wanted}; ")
    message = "Parameters has no effect on a single job; JobType = Parametric makes one job for each value."
    reading.warning("attribute-without", message, "parameters", None, [fix])


def _without_effect(reading: Reading) -> None:
    """Say of each attribute that nothing is done about it, and why; nothing stays without a word."""
    for key in reading.ad.entries:
        if key in WITHOUT_EFFECT:
            reading.warning("not-carried-out", _vain(reading, key, WITHOUT_EFFECT), key)
        elif key in NOT_NEEDED:
            reading.hint("not-carried-out", _vain(reading, key, NOT_NEEDED), key)
        elif key in ATTRIBUTES and ATTRIBUTES[key].place == "system":
            message = f"{_name(reading, key)} is set by brokers; what a description says of it has no effect."
            reading.warning("not-carried-out", message, key)


def _vain(reading: Reading, key: str, reasons: Mapping[str, str]) -> str:
    return f"{_name(reading, key)} has no effect here: {reasons[key]}."


def _parameters(count: int) -> str:
    """Why there are no values, of which a number in Parameters wants `count`."""
    most = parametric.VALUES_MAX
    if count > most:
        return f"Parameters gives {count:,} jobs; at most {most:,} may be sent at once: send it in parts."
    return (
        "Parameters must be a list of values, or a number up to which is counted; ParameterStep is not 0,"
        " and ParameterFactor makes no value of more than 64 bits."
    )


def _range(reading: Reading, key: str) -> None:
    value = reading.integer(key)
    if value is not None and value < _RANGES[key]:
        message = f"{_name(reading, key)} must be {_RANGES[key]} or more."
        reading.error("count-too-small", message, key)


def _hosts(reading: Reading, kind: DescriptionKind) -> None:
    hosts = reading.integer("hostnumber")
    if hosts is not None and hosts > kind.cpus:
        message = f"{hosts} hosts cannot share {kind.cpus} CPUs: each needs one; ask for fewer hosts."
        reading.error("more-hosts-than-cpus", message, "hostnumber")
    if reading.has("smpgranularity") and reading.has("hostnumber") and not reading.true("wholenodes"):
        message = "SMPGranularity and HostNumber exclude each other; leave out one, or set WholeNodes."
        reading.error("attributes-exclude", message, "hostnumber")
    if reading.has("listenerport") and not kind.interactive:
        message = (
            "ListenerPort only has a meaning for interactive jobs; leave it out, or set Interactive = true."
        )
        reading.error("listener-not-interactive", message, "listenerport")
    if reading.true("interactivex11") and not kind.interactive:
        message = "InteractiveX11 has no meaning for a job that is not interactive; set Interactive = true."
        reading.warning("attribute-without", message, "interactivex11")


def _name(reading: Reading, key: str) -> str:
    return reading.ad.entries[key].name


def _known(key: str) -> str:
    return ATTRIBUTES[key].name
