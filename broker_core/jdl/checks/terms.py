"""Requirements and Rank: slips that would make them never hold, or hold the wrong way round."""

from __future__ import annotations

from broker_core.jdl.diagnostics import Fix
from broker_core.jdl.functions.known import FUNCTIONS
from broker_core.jdl.glue.attributes import GLUE
from broker_core.jdl.reading import Reading
from broker_core.jdl.spelling import closest
from broker_core.jdl.syntax.tokens import quoted
from broker_core.jdl.syntax.tree import Binary, Call, Expression, Literal, Reference, walk

_COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">=", "=?=", "=!="})
_LONGER_IS_WORSE = ("gluecestateestimatedresponsetime", "gluecestateworstresponsetime")


def check(reading: Reading) -> None:
    """Complain about Requirements and Rank."""
    for key in ("requirements", "rank", "cerequirements"):
        node = reading.node(key)
        if node is None:
            continue
        if isinstance(node, Literal) and isinstance(node.value, str):
            message = f"{reading.ad.entries[key].name} is a string; write the expression without quotes."
            fix = Fix("Remove the quotes", node.start, node.end, node.value)
            reading.error("quoted-expression", message, key, fixes=[fix])
        else:
            _terms(reading, key, node)
    _sign(reading, reading.node("rank"))
    _data_cost(reading, reading.node("rank"))


def _terms(reading: Reading, key: str, node: Expression) -> None:
    for part in walk(node):
        if isinstance(part, Reference):
            _name(reading, key, part)
        elif isinstance(part, Call):
            _function(reading, key, part)
            _scalar_as_list(reading, key, part)
        elif isinstance(part, Binary) and part.operator in _COMPARISONS:
            _list_compared(reading, key, part)
        elif isinstance(part, Binary) and part.operator in ("&", "|"):
            _single_sign(reading, key, part)


def _read(node: Expression) -> str:
    """The lower-case name if the node reads the resource; else empty."""
    if isinstance(node, Reference) and isinstance(node.scope, Reference) and node.scope.scope is None:
        return node.name.lower() if node.scope.name.lower() in ("other", "target") else ""
    return ""


def _name(reading: Reading, key: str, node: Reference) -> None:
    name = _read(node)
    if node.quoted and node.scope is None and not reading.has(node.name.lower()):
        message = "Single quotes stand around names; a text stands in double quotes."
        fix = Fix("Use double quotes", node.start, node.end, quoted(node.name))
        reading.warning("single-quotes", message, key, node, [fix])
    elif name and name not in GLUE:
        meant = closest(name, tuple(GLUE))
        if meant is not None:
            known = GLUE[meant].name
            start = node.end - len(node.name)
            message = f"{node.name} is no known attribute of a resource; did you mean {known}?"
            fix = Fix(f"Write {known}", start, node.end, known)
            reading.hint("misspelt-resource-attribute", message, key, node, [fix])
    elif not name and node.scope is None and node.name.lower() in GLUE and not reading.has(node.name.lower()):
        message = f"{node.name} is read from the job itself; write other.{node.name} to read the resource."
        fix = Fix("Write other.", node.start, node.start, "other.")
        reading.warning("missing-other", message, key, node, [fix])


def _function(reading: Reading, key: str, node: Call) -> None:
    name = node.function.lower()
    if name not in FUNCTIONS:
        meant = closest(name, tuple(FUNCTIONS))
        fixes = []
        if meant is not None:
            end = node.start + len(node.function)
            fixes = [Fix(f"Write {FUNCTIONS[meant].name}", node.start, end, FUNCTIONS[meant].name)]
        message = f"There is no function {node.function}; the expression will be an error."
        reading.warning("unknown-function", message, key, node, fixes)
    elif not FUNCTIONS[name].least <= len(node.arguments) <= FUNCTIONS[name].most:
        message = f"Write {FUNCTIONS[name].signature}; with {len(node.arguments)} arguments it is an error."
        reading.warning("argument-count", message, key, node)


def _list_compared(reading: Reading, key: str, node: Binary) -> None:
    for side, value in ((node.left, node.right), (node.right, node.left)):
        known = GLUE.get(_read(side))
        if known is not None and known.type == "strings":
            text = reading.findings.text
            member = f"Member({text[value.start : value.end]}, {text[side.start : side.end]})"
            fixes = [Fix("Use Member", node.start, node.end, member)] if node.operator == "==" else []
            message = f"{known.name} is a list; test it with Member(value, {known.name})."
            reading.warning("list-compared", message, key, node, fixes)


def _scalar_as_list(reading: Reading, key: str, node: Call) -> None:
    """A single value of the resource is given to Member as if it were a list."""
    if node.function.lower() not in ("member", "ismember") or len(node.arguments) != 2:
        return
    value, single = node.arguments
    known = GLUE.get(_read(single))
    if known is not None and known.type != "strings":
        text = reading.findings.text
        equal = f"{text[single.start : single.end]} == {text[value.start : value.end]}"
        message = f"{known.name} is a single value; compare it with ==."
        reading.warning("scalar-as-list", message, key, node, [Fix("Use ==", node.start, node.end, equal)])


def _single_sign(reading: Reading, key: str, node: Binary) -> None:
    """`&` and `|` work on the bits of whole numbers; between conditions they are an error."""
    sides = (node.left, node.right)
    if not any(isinstance(side, Binary) and side.operator in _COMPARISONS for side in sides):
        return
    place = reading.findings.text.find(node.operator, node.left.end, node.right.start)
    if place < 0:
        return
    meant = node.operator * 2
    message = f"`{node.operator}` works on bits and is an error here; write `{meant}`."
    fix = Fix(f"Write {meant}", place, place + 1, meant)
    reading.warning("bits-not-conditions", message, key, node, [fix])


def _data_cost(reading: Reading, node: Expression | None) -> None:
    """DataAccessCost is a Rank of its own kind, and only where data is named."""
    names = [_read(part) for part in walk(node)] if node is not None else []
    if "dataaccesscost" not in names:
        return
    if not (reading.has("inputdata") or reading.has("datarequirements")):
        message = "other.DataAccessCost needs InputData; name the files whose cost it is."
        reading.error("data-access-cost", message, "rank")
    elif any(name not in ("", "dataaccesscost") for name in names):
        message = (
            "other.DataAccessCost must be the only attribute of the resource in Rank; leave out the others."
        )
        reading.error("data-access-cost", message, "rank")


def _sign(reading: Reading, node: Expression | None) -> None:
    if node is not None and _read(node) in _LONGER_IS_WORSE:
        message = "A higher Rank is better, so this prefers long waits; put a minus before it."
        fix = Fix("Add a minus", node.start, node.start, "-")
        reading.warning("rank-sign", message, "rank", None, [fix])
