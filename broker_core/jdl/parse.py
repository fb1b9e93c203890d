"""JDL text to a tree: every error at once, with its place; the slips of CB-JDL-04 are tolerated."""

from __future__ import annotations

import re
from dataclasses import dataclass

from broker_core.jdl import recover, slips
from broker_core.jdl.attributes import ATTRIBUTES
from broker_core.jdl.cursor import Unexpected, shown
from broker_core.jdl.diagnostics import Diagnostic, Findings, Fix
from broker_core.jdl.expressions import ExpressionParser
from broker_core.jdl.limits import DESCRIPTION_MAX, TOKENS_MAX
from broker_core.jdl.tokens import Token, tokenize, unquoted
from broker_core.jdl.tree import Ad, Entry, Expression, Literal

_NOT_TEXT = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_NOT_UNICODE = re.compile(r"[\ud800-\udfff]")
_BARE_VALUE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(?::\d+)?(?:/[^\s;]*)?(?=\s*(?:;|$))", re.MULTILINE)
_BARE_PATH = re.compile(r"(?:/|~/|\.{1,2}/|\$)[^\s;\"',{}()]*(?=[ \t]*(?:;|$))", re.MULTILINE)
_PATHS = frozenset("/~$.")
"""Signs with which a path begins that was written without quotes."""
_COMMENTS = frozenset("-%*!")
"""Signs with which other languages begin a comment."""
_PROMPTS = frozenset(">$")
"""Signs with which mails and shells begin a line."""
_SECOND = frozenset("=<>")
_BARE = frozenset({"replicacatalog"})
"""Attributes whose value may stand without quotes (CB-JDL-04)."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """The tree, as far as the text could be understood, and all that is wrong with it."""

    ad: Ad | None
    """None where there is nothing that could be read."""
    diagnostics: tuple[Diagnostic, ...]


def parse(text: str, *, description_max: int = DESCRIPTION_MAX) -> Parsed:
    """Read a description, with or without the outer brackets. Never raises; linear in time."""
    findings = Findings(text)
    ad = parse_into(findings, description_max)
    return Parsed(ad, findings.in_order())


def parse_into(findings: Findings, description_max: int = DESCRIPTION_MAX) -> Ad | None:
    """Read the text of `findings`; what is wrong is added to it."""
    text = findings.text
    if not _readable(findings, description_max):
        return None
    parser = Parser(text, _words(text, findings), findings)
    return parser.description()


def parse_expression(text: str) -> tuple[Expression | None, tuple[Diagnostic, ...]]:
    """Read one expression, e.g. the right side of Requirements."""
    findings = Findings(text)
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


def _readable(findings: Findings, description_max: int) -> bool:
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


def _words(text: str, findings: Findings) -> list[Token]:
    words: list[Token] = []
    for token in tokenize(text):
        if token.kind == "open-comment":
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


def _append(words: list[Token], token: Token, findings: Findings) -> None:
    if token.kind == "bad":
        meant = slips.look_alike(token, findings)
        if meant is not None:
            words.append(meant)
    elif token.text in _SECOND and words and (both := slips.joined(words[-1], token, findings)):
        words[-1] = both
    else:
        words.append(token)


_FATAL = frozenset({"too-deep", "too-long-list"})


class Parser(ExpressionParser):
    """Statements and ads; expressions are in the class it extends."""

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
                self._statement(ad)
            except Unexpected as problem:
                self.report(problem, first)
                self.depth = depth
                self.index = self._go_on(first)

    def _go_on(self, first: int) -> int:
        if self.stopped:
            return len(self.tokens) - 1
        return recover.next_statement(self.tokens, first, self.index, self.source)

    def _statement(self, ad: Ad) -> None:
        name = self.token
        if name.kind not in ("name", "quoted"):
            raise self._no_name(name)
        self.advance()
        self._equals(name)
        value_start = self.token.start
        value = self._bare_value(name) or self._value(name)
        text = name.text if name.kind == "name" else unquoted(name.text)
        entry = Entry(text, value, name.start, name.end, value_start, self.last_end)
        self._statement_end()
        entry.end = self.last_end
        self._keep(ad, entry)

    def _no_name(self, token: Token) -> Unexpected:
        """The error for a statement that begins with no name; other languages' comments are told of."""
        message = f"Expected the name of an attribute, found {shown(token)}."
        fixes = []
        end = token.end
        while self.source[end : end + 1] == token.text:
            end += 1
        if token.text in _COMMENTS | _PROMPTS and not self.source[: token.start].rpartition("\n")[2].strip():
            if token.text in _PROMPTS:
                message = f"A statement begins with a name; leave out the `{token.text}` before it."
                fixes = [Fix("Remove it", token.start, end, "")]
            else:
                message = "A comment begins with // or #."
                fixes = [Fix("Make it a comment", token.start, end, "//")]
        return Unexpected("expected-name", message, token, fixes=fixes)

    def _value(self, name: Token) -> Expression:
        """The value of a statement; strings behind each other are one, as in ClassAds."""
        token = self.token
        known = ATTRIBUTES.get(name.text.lower())
        if token.text in _PATHS and known is not None and "string" in known.types:
            found = _BARE_PATH.match(self.source, token.start)
            if found is not None:
                message = f"The value of {name.text} must stand in double quotes."
                fix = Fix("Put it in double quotes", found.start(), found.end(), f'"{found.group()}"')
                raise Unexpected("unquoted-value", message, token, name.text, [fix])
        value = self.expression()
        while self.kind == "string" and isinstance(value, Literal) and isinstance(value.value, str):
            value = Literal(value.value + unquoted(self.token.text), start=value.start, end=self.token.end)
            self.advance()
        return value

    def _equals(self, name: Token) -> None:
        token = self.token
        if token.text == "==":
            self.findings.warning(
                "double-equals",
                f"`==` compares; `=` gives {name.text} its value.",
                start=token.start,
                end=token.end,
                attribute=name.text,
                fixes=[Fix("Write =", token.start, token.end, "=")],
            )
        elif token.text != "=":
            raise self._no_equals(name, token)
        self.advance()

    @staticmethod
    def _no_equals(name: Token, token: Token) -> Unexpected:
        message = f"Expected `=` behind {name.text}, found {shown(token)}."
        fixes = []
        if token.text == ":":
            fixes = [Fix("Write =", token.start, token.end, " =")]
        elif token.text == "-" and token.start == name.end:
            message = f"A name holds letters, digits and _ only; `{name.text}-` cannot begin one."
        return Unexpected("expected-equals", message, token, name.text, fixes)

    def _bare_value(self, name: Token) -> Literal | None:
        if name.text.lower() not in _BARE or self.kind not in ("name", "number"):
            return None
        found = _BARE_VALUE.match(self.source, self.token.start)
        if found is None:
            return None
        self.findings.warning(
            "unquoted-value",
            f"The value of {name.text} should stand in double quotes.",
            start=found.start(),
            end=found.end(),
            attribute=name.text,
            fixes=[Fix("Put it in double quotes", found.start(), found.end(), f'"{found.group()}"')],
        )
        while self.token.start < found.end():
            self.advance()
        return Literal(found.group(), start=found.start(), end=found.end())

    def _statement_end(self) -> None:
        token = self.token
        if token.text == ";":
            self.advance()
        elif token.text == "," and self._statement_at(self.index + 1):
            self.advance()
            self.findings.warning(
                "semicolon-not-comma",
                "Statements are ended by `;`, not by a comma.",
                start=token.start,
                end=token.end,
                fixes=[Fix("Write ;", token.start, token.end, ";")],
            )
        elif self._statement_at(self.index):
            self.findings.warning(
                "missing-semicolon",
                "A `;` is missing at the end of this statement.",
                start=self.last_end - 1,
                end=self.last_end,
                fixes=[Fix("Add ;", self.last_end, self.last_end, ";")],
            )
        elif token.text != "]" and token.kind != "end":
            raise self.unexpected_operator(token)

    def _statement_at(self, index: int) -> bool:
        """A name with its `=` stands here."""
        if self.tokens[index].kind not in ("name", "quoted"):
            return False
        return self.tokens[index + 1].text in ("=", "==")

    def _keep(self, ad: Ad, entry: Entry) -> None:
        key = entry.name.lower()
        if key in ad.entries:
            line = self.source.count("\n", 0, ad.entries[key].start) + 1
            self.findings.error(
                "duplicate-attribute",
                f"{entry.name} is given twice; the first one is in line {line}.",
                start=entry.start,
                end=entry.name_end,
                attribute=entry.name,
                fixes=[Fix("Remove this one", entry.start, entry.end, "")],
            )
        else:
            ad.entries[key] = entry

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
