"""One statement, `name = value;`, with the slips that it is written with."""

from __future__ import annotations

import re

from broker_core.jdl.attributes.known import ATTRIBUTES
from broker_core.jdl.diagnostics import Fix
from broker_core.jdl.syntax.cursor import Unexpected, shown
from broker_core.jdl.syntax.expressions import ExpressionParser
from broker_core.jdl.syntax.tokens import Token, unquoted
from broker_core.jdl.syntax.tree import Ad, Entry, Expression, Literal

_BARE_VALUE = re.compile(
    r"[A-Za-z0-9][A-Za-z0-9._-]*(?::\d+)?(?:/[^\s;]*)?"
    r"(?=\s*(?:[;,\]#]|//|/\*|[A-Za-z_]\w*\s*=(?![=?!])|$))",
    re.MULTILINE,
)
"""Up to the end of the statement, whether its `;` is there or not, or up to a comment."""
_BARE_PATH = re.compile(r"(?:/|~/|\.{1,2}/|\$)[^\s;\"',{}()]*(?=[ \t]*(?:;|$))", re.MULTILINE)
_PATHS = frozenset("/~$.")
"""Signs with which a path begins that was written without quotes."""
_COMMENTS = frozenset("-%*!")
"""Signs with which other languages begin a comment."""
_PROMPTS = frozenset(">$")
"""Signs with which mails and shells begin a line."""
BARE = frozenset({"replicacatalog"})
"""Attributes whose value may stand without quotes (CB-JDL-04)."""


class Statements(ExpressionParser):
    """A cursor that reads statements; what stands around them is in the class that extends it."""

    def statement(self, ad: Ad) -> None:
        """Read one statement into the ad; raises Unexpected."""
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
        if name.text.lower() not in BARE or self.kind not in ("name", "number"):
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
