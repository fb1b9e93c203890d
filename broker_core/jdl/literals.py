"""Values that are written as one word: numbers, strings, truth values."""

from __future__ import annotations

from broker_core.jdl.cursor import Cursor
from broker_core.jdl.diagnostics import Fix
from broker_core.jdl.tokens import CURLY, Token, quoted, unquoted
from broker_core.jdl.tree import ERROR, UNDEFINED, Literal, Scalar

_WORDS: dict[str, Scalar] = {"true": True, "false": False, "undefined": UNDEFINED, "error": ERROR}
_INTEGER_MAX = (1 << 63) - 1


class Literals(Cursor):
    """A cursor that reads words with a value of their own."""

    def literal(self, token: Token) -> Literal | None:
        """The value of a token that is one; None for any other."""
        kind, text, start, end = token
        if kind == "string":
            value: Scalar = unquoted(text) if "\\" in text else text[1:-1]
            if "\\" in text and "\0" in str(value):
                self._nul(token)
            return Literal(value, start=start, end=end)
        if kind == "number":
            return Literal(self._number(token), start=start, end=end)
        if kind == "name" and (word := text.lower()) in _WORDS:
            return Literal(_WORDS[word], start=start, end=end)
        return self._curly(token) if kind == "curly" else None

    def _nul(self, token: Token) -> None:
        self.findings.error(
            "nul-in-string", "A string cannot hold the character 0.", start=token.start, end=token.end
        )

    def _curly(self, token: Token) -> Literal:
        value = token.text.strip(CURLY)
        self.findings.warning(
            "curly-quotes",
            'Strings stand in straight quotes (").',
            start=token.start,
            end=token.end,
            fixes=[Fix("Use straight quotes", token.start, token.end, quoted(value))],
        )
        return Literal(value, start=token.start, end=token.end)

    def _number(self, token: Token) -> int | float:
        if not token.text.isdigit():
            return float(token.text)
        value = int(token.text[:30])
        if value > _INTEGER_MAX:
            self.findings.error(
                "number-too-big",
                f"A whole number can be at most {_INTEGER_MAX}.",
                start=token.start,
                end=token.end,
            )
        return min(value, _INTEGER_MAX)
