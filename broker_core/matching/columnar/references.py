"""What an expression reads of a resource and of the world, found without evaluating it."""

from __future__ import annotations

from dataclasses import dataclass, field

from broker_core.jdl.syntax.tree import Ad, Call, Expression, Reference, walk

_WORLDLY = frozenset({"time", "formattime", "random", "userhome", "usermap", "successfraction", "eval"})
_AT_STORAGE = frozenset({"anymatch", "allmatch", "whichmatch", "retrieveclosesesinfo"})
_COSTLY = frozenset({"eval", "unparse", "unresolved", "evalineachcontext", "countmatches"}) | _AT_STORAGE
_SIZE_MAX = 5_000
_STORAGE = ("storage", "gluecesebindgroupseuniqueid")
"""`other.storage` is made of the names of the storage elements close by."""


@dataclass(slots=True)
class ReferencedAttributes:
    """Found in one expression and in all attributes of the job that it names."""

    names: set[str] = field(default_factory=set)
    """Lower-case names of the resource's attributes."""
    own: dict[str, Expression] = field(default_factory=dict)
    """The job's attributes it reads."""
    worldly: bool = False
    """It may have another value at another time, or for another user."""
    everything: bool = False
    """It evaluates a text, which may read any attribute."""
    by_chance: bool = False
    """Each resource gets a value of its own, even where all attributes are alike."""
    whole: bool = False
    """It must not be taken apart: it refers to itself, or what it costs depends on the values."""
    size: int = 0


def reads(expression: Expression, own: Ad) -> ReferencedAttributes:
    """Everything that the value of `expression` can depend on; rather too much than too little."""
    found = ReferencedAttributes(whole=bool({"other", "target"} & own.entries.keys()))
    _collect(expression, own, found, ())
    return found


def _collect(expression: Expression, own: Ad, found: ReferencedAttributes, within: tuple[str, ...]) -> None:
    for node in walk(expression):
        found.size += 1
        if found.size > _SIZE_MAX:
            found.whole = found.worldly = found.everything = True
            return
        if isinstance(node, Call):
            _call(node.function.lower(), found)
        elif isinstance(node, Reference):
            _reference(node, own, found, within)


def _call(function: str, found: ReferencedAttributes) -> None:
    found.worldly |= function in _WORLDLY or function in _AT_STORAGE
    found.everything |= function == "eval"
    found.by_chance |= function in ("eval", "random")
    found.whole |= function in _COSTLY


def _reference(node: Reference, own: Ad, found: ReferencedAttributes, within: tuple[str, ...]) -> None:
    name = node.name.lower()
    scope = node.scope
    if isinstance(scope, Reference) and scope.scope is None and scope.name.lower() in ("other", "target"):
        found.names.add(name)
        if name == "storage":
            found.worldly = found.whole = True
            found.names.update(_STORAGE)
    entry = own.entries.get(name)
    if entry is None:
        return
    if name in within:
        found.whole = True
        return
    found.own[name] = entry.value
    _collect(entry.value, own, found, (*within, name))
