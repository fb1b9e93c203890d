"""Random expressions, as text, from a seed."""

from __future__ import annotations

import random
from collections.abc import Sequence

_LISTED = ('"a"', '"B"', '"b"', '""', '"12"', '"1,2,3"', '"u@h=v;b=it s"', "{1, 2}", "{}", '{"a", "B"}')
_NAMED = ("true", "false", "undefined", "error", "missing")
LITERALS = ("0", "1", "-3", "7", "42", "2.5", "0.0", "-1.5", *_NAMED, *_LISTED)
INFIX = ["+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "=?=", "=!=", "&&", "||", "&", "|", "^"]
FUNCTIONS = {
    "isUndefined": 1,
    "isError": 1,
    "isString": 1,
    "isInteger": 1,
    "isReal": 1,
    "isBoolean": 1,
    "isList": 1,
    "int": 1,
    "real": 1,
    "string": 1,
    "bool": 1,
    "floor": 1,
    "ceiling": 1,
    "round": 1,
    "member": 2,
    "identicalMember": 2,
    "size": 1,
    "sum": 1,
    "min": 1,
    "max": 1,
    "avg": 1,
    "strcat": 2,
    "substr": 2,
    "strcmp": 2,
    "stricmp": 2,
    "toUpper": 1,
    "toLower": 1,
    "regexp": 2,
    "ifThenElse": 3,
    "versionGT": 2,
    "versionEQ": 2,
    "versionGE": 2,
    "versionLT": 2,
    "versionLE": 2,
    "version_in_range": 3,
    "isClassAd": 1,
    "isAbstime": 1,
    "isReltime": 1,
    "formatTime": 1,
    "interval": 1,
    "pow": 2,
    "quantize": 2,
    "anyCompare": 3,
    "allCompare": 3,
    "join": 2,
    "regexpMember": 2,
    "regexps": 3,
    "replace": 3,
    "replaceAll": 3,
    "eval": 1,
    "unparse": 1,
    "stringListsIntersect": 2,
    "stringListSize": 1,
    "stringListMember": 2,
    "stringListIMember": 2,
    "stringListSum": 1,
    "stringListAvg": 1,
    "stringListMin": 1,
    "stringListMax": 1,
    "stringListSubsetMatch": 2,
    "stringListISubsetMatch": 2,
    "stringList_regexpMember": 2,
    "envV1ToV2": 1,
    "mergeEnvironment": 2,
    "userMap": 2,
}


def expression(chance: random.Random, depth: int, names: Sequence[str] = ()) -> str:
    """One expression of at most `depth` levels, over literals and `names`."""
    kind = chance.random()
    if depth == 0 or kind < 0.2:
        return chance.choice(names) if names and kind < 0.1 else chance.choice(LITERALS)

    def part() -> str:
        return expression(chance, depth - 1, names)

    if kind < 0.6:
        return f"({part()} {chance.choice(INFIX)} {part()})"
    if kind < 0.7:
        return f"{chance.choice('-+!~')}({part()})"
    if kind < 0.8:
        return f"({part()} ? {part()} : {part()})"
    if kind < 0.85:
        return f"(({part()}) ?: ({part()}))"
    name = chance.choice(sorted(FUNCTIONS))
    return f"{name}({', '.join(part() for _ in range(FUNCTIONS[name]))})"
