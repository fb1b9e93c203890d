"""What a value of a wrong type was probably meant to be."""

from __future__ import annotations

from broker_core.jdl.diagnostics import Fix
from broker_core.jdl.reading import Reading
from broker_core.jdl.tokens import quoted
from broker_core.jdl.tree import Ad, Expression, ListOf, Literal, Missing, Reference

_YES = {"yes": "true", "on": "true", "y": "true", "no": "false", "off": "false", "n": "false"}
_TRUTH = {"true": "true", "false": "false", **_YES}


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
