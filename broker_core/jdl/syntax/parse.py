"""JDL text to a tree: every error at once, with its place; the slips of CB-JDL-04 are tolerated."""

from __future__ import annotations

import re
from dataclasses import dataclass

from broker_core.jdl.diagnostics import Diagnostic, DiagnosticList, Fix
from broker_core.jdl.limits import DESCRIPTION_MAX, TOKENS_MAX
from broker_core.jdl.syntax import parse as recover
from broker_core.jdl.syntax import slips
from broker_core.jdl.syntax.cursor import Unexpected, shown
from broker_core.jdl.syntax.statements import Statements
from broker_core.jdl.syntax.tokens import Token, tokenize
from broker_core.jdl.syntax.tree import Ad, Expression

_OPENING = frozenset("[({")
_CLOSING = frozenset("])}")
_NOT_TEXT = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_NOT_UNICODE = re.compile(r"[\ud800-\udfff]")
_SECOND = frozenset("=<>")
_PLAIN = frozenset({"name", "string", "number", "quoted"})
_FATAL = frozenset({"too-deep", "too-long-list"})


def next_statement(tokens: list[Token], first: int, at: int, text: str) -> int:
    """Index of the token to go on with, given a statement from token `first` that failed at token `at`.

    That is behind the `;` that ends the statement, at the `]` that ends its ad, or at a name with `=` that
    begins a line. It lies behind `first`, so that parsing always comes forward.
    """
    open_brackets = _depth(tokens, first, at)
    index = max(at, first)
    while tokens[index].kind != "end":
        word = tokens[index].text
        if open_brackets <= 0 and word == "]":
            break
        if open_brackets <= 0 and word == ";":
            return index + 1
        if index > first and _begins_statement(tokens, index, text) and open_brackets <= 0:
            break
        if word in _OPENING:
            open_brackets += 1
        elif word in _CLOSING:
            open_brackets -= 1
        index += 1
    if tokens[index].kind == "end" and (again := _line_start(tokens, first, text)):
        return again
    return index


def _depth(tokens: list[Token], first: int, at: int) -> int:
    words = [token.text for token in tokens[first:at]]
    return sum(word in _OPENING for word in words) - sum(word in _CLOSING for word in words)


def _begins_statement(tokens: list[Token], index: int, text: str) -> bool:
    token = tokens[index]
    if token.kind != "name" or tokens[index + 1].text not in ("=", "=="):
        return False
    return "\n" in text[tokens[index - 1].end : token.start]


def _line_start(tokens: list[Token], first: int, text: str) -> int | None:
    """A bracket was never closed: the next line behind `first` that begins like a statement."""
    for index in range(first + 1, len(tokens) - 1):
        if _begins_statement(tokens, index, text):
            return index
    return None


@dataclass(frozen=True, slots=True)
class Parsed:
    """The tree, as far as the text could be understood, and all that is wrong with it."""

    ad: Ad | None
    """None where there is nothing that could be read."""
    diagnostics: tuple[Diagnostic, ...]


def parse(text: str, *, description_max: int = DESCRIPTION_MAX) -> Parsed:
    """Read a description, with or without the outer brackets. Never raises; linear in time."""
    findings = DiagnosticList(text)
    ad = parse_into(findings, description_max)
    return Parsed(ad, findings.in_order())


def parse_into(findings: DiagnosticList, description_max: int = DESCRIPTION_MAX) -> Ad | None:
    """Read the text of `findings`; what is wrong is added to it."""
    text = findings.text
    if not _readable(findings, description_max):
        return None
    parser = Parser(text, _words(text, findings), findings)
    return parser.description()


def parse_expression(text: str) -> tuple[Expression | None, tuple[Diagnostic, ...]]:
    """Read one expression, e.g. the right side of Requirements."""
    findings = DiagnosticList(text)
    if not _readable(findings, DESCRIPTION_MAX):
        return None, findings.in_order()
    parser = Parser(text, _words(text, findings), findings)
    try:
        tree = parser.expression()
        if parser.kind != "end":
            raise Unexpected(
                "unexpected", f"Expected an operator, found {shown(parser.token)}.", parser.token
            )
    except Unexpected as problem:
        parser.report(problem)
        return None, findings.in_order()
    return tree, findings.in_order()


def _readable(findings: DiagnosticList, description_max: int) -> bool:
    text = findings.text
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    if size > description_max:
        findings.error(
            "too-large",
            f"The description has {size:,} bytes; at most {description_max:,} are accepted.",
        )
        return False
    if wrong := _NOT_TEXT.search(text):
        findings.error(
            "not-text",
            f"The description is not text: it holds the control character {ord(wrong.group())}.",
            start=wrong.start(),
            end=wrong.end(),
        )
        return False
    if wrong := _NOT_UNICODE.search(text):
        findings.error(
            "bad-encoding",
            "The description is not in UTF-8; save it with that encoding.",
            start=wrong.start(),
            end=wrong.end(),
        )
        return False
    return True


def _words(text: str, findings: DiagnosticList) -> list[Token]:
    words: list[Token] = []
    for token in tokenize(text):
        if token.kind in _PLAIN:
            words.append(token)
        elif token.kind == "open-comment":
            findings.error(
                "unterminated-comment",
                "The comment that begins here has no end.",
                start=token.start,
                end=token.start + 2,
                fixes=[Fix("End the comment with */", token.end, token.end, " */")],
            )
        elif token.kind != "comment":
            _append(words, token, findings)
        if len(words) > TOKENS_MAX:
            findings.error("too-large", f"The description has more than {TOKENS_MAX:,} words and signs.")
            words.clear()
            break
    words.append(Token("end", "", len(text), len(text)))
    return words


def _append(words: list[Token], token: Token, findings: DiagnosticList) -> None:
    if token.kind == "bad":
        meant = slips.look_alike(token, findings)
        if meant is not None:
            words.append(meant)
    elif token.text in _SECOND and words and (both := slips.joined(words[-1], token, findings)):
        words[-1] = both
    else:
        words.append(token)


class Parser(Statements):
    """Ads, made of statements."""

    def description(self) -> Ad:
        """The whole text."""
        bracketed = self.text_now == "["
        opening = self.token
        if bracketed:
            self.advance()
        ad = Ad(start=opening.start)
        self.statements(ad)
        if bracketed and self.text_now == "]":
            self.advance()
        elif bracketed and not self.stopped:
            self._unclosed(opening)
        while self.text_now == ";":
            self.advance()
        ad.end = self.last_end
        if self.kind != "end":
            self._text_after_end(bracketed)
        return ad

    def ad(self) -> Ad:
        """A nested ad; the `[` is the current token."""
        opening = self.token
        self.enter(opening)
        self.advance()
        ad = Ad(start=opening.start)
        self.statements(ad)
        if self.text_now != "]":
            raise Unexpected("unclosed", f"Expected `]`, found {shown(self.token)}.", opening)
        self.advance()
        self.depth -= 1
        ad.end = self.last_end
        return ad

    def statements(self, ad: Ad) -> None:
        """`name = value;` until the end of the ad; an error costs one statement only."""
        while not self.findings.full:
            while self.text_now == ";":
                self.advance()
            if self.kind == "end" or self.text_now == "]":
                return
            first = self.index
            depth = self.depth
            try:
                self.statement(ad)
            except Unexpected as problem:
                self.report(problem, first)
                self.depth = depth
                self.index = self._go_on(first)

    def _go_on(self, first: int) -> int:
        if self.stopped:
            return len(self.tokens) - 1
        return recover.next_statement(self.tokens, first, self.index, self.source)

    def _unclosed(self, opening: Token) -> None:
        end = len(self.source)
        self.findings.error(
            "unclosed",
            "The `[` that opens the description is never closed.",
            start=opening.start,
            end=opening.end,
            fixes=[Fix("Add ] at the end", end, end, "\n]\n")],
        )

    def _text_after_end(self, bracketed: bool) -> None:
        token = self.token
        message = f"The description ends before this; found {shown(token)} behind its `]`."
        fixes = []
        if not bracketed and token.text == "]":
            message = "No `[` stands before this `]`."
            fixes = [Fix("Remove it", token.start, token.end, "")]
        self.findings.error("text-after-end", message, start=token.start, end=token.end, fixes=fixes)

    def report(self, problem: Unexpected, first: int = 0) -> None:
        """Add a syntax error in the statement from token `first` on; too deep or too long a text is read
        no further."""
        token = problem.token
        if self.stopped:
            return
        self.findings.error(
            problem.code,
            problem.message,
            start=token.start,
            end=token.end,
            attribute=problem.attribute,
            fixes=problem.fixes,
        )
        self.stopped = problem.code in _FATAL
        statement = self.tokens[first]
        if statement.kind == "name":
            self.findings.unread.add(statement.text.lower())
