"""Candidates for a place in a description, best first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from types import MappingProxyType

from app.description.statements import statements
from app.description.values import string_source, strings_of
from app.editor.completion.context import CompletionContext, Suggestion
from broker_core.jdl.attributes.attribute import Attribute
from broker_core.jdl.attributes.crossbroker import COMPONENT
from broker_core.jdl.attributes.known import ATTRIBUTES, NOT_NEEDED, USER_ATTRIBUTES, WITHOUT_EFFECT

_MODULE = "MODULE:"
"""Beginning of the tags of environment modules."""
_MODULES = "modules"
_TAGS = ("tags", "requirements", "rank")
"""Attributes in whose texts stand run-time tags, in lower case."""
_FILES = {
    "container": (".sif", ".img", ".squashfs", ".sqfs", ".tar", ".tar.gz", ".tgz"),
    "pythonenvironment": (".txt", ".toml", ".lock", ".yml", ".yaml"),
}
"""Attributes that name an input file, in lower case, and how the names of such files end."""
_ADDRESSES = {"container": {"docker://": "An image of a registry, for example docker://debian:12."}}
COMPONENTS = "subjobs"
"""The attribute whose ads have attributes of their own, in lower case."""
_SITES = 8
_FIRST = ("CrossBroker", "CrossDesk")
"""Dialects whose attributes stand before the others'."""
_EMPTY = {"strings": "{};", "list": "{};", "ads": "{};", "integers": "{};", "string": '"";', "ad": "[];"}
_FORMS = {
    "string": "a text",
    "strings": "a list of texts",
    "integer": "a whole number",
    "integers": "a list of whole numbers",
    "real": "a number",
    "boolean": "True or False",
    "ad": "an ad in brackets",
    "ads": "a list of ads",
    "list": "a list",
    "expression": "any expression",
    "word": "a word",
}
_TWO_COMPONENTS = "{\n  [ NodeNumber = 1; ],\n  [ NodeNumber = 1; ]\n};"
_WORDS = {"boolean": ("True", "False")}
RESOURCE = {
    "GlueCEUniqueID": "Name of the computing element.",
    "GlueHostFreeCPUs": "CPUs that are free now.",
    "GlueCEInfoTotalCPUs": "CPUs in all.",
    "GlueCEStateFreeCPUs": "CPUs that are free now; the same as GlueHostFreeCPUs.",
    "GlueCEStateRunningJobs": "Jobs that run there.",
    "GlueCEStateWaitingJobs": "Jobs that wait there.",
    "GlueCEStateEstimatedResponseTime": "Seconds a new job would wait there, as the site estimates it.",
    "GlueCEStateStatus": "Production, Draining, Queueing or Closed.",
    "GlueCEInfoLRMSType": "Kind of batch system.",
    "GlueCEPolicyMaxWallClockTime": "Longest wall time of a job, in minutes.",
    "GlueHostBenchmarkSI00": "Speed of a CPU (SpecInt2000).",
    "GlueHostMainMemoryRAMSize": "Main memory of a node, in MBytes.",
    "GlueHostArchitecturePlatformType": "Processor architecture, for example x86_64.",
    "GlueHostOperatingSystemName": "Operating system.",
    "GlueHostApplicationRunTimeEnvironment": 'Installed software: a list; ask with Member("name", …).',
}
"""Attributes of resources, read as `other.NAME`."""
FUNCTIONS = {
    "Member": "Member(value, list): true if the list holds the value.",
    "RegExp": "RegExp(pattern, text): true if the text matches the regular expression.",
    "isUndefined": "isUndefined(x): true if the attribute is not there.",
    "ifThenElse": "ifThenElse(test, yes, no): one of two values.",
    "strcat": "strcat(a, b, …): the texts joined.",
    "size": "size(x): length of a text or a list.",
    "toLower": "toLower(text): the text in lower case.",
    "min": "min(list): the smallest number of a list.",
    "max": "max(list): the largest number of a list.",
    "floor": "floor(x): the whole number below.",
}
"""Functions of expressions."""


def candidates(
    place: CompletionContext, text: str, tags: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> list[Suggestion]:
    """What may be written at `place`; those that begin with what was typed come before those that hold it.

    `tags`: each run-time tag that is known to the sites that show it, environment modules among them.
    """
    found: Iterable[Suggestion]
    if place.after_scope:
        found = _resource()
    elif place.attribute.lower() == _MODULES:
        found = _modules(tags, place.in_string)
    elif of_tags(place):
        found = _tags(tags, place.in_string)
    elif place.attribute.lower() in _FILES:
        found = _files(text, place)
    elif place.attribute:
        found = _values(place)
    elif place.inside.lower() == COMPONENTS:
        found = _of_component(place)
    else:
        found = _attributes(text, place.prefix)
    typed = place.prefix.lower()
    return sorted((c for c in found if typed in c.text.lower()), key=lambda c: not _begins(c, typed))


def of_tags(cursor: CompletionContext) -> bool:
    """True where the tags of the sites are what may be written."""
    attribute = cursor.attribute.lower()
    in_text = cursor.in_string or attribute == "tags"
    return attribute == _MODULES or (attribute in _TAGS and in_text and not cursor.after_scope)


def _begins(candidate: Suggestion, typed: str) -> bool:
    return candidate.text.lower().startswith(typed)


def _attributes(text: str, typed: str) -> Iterator[Suggestion]:
    there = set(statements(text)) - {typed.lower()}
    known = sorted(USER_ATTRIBUTES, key=lambda attribute: attribute.dialect not in _FIRST)
    for attribute in known:
        if attribute.name.lower() not in there:
            yield Suggestion(attribute.name, _statement(attribute), "attribute", documentation(attribute))


def _of_component(cursor: CompletionContext) -> Iterator[Suggestion]:
    for attribute in COMPONENT:
        if attribute.name.lower() not in cursor.beside - {cursor.prefix.lower()}:
            yield Suggestion(attribute.name, f"{attribute.name} = ", "attribute", documentation(attribute))


def _statement(attribute: Attribute) -> str:
    if attribute.name.lower() == COMPONENTS:
        return f"{attribute.name} = {_TWO_COMPONENTS}"
    form = "strings" if "strings" in attribute.types else attribute.types[0]
    return f"{attribute.name} = {_EMPTY.get(form, '')}"


def documentation(attribute: Attribute) -> str:
    """What a user should know of an attribute: purpose, form, default, allowed values."""
    lines = [attribute.doc, "", f"Form: {' or '.join(_FORMS.get(form, form) for form in attribute.types)}"]
    if attribute.default:
        lines.append(f"If absent: {attribute.default}")
    if attribute.allowed:
        lines.append(f"Values: {', '.join(attribute.allowed)}")
    key = attribute.name.lower()
    if reason := WITHOUT_EFFECT.get(key) or NOT_NEEDED.get(key):
        lines.append(f"Without effect here: {reason}.")
    if attribute.dialect not in _FIRST:
        lines.append(f"Known from {attribute.dialect}")
    return "\n".join(lines)


def _values(place: CompletionContext) -> Iterable[Suggestion]:
    attribute = ATTRIBUTES.get(place.attribute.lower())
    if attribute is None or "expression" in attribute.types:
        return () if place.in_string else _expression()
    return _allowed(attribute, place.in_string)


def _allowed(attribute: Attribute, in_string: bool) -> Iterator[Suggestion]:
    about = documentation(attribute)
    for value in attribute.allowed:
        quoted = in_string or "word" in attribute.types
        yield Suggestion(value, value if quoted else string_source(value), "value", about)
    for form in attribute.types:
        for word in _WORDS.get(form, ()):
            yield Suggestion(word, word, "value", about)


def _modules(tags: Mapping[str, Sequence[str]], in_string: bool) -> Iterator[Suggestion]:
    for tag, sites in tags.items():
        if name := tag.removeprefix(_MODULE) if tag.startswith(_MODULE) else "":
            yield _quoted(name, in_string, f"Environment module of {_names(sites)}")


def _tags(tags: Mapping[str, Sequence[str]], in_string: bool) -> Iterator[Suggestion]:
    for tag, sites in tags.items():
        yield _quoted(tag, in_string, f"Run-time tag of {_names(sites)}")


def _names(owners: Sequence[str]) -> str:
    return ", ".join(owners[:_SITES]) + (", …" if len(owners) > _SITES else "")


def _files(text: str, cursor: CompletionContext) -> Iterator[Suggestion]:
    """Input files whose names end so that they may be meant, and beginnings of addresses."""
    attribute = cursor.attribute.lower()
    sandbox = statements(text).get("inputsandbox")
    for path in (strings_of(sandbox.value) if sandbox else None) or ():
        if path.lower().endswith(_FILES[attribute]):
            yield _quoted(PurePosixPath(path).name, cursor.in_string, "A file of InputSandbox")
    for beginning, about in _ADDRESSES.get(attribute, {}).items():
        yield _quoted(beginning, cursor.in_string, about)


def _quoted(text: str, in_string: bool, about: str) -> Suggestion:
    return Suggestion(text, text if in_string else string_source(text), "value", about)


def _resource() -> Iterator[Suggestion]:
    for name, about in RESOURCE.items():
        yield Suggestion(name, name, "resource", about)


def _expression() -> Iterator[Suggestion]:
    yield Suggestion("other", "other.", "resource", "The resource: other.NAME reads one of its attributes.")
    for name, about in RESOURCE.items():
        yield Suggestion(f"other.{name}", f"other.{name}", "resource", about)
    for name, about in FUNCTIONS.items():
        yield Suggestion(name, f"{name}()", "function", about)
