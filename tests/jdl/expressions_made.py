"""Random expressions, as text, from a seed."""

from __future__ import annotations

import random

_LISTED = ('"a"', '"B"', '"b"', '""', '"12"', '"1,2,3"', "{1, 2}", "{}", '{"a", "B"}')
_NAMED = ("true", "false", "undefined", "error", "missing", "Own", "Twice")
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
}


def expression(chance: random.Random, depth: int) -> str:
    """One expression of at most `depth` levels."""
    kind = chance.random()
    if depth == 0 or kind < 0.2:
        return chance.choice(LITERALS)
    if kind < 0.6:
        sides = [expression(chance, depth - 1) for _ in range(2)]
        return f"({sides[0]} {chance.choice(INFIX)} {sides[1]})"
    if kind < 0.7:
        return chance.choice("-+!~") + "(" + expression(chance, depth - 1) + ")"
    if kind < 0.8:
        parts = [expression(chance, depth - 1) for _ in range(3)]
        return f"({parts[0]} ? {parts[1]} : {parts[2]})"
    if kind < 0.85:
        return f"(({expression(chance, depth - 1)}) ?: ({expression(chance, depth - 1)}))"
    name = chance.choice(sorted(FUNCTIONS))
    return f"{name}({', '.join(expression(chance, depth - 1) for _ in range(FUNCTIONS[name]))})"
