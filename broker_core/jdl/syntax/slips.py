"""Signs that stand for others: from word processors, other languages and shells. Each is mended and told."""

from __future__ import annotations

import re

from broker_core.jdl.diagnostics import DiagnosticList, Fix
from broker_core.jdl.syntax.tokens import Token

_LOOK_ALIKE = {
    "\u2265": ">=",
    "\u2264": "<=",
    "\u2260": "!=",
    "\u2010": "-",
    "\u2011": "-",
    "\u2013": "-",
    "\u2014": "-",
    "\u2212": "-",
    "\u00d7": "*",
    "\uff1d": "=",
    "\uff1b": ";",
    "\uff0c": ",",
    "\uff08": "(",
    "\uff09": ")",
}
"""Signs of printed text, and what they mean in a description."""
_OTHERWISE = {
    ("=", ">"): ">=",
    ("=", "<"): "<=",
    ("<", ">"): "!=",
    ("==", "="): "==",
    ("!=", "="): "!=",
    (":", "="): "=",
}
"""Signs of other languages, as the two tokens that they fall into."""
_LINE_END = re.compile(r"\\[ \t]*\r?\n")


def look_alike(token: Token, findings: DiagnosticList) -> Token | None:
    """The token that an unknown sign stands for; None for a backslash at the end of a line, which is left
    out; the token itself if it means nothing."""
    meant = _LOOK_ALIKE.get(token.text)
    if meant is not None:
        return mended(token, meant, findings)
    if token.text == "\\" and _LINE_END.match(findings.text, token.start):
        findings.warning(
            "line-continuation",
            "A line needs no backslash to go on; a statement ends at its `;`.",
            start=token.start,
            end=token.end,
            fixes=[Fix("Remove it", token.start, token.end, "")],
        )
        return None
    return token


def joined(before: Token, token: Token, findings: DiagnosticList) -> Token | None:
    """The operator that two neighbouring signs were meant to be; None if they are two."""
    meant = _OTHERWISE.get((before.text, token.text))
    if meant is None or before.end != token.start:
        return None
    both = Token("operator", before.text + token.text, before.start, token.end)
    return mended(both, meant, findings)


def mended(token: Token, meant: str, findings: DiagnosticList) -> Token:
    """The token as it was meant, with a warning."""
    findings.warning(
        "foreign-sign",
        f"`{token.text}` is taken as `{meant}`.",
        start=token.start,
        end=token.end,
        fixes=[Fix(f"Write {meant}", token.start, token.end, meant)],
    )
    return Token("operator", meant, token.start, token.end)
