"""Expressions: operators by precedence with an explicit stack, brackets by recursion up to a depth."""

from __future__ import annotations

import re

from broker_core.jdl.diagnostics import Fix
from broker_core.jdl.limits import DEPTH_MAX
from broker_core.jdl.syntax.cursor import Unexpected, shown
from broker_core.jdl.syntax.lists import Lists
from broker_core.jdl.syntax.tokens import KEYWORDS, Token, unquoted
from broker_core.jdl.syntax.tree import (
    Ad,
    Binary,
    Call,
    Conditional,
    Expression,
    Literal,
    Reference,
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
_MEANT = {"and": "&&", "or": "||"}
_TIMES = {
    "absTime": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:Z|[-+]\d\d:?\d\d)?", re.ASCII),
    "relTime": re.compile(r"-?(?:\d+\+\d?\d:\d\d:\d\d|\d?\d:\d\d:\d\d)(?:\.\d+)?", re.ASCII),
}
"""Times in single quotes, by the function that reads them."""
_SPELT = {"is": "=?=", "isnt": "=!="}


class ExpressionParser(Lists):
    """All kinds of expressions."""

    def expression(self) -> Expression:
        """Any expression: `test ? yes : no` binds least."""
        following = self.tokens[self.index + 1].text if self.kind != "end" else ""
        if following in (";", ",", "}") and (value := self.literal(self.token)) is not None:
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
                return self._slip_of_operator(token, _MEANT[word], "word-operator")
        elif token.text == "=":
            return self._slip_of_operator(token, "==", "single-equals")
        return None

    def _slip_of_operator(self, token: Token, meant: str, code: str) -> str:
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
        sign = token.text
        if sign.lower() == "not" and self._negates():
            sign = self._slip_of_operator(token, "!", "word-operator")
        if sign in SIGNS:
            self.enter(token)
            self.advance()
            operand = self._operand()
            self.depth -= 1
            return Unary(sign, operand, start=token.start, end=operand.end)
        value = self._primary(token)
        return self._postfix(value) if self.text_now in (".", "[") else value

    def _negates(self) -> bool:
        """The word `not` here stands before what it negates."""
        following = self.tokens[self.index + 1]
        return following.kind in ("name", "string", "number") or following.text in ("(", "!", ".")

    def _postfix(self, value: Expression) -> Expression:
        links = 0
        while True:
            token = self.token
            if token.text == ".":
                value = self._member(value)
            elif token.text == "[" and not self._neighbor(value):
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

    def _neighbor(self, value: Expression) -> bool:
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
        if (value := self.literal(token)) is not None:
            self.index += 1
            return value
        match token.kind, token.text:
            case "name", _:
                return self._named(token)
            case "quoted", _:
                return self._quoted(token)
            case _, "(":
                return self._grouped(token)
            case _, "{":
                return self.braced(token)
            case _, "[":
                return self._square(token)
            case _, ".":
                return self._absolute(token)
        raise self._no_value(token)

    def _quoted(self, token: Token) -> Expression:
        """A name in single quotes; or a point or span of time, as older descriptions write them."""
        self.advance()
        text = unquoted(token.text)
        for function, form in _TIMES.items():
            if form.fullmatch(text):
                written = Literal(text, start=token.start, end=token.end)
                return Call(function, [written], start=token.start, end=token.end)
        return Reference(text, quoted=True, start=token.start, end=token.end)

    def _square(self, opening: Token) -> Expression:
        """An ad; or a list in the brackets of one."""
        if not self._items_at(self.index + 1):
            return self.ad()
        self.enter(opening)
        self.advance()
        found = self.otherwise_bracketed(opening, "]")
        self.depth -= 1
        return found

    def _items_at(self, index: int) -> bool:
        """An item of a list stands here, not the name of an attribute."""
        first = self.tokens[index]
        if first.kind == "quoted":
            return self.tokens[index + 1].text in (",", "]")
        return first.kind in ("string", "number", "curly")

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
        message = f"Expected `;` or an operator, found {shown(token)}."
        fixes = []
        before = self.tokens[self.index - 1]
        if token.text in ("}", ")"):
            message = f"This `{token.text}` closes nothing."
            fixes = [Fix("Remove it", token.start, token.end, "")]
        elif before.kind == "number" and token.kind == "name" and before.end == token.start:
            whole = before.text + token.text
            message = f"`{whole}` is no number; write a text in double quotes, or a number alone."
            fixes = [Fix("Put it in double quotes", before.start, token.end, f'"{whole}"')]
        return Unexpected("unexpected", message, token, fixes=fixes)

    def _named(self, name: Token) -> Expression:
        if name.text.lower() in KEYWORDS:
            raise Unexpected("expected-value", f"Expected a value, found the operator `{name.text}`.", name)
        self.advance()
        if self.text_now != "(":
            return Reference(name.text, start=name.start, end=name.end)
        opening = self.token
        self.enter(opening)
        self.advance()
        arguments = self.items(opening, ")")
        self.depth -= 1
        return Call(name.text, arguments, start=name.start, end=self.last_end)

    def _absolute(self, token: Token) -> Reference:
        self.advance()
        name = self.token
        if name.kind not in ("name", "quoted"):
            raise Unexpected("expected-name", f"Expected a name behind `.`, found {shown(name)}.", name)
        self.advance()
        text = unquoted(name.text) if name.kind == "quoted" else name.text
        return Reference(text, absolute=True, start=token.start, end=name.end)

    def _grouped(self, opening: Token) -> Expression:
        self.enter(opening)
        self.advance()
        value = self.expression()
        if self.text_now == "," and isinstance(value, Literal):
            value = self.otherwise_bracketed(opening, ")", value)
        else:
            self.expect(")", opening)
        self.depth -= 1
        return value

    def ad(self) -> Ad:
        """A nested ad."""
        raise Unexpected("unexpected", "No ad can stand here.", self.token)
