"""Every known attribute has a value of its type; unknown ones are kept, and told where nothing reads them."""

from __future__ import annotations

import re

from broker_core.jdl.attributes.attribute import Attribute
from broker_core.jdl.attributes.known import ATTRIBUTES
from broker_core.jdl.diagnostics import Fix
from broker_core.jdl.evaluation.constants import constant
from broker_core.jdl.reading import Reading
from broker_core.jdl.spelling import closest
from broker_core.jdl.syntax.tokens import quoted
from broker_core.jdl.syntax.tree import Ad, Call, Entry, Expression, ListOf, Literal, Missing, Reference, walk

_YES = {"yes": "true", "on": "true", "y": "true", "no": "false", "off": "false", "n": "false"}
_TRUTH = {"true": "true", "false": "false", **_YES}
_WORDS = {
    "string": "a string in double quotes",
    "strings": 'a list of strings such as {"a", "b"}',
    "integer": "a whole number",
    "integers": "a list of whole numbers such as {1, 2}",
    "real": "a number",
    "boolean": "true or false",
    "ad": "an ad in [ ]",
    "ads": "a list of ads such as { [...], [...] }",
    "list": "a list in { }",
    "word": "a word",
}
_ALWAYS = "expression"
_OF_GRAPHS = ("nodes", "node")
"""Places of attributes that a single job has not."""
_NAME = re.compile(r"[a-z_][a-z0-9_]*")


def fixes_for(reading: Reading, types: tuple[str, ...], node: Expression) -> list[Fix]:
    """Fixes that give `node` one of the types (see `Attribute.types`); empty where nothing is near."""
    value = node.value if isinstance(node, Literal) else None
    if isinstance(value, str):
        return _unquoted(types, node, value)
    if isinstance(node, Reference) and "boolean" in types and node.name.lower() in _YES:
        meant = _YES[node.name.lower()]
        return [Fix(f"Write {meant}", node.start, node.end, meant)]
    if "string" not in types or isinstance(value, Missing) or isinstance(node, Ad):
        return []
    if isinstance(node, ListOf):
        return _joined(types, node)
    source = reading.findings.text[node.start : node.end]
    text = node.name if isinstance(node, Reference) and node.quoted else source
    return [Fix("Put it in double quotes", node.start, node.end, quoted(text))]


def _unquoted(types: tuple[str, ...], node: Expression, value: str) -> list[Fix]:
    meant = ""
    if "boolean" in types:
        meant = _TRUTH.get(value.lower(), "")
    elif "integer" in types and value.strip().isdigit():
        meant = value.strip()
    return [Fix("Remove the quotes", node.start, node.end, meant)] if meant else []


def _joined(types: tuple[str, ...], node: ListOf) -> list[Fix]:
    """A list of strings where one string is meant, such as Arguments."""
    texts = [item.value for item in node.items if isinstance(item, Literal) and isinstance(item.value, str)]
    if "strings" in types or len(texts) != len(node.items) or not texts:
        return []
    return [Fix("Join them into one string", node.start, node.end, quoted(" ".join(texts)))]


def check(reading: Reading) -> None:
    """Complain about every attribute of this ad that has a wrong type or looks misspelt."""
    compound = reading.string("type").lower() in ("dag", "collection")
    unknown = []
    for key, entry in reading.ad.entries.items():
        known = ATTRIBUTES.get(key)
        if known is None:
            unknown.append((key, entry))
        elif not compound and (known.place in _OF_GRAPHS or key == "nodes"):
            message = f"{entry.name} has a meaning in graphs and collections alone, so it has no effect here."
            reading.warning("attribute-without", message, key)
        elif not _accepted(reading, entry.value, known.types):
            _wrong(reading, key, known, entry.value)
    read = _names_read(reading) if unknown else frozenset()
    for key, entry in unknown:
        if key not in read:
            _unknown(reading, key, entry)


def _names_read(reading: Reading) -> frozenset[str]:
    """Lower-case names that the description's own expressions read of it, those in texts for eval too."""
    found = set()
    for entry in reading.ad:
        for part in walk(entry.value):
            if isinstance(part, Reference):
                scope = part.scope.name.lower() if isinstance(part.scope, Reference) else ""
                found.add("" if scope in ("other", "target") else part.name.lower())
            elif isinstance(part, Call) and part.function.lower() == "eval":
                texts = (one.value for one in part.arguments if isinstance(one, Literal))
                found.update(*(_NAME.findall(text.lower()) for text in texts if isinstance(text, str)))
    return frozenset(found)


def _accepted(reading: Reading, node: Expression, types: tuple[str, ...]) -> bool:
    if type(node) is ListOf:
        if "list" in types or _ALWAYS in types:
            return True
        return any(_items_are(reading, one, node) for one in types)
    if type(node) is Ad:
        return "ad" in types or _ALWAYS in types
    if _ALWAYS in types or (isinstance(node, Reference) and "word" in types):
        return True
    value = node.value if type(node) is Literal else constant(node, reading.ad, reading.findings.budget)
    return any(_is(value, one) for one in types)


def _is(value: object, kind: str) -> bool:
    if kind in ("string", "word"):
        return isinstance(value, str)
    if kind == "integer":
        return type(value) is int
    if kind == "real":
        return type(value) in (int, float)
    return kind == "boolean" and isinstance(value, bool)


def _items_are(reading: Reading, kind: str, node: ListOf) -> bool:
    if kind == "ads":
        return all(isinstance(item, Ad) for item in node.items)
    if kind not in ("strings", "integers"):
        return False
    wanted = str if kind == "strings" else int
    for item in node.items:
        value = item.value if type(item) is Literal else constant(item, reading.ad, reading.findings.budget)
        if type(value) is not wanted:
            return False
    return True


def _unknown(reading: Reading, key: str, entry: Entry) -> None:
    """An attribute that nothing reads: what it was meant to be, else that it has no effect (CB-JDL-01)."""
    if key in reading.inherited:
        return
    where = f"Node {reading.inside}: " if reading.inside else ""
    meant = closest(key, tuple(ATTRIBUTES))
    if meant is not None and meant not in reading.ad.entries:
        name = ATTRIBUTES[meant].name
        fixes = [Fix(f"Write {name}", entry.start, entry.name_end, name)]
        message = f"{where}{entry.name} is not known; did you mean {name}?"
        reading.findings.warning(
            "misspelt-attribute",
            message,
            start=entry.start,
            end=entry.name_end,
            attribute=entry.name,
            fixes=fixes,
        )
        return
    message = (
        f"{where}{entry.name} is not known, and nothing in this description reads it: it has no effect unless"
        " a resource asks for it in its own Requirements."
    )
    reading.findings.warning(
        "unknown-attribute", message, start=entry.start, end=entry.name_end, attribute=entry.name
    )


def _wrong(reading: Reading, key: str, known: Attribute, node: Expression) -> None:
    wide = "list" in known.types
    wanted = " or ".join(_WORDS[one] for one in known.types if not (wide and one in ("strings", "integers")))
    message = f"{known.name} must be {wanted}."
    if isinstance(node, ListOf) and "strings" in known.types and node.items:
        for item in node.items:
            if not _accepted(reading, item, ("string",)):
                fixes = fixes_for(reading, ("string",), item)
                reading.error("wrong-type", message, key, item, fixes)
        return
    reading.error("wrong-type", message, key, fixes=fixes_for(reading, known.types, node))
