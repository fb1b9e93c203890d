"""Lists and arguments, with the slips that they are written with (CB-JDL-04)."""

from __future__ import annotations

from abc import abstractmethod

from broker_core.jdl.diagnostics import Fix
from broker_core.jdl.limits import LIST_MAX
from broker_core.jdl.syntax.cursor import TokenCursor, Unexpected
from broker_core.jdl.syntax.tokens import CURLY, Token, quoted, unquoted
from broker_core.jdl.syntax.tree import ERROR, UNDEFINED, Expression, ListOf, Literal, Scalar

_WORDS: dict[str, Scalar] = {"true": True, "false": False, "undefined": UNDEFINED, "error": ERROR}
_INTEGER_MAX = (1 << 63) - 1
_STATEMENT = ("=", "==")


class Literals(TokenCursor):
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


class Lists(Literals):
    """A cursor that reads what stands between brackets, divided by commas."""

    @abstractmethod
    def expression(self) -> Expression:
        """Any expression; in the class that extends this one."""

    def items(self, opening: Token, closing: str, first: Expression | None = None) -> list[Expression]:
        """The items up to and with the closing bracket; `first` has been read already."""
        items: list[Expression] = [] if first is None else [first]
        self._comma(items, closing)
        while self.text_now != closing:
            items.append(self.expression())
            if len(items) > LIST_MAX:
                raise Unexpected("too-long-list", f"A list can have at most {LIST_MAX:,} items.", opening)
            if not self._comma(items, closing) and self.text_now != closing:
                self._missing_comma(opening, closing)
        self.advance()
        return items

    def _comma(self, items: list[Expression], closing: str) -> bool:
        """Pass the comma behind an item, and those that are too many; True if there was one."""
        found = False
        while self.text_now == "," or self._semicolon(items, closing):
            if self.text_now == ";":
                self._slip("comma-not-semicolon", "Items of a list are divided by commas.", "Write ,", ",")
            elif found or not items:
                self._slip("extra-comma", "A comma is too many here.", "Remove it", "")
            elif self.tokens[self.index + 1].text == closing:
                self._slip("trailing-comma", "A comma with nothing behind it.", "Remove it", "")
            self.advance()
            found = True
        return found

    def _semicolon(self, items: list[Expression], closing: str) -> bool:
        """A `;` that divides the strings of a list."""
        following = self.tokens[self.index + 1] if self.text_now == ";" else self.token
        return (
            self.text_now == ";"
            and closing == "}"
            and bool(items)
            and following.kind == "string"
            and isinstance(items[-1], Literal)
        )

    def _slip(self, code: str, message: str, title: str, meant: str) -> None:
        token = self.token
        fix = Fix(title, token.start, token.end, meant)
        self.findings.warning(code, message, start=token.start, end=token.end, fixes=[fix])

    def _missing_comma(self, opening: Token, closing: str) -> None:
        before = self.tokens[self.index - 1]
        alike = (before.text == "]" and self.text_now == "[") or before.kind == self.kind == "string"
        if not alike:
            self.expect(closing, opening)
        place = self.last_end
        self.findings.warning(
            "missing-comma",
            "A comma is missing between these two items.",
            start=place - 1,
            end=place,
            fixes=[Fix("Add ,", place, place, ",")],
        )

    def braced(self, opening: Token) -> ListOf:
        """`{a, b}`; the `{` is the current token."""
        self.enter(opening)
        self.advance()
        items = self.items(opening, "}")
        self.depth -= 1
        return ListOf(items, start=opening.start, end=self.last_end)

    def otherwise_bracketed(self, opening: Token, closing: str, first: Expression | None = None) -> ListOf:
        """A list in brackets of another kind; the current token is behind the opening one or `first`."""
        items = self.items(opening, closing, first)
        inside = self.source[opening.end : self.last_end - 1]
        self.findings.warning(
            "list-brackets",
            "A list stands in { }.",
            start=opening.start,
            end=self.last_end,
            fixes=[Fix("Write { }", opening.start, self.last_end, f"{{{inside}}}")],
        )
        return ListOf(items, start=opening.start, end=self.last_end)
