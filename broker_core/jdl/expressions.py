"""Expressions: operators by precedence with an explicit stack, brackets by recursion up to a depth."""

from __future__ import annotations

from collections.abc import Sequence

from broker_core.jdl.diagnostics import Findings, Fix
from broker_core.jdl.limits import DEPTH_MAX, LIST_MAX
from broker_core.jdl.tokens import KEYWORDS, Token, quoted, unquoted
from broker_core.jdl.tree import (
    ERROR,
    UNDEFINED,
    Ad,
    Binary,
    Call,
    Conditional,
    Expression,
    ListOf,
    Literal,
    Reference,
    Scalar,
    Subscript,
    Unary,
)

PRECEDENCE = {
    "||": 1,
    "&&": 2,
    "|": 3,
    "^": 4,
    "&": 5,
    "==": 6,
    "!=": 6,
    "=?=": 6,
    "=!=": 6,
    "is": 6,
    "isnt": 6,
    "<": 7,
    "<=": 7,
    ">": 7,
    ">=": 7,
    "<<": 8,
    ">>": 8,
    ">>>": 8,
    "+": 9,
    "-": 9,
    "*": 10,
    "/": 10,
    "%": 10,
}
"""Binary operators; a higher number binds closer. All group from the left."""
SIGNS = frozenset("-+!~")
_WORDS: dict[str, Scalar] = {"true": True, "false": False, "undefined": UNDEFINED, "error": ERROR}
_MEANT = {"and": "&&", "or": "||"}
_SPELT = {"is": "=?=", "isnt": "=!="}
_INTEGER_MAX = (1 << 63) - 1


class Unexpected(Exception):
    """A syntax error; ends the statement that it is in."""

    def __init__(
        self, code: str, message: str, token: Token, attribute: str = "", fixes: Sequence[Fix] = ()
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.token = token
        self.attribute = attribute
        self.fixes = fixes


def shown(token: Token) -> str:
    """The token for an error message."""
    if token.kind == "end":
        return "the end of the text"
    text = token.text if len(token.text) <= 30 else f"{token.text[:27]}..."
    return f"`{text}`"


class ExpressionParser:
    """A cursor over the tokens, and all kinds of expressions."""

    def __init__(self, source: str, tokens: list[Token], findings: Findings) -> None:
        self.source = source
        self.tokens = tokens
        self.findings = findings
        self.index = 0
        self.depth = 0
        self.stopped = False
        """Too deep or too long: the rest is not read."""

    @property
    def token(self) -> Token:
        """The current token."""
        return self.tokens[self.index]

    @property
    def text_now(self) -> str:
        """Its text. Only an operator can look like one, so the text alone tells."""
        return self.tokens[self.index].text

    @property
    def kind(self) -> str:
        """Its kind."""
        return self.tokens[self.index].kind

    @property
    def last_end(self) -> int:
        """Where the token before the current one ends."""
        return self.tokens[self.index - 1].end if self.index else 0

    def advance(self) -> None:
        """Go to the next token; the end stays the end."""
        if self.tokens[self.index].kind != "end":
            self.index += 1

    def enter(self, token: Token) -> None:
        """One level deeper; refused where it would be too deep."""
        self.depth += 1
        if self.depth > DEPTH_MAX:
            raise Unexpected("too-deep", f"Brackets and signs are nested more than {DEPTH_MAX} deep.", token)

    def expect(self, text: str, opening: Token) -> None:
        """The bracket that closes `opening` must be here."""
        if self.text_now != text:
            message = f"Expected `{text}`, found {shown(self.token)}."
            code = "unclosed" if self.kind == "end" else "unexpected"
            raise Unexpected(code, message, opening if self.kind == "end" else self.token)
        self.advance()

    def expression(self) -> Expression:
        """Any expression: `test ? yes : no` binds least."""
        following = self.tokens[self.index + 1].text if self.kind != "end" else ""
        if following in (";", ",", "}") and (value := self._literal(self.token)) is not None:
            self.index += 1
            return value
        test = self._binary()
        if self.text_now == "?:":
            return self._conditional(test, elvis=True)
        return self._conditional(test, elvis=False) if self.text_now == "?" else test

    def _conditional(self, test: Expression, elvis: bool) -> Conditional:
        opening = self.token
        self.enter(opening)
        self.advance()
        yes = None
        if not elvis and self.text_now != ":":
            yes = self.expression()
        if not elvis:
            self.expect(":", opening)
        no = self.expression()
        self.depth -= 1
        return Conditional(test, yes, no, start=test.start, end=no.end)

    def _binary(self) -> Expression:
        operands = [self._operand()]
        operators: list[tuple[str, int]] = []
        while (operator := self._operator()) is not None:
            binding = PRECEDENCE[operator]
            while operators and operators[-1][1] >= binding:
                self._reduce(operands, operators)
            self.advance()
            operators.append((_SPELT.get(operator, operator), binding))
            operands.append(self._operand())
        while operators:
            self._reduce(operands, operators)
        return operands[0]

    @staticmethod
    def _reduce(operands: list[Expression], operators: list[tuple[str, int]]) -> None:
        right = operands.pop()
        left = operands.pop()
        operands.append(Binary(operators.pop()[0], left, right, start=left.start, end=right.end))

    def _operator(self) -> str | None:
        token = self.tokens[self.index]
        if token.text in PRECEDENCE:
            return token.text
        if token.kind == "name":
            word = token.text.lower()
            if word in _SPELT:
                return word
            if word in _MEANT and self.tokens[self.index + 1].text not in ("=", "=="):
                return self._slip(token, _MEANT[word], "word-operator")
        elif token.text == "=":
            return self._slip(token, "==", "single-equals")
        return None

    def _slip(self, token: Token, meant: str, code: str) -> str:
        self.findings.error(
            code,
            f"`{token.text}` is no operator; write `{meant}`.",
            start=token.start,
            end=token.end,
            fixes=[Fix(f"Write {meant}", token.start, token.end, meant)],
        )
        return meant

    def _operand(self) -> Expression:
        token = self.tokens[self.index]
        if token.text in SIGNS:
            self.enter(token)
            self.advance()
            operand = self._operand()
            self.depth -= 1
            return Unary(token.text, operand, start=token.start, end=operand.end)
        value = self._primary(token)
        return self._postfix(value) if self.text_now in (".", "[") else value

    def _postfix(self, value: Expression) -> Expression:
        links = 0
        while True:
            token = self.token
            if token.text == ".":
                value = self._member(value)
            elif token.text == "[" and not self._neighbour(value):
                self.enter(token)
                self.advance()
                index = self.expression()
                self.expect("]", token)
                self.depth -= 1
                value = Subscript(value, index, start=value.start, end=self.last_end)
            else:
                return value
            links += 1
            if links > DEPTH_MAX:
                raise Unexpected("too-deep", f"More than {DEPTH_MAX} `.` or `[...]` in a row.", token)

    def _neighbour(self, value: Expression) -> bool:
        """The `[` here opens another ad, with the comma before it forgotten (CB-JDL-04)."""
        following = self.tokens[self.index + 1 : self.index + 3]
        if not following or following[0].text == "]":
            return True
        opens_ad = len(following) == 2 and following[1].text in ("=", "==")
        return isinstance(value, Ad) and following[0].kind in ("name", "quoted") and opens_ad

    def _member(self, scope: Expression) -> Reference:
        self.advance()
        name = self.token
        if name.kind not in ("name", "quoted"):
            raise Unexpected("expected-name", f"Expected a name behind `.`, found {shown(name)}.", name)
        self.advance()
        text = name.text if name.kind == "name" else unquoted(name.text)
        return Reference(text, scope, start=scope.start, end=name.end)

    def _primary(self, token: Token) -> Expression:
        if (value := self._literal(token)) is not None:
            self.index += 1
            return value
        match token.kind, token.text:
            case "name", _:
                return self._named(token)
            case "quoted", _:
                self.advance()
                return Reference(unquoted(token.text), quoted=True, start=token.start, end=token.end)
            case _, "(":
                return self._grouped(token)
            case _, "{":
                return self._list(token)
            case _, "[":
                return self.ad()
            case _, ".":
                return self._absolute(token)
        raise self._no_value(token)

    def _no_value(self, token: Token) -> Unexpected:
        if token.kind == "open":
            body = token.text.rstrip().removesuffix(";").rstrip()
            place = token.start + len(body)
            fix = Fix('Add "', place, place, '"')
            return Unexpected("unterminated-string", "This string has no closing quote.", token, fixes=[fix])
        return Unexpected("expected-value", f"Expected a value, found {shown(token)}.", token)

    def unexpected_operator(self, token: Token) -> Unexpected:
        """The error for a token that cannot follow a complete value."""
        if token.kind == "open":
            return self._no_value(token)
        return Unexpected("unexpected", f"Expected `;` or an operator, found {shown(token)}.", token)

    def _literal(self, token: Token) -> Literal | None:
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
        value = token.text[1:-1]
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

    def _named(self, name: Token) -> Expression:
        if name.text.lower() in KEYWORDS:
            raise Unexpected("expected-value", f"Expected a value, found the operator `{name.text}`.", name)
        self.advance()
        if self.text_now != "(":
            return Reference(name.text, start=name.start, end=name.end)
        opening = self.token
        self.enter(opening)
        self.advance()
        arguments = self._items(opening, ")")
        self.depth -= 1
        return Call(name.text, arguments, start=name.start, end=self.last_end)

    def _absolute(self, token: Token) -> Reference:
        self.advance()
        name = self.token
        if name.kind not in ("name", "quoted"):
            raise Unexpected("expected-name", f"Expected a name behind `.`, found {shown(name)}.", name)
        self.advance()
        return Reference(name.text, absolute=True, start=token.start, end=name.end)

    def _grouped(self, opening: Token) -> Expression:
        self.enter(opening)
        self.advance()
        value = self.expression()
        self.expect(")", opening)
        self.depth -= 1
        return value

    def _list(self, opening: Token) -> ListOf:
        self.enter(opening)
        self.advance()
        items = self._items(opening, "}")
        self.depth -= 1
        return ListOf(items, start=opening.start, end=self.last_end)

    def _items(self, opening: Token, closing: str) -> list[Expression]:
        items: list[Expression] = []
        while self.text_now != closing:
            items.append(self.expression())
            if len(items) > LIST_MAX:
                raise Unexpected("too-long-list", f"A list can have at most {LIST_MAX:,} items.", opening)
            if self.text_now == ",":
                self.advance()
                if self.text_now == closing:
                    self._comma_slip("trailing-comma", "A comma with nothing behind it.", "Remove it", -1)
            elif self.text_now != closing:
                self._missing_comma(opening, closing)
        self.advance()
        return items

    def _missing_comma(self, opening: Token, closing: str) -> None:
        before = self.tokens[self.index - 1]
        alike = (before.text == "]" and self.text_now == "[") or before.kind == self.kind == "string"
        if not alike:
            self.expect(closing, opening)
        self._comma_slip("missing-comma", "A comma is missing between these two items.", "Add ,", 0)

    def _comma_slip(self, code: str, message: str, title: str, offset: int) -> None:
        place = self.last_end
        fix = Fix(title, place + offset, place, "" if offset else ",")
        self.findings.warning(code, message, start=place - 1, end=place, fixes=[fix])

    def ad(self) -> Ad:
        """A nested ad."""
        raise Unexpected("unexpected", "No ad can stand here.", self.token)
