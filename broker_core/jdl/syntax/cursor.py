"""Where a parser stands in the tokens of a text, and what it says when it cannot go on."""

from __future__ import annotations

from collections.abc import Sequence

from broker_core.jdl.diagnostics import DiagnosticList, Fix
from broker_core.jdl.limits import DEPTH_MAX
from broker_core.jdl.syntax.tokens import Token


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


class TokenCursor:
    """Where the parser stands, and how it goes on."""

    def __init__(self, source: str, tokens: list[Token], findings: DiagnosticList) -> None:
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
            place = self.last_end
            fix = Fix(f"Add {text}", place, place, text)
            raise Unexpected(code, message, opening if self.kind == "end" else self.token, fixes=[fix])
        self.advance()
