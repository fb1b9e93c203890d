"""Colours of a description: the words of each line in the theme's colours."""

from __future__ import annotations

from PySide6.QtGui import QFont, QSyntaxHighlighter, QTextCharFormat, QTextDocument

from app.description.lexical import words
from app.theme.theme import Theme

TOKENS = {
    "comment": "code-comment",
    "string": "code-string",
    "number": "code-number",
    "constant": "code-keyword",
    "scope": "code-reference",
    "function": "code-function",
    "attribute": "code-attribute",
    "operator": "code-operator",
    "end": "code-operator",
}
"""Kind of word to the theme token of its colour; other kinds keep the colour of text."""

_LONGEST = 4000
"""Characters beyond which a line is not coloured, so that an enormous one cannot stall the window."""
_IN_COMMENT = 1


class Highlighter(QSyntaxHighlighter):
    """Colours one document; follows the theme."""

    def __init__(self, document: QTextDocument, theme: Theme) -> None:
        super().__init__(document)
        self._theme = theme
        self._formats: dict[str, QTextCharFormat] = {}
        self._read_theme()
        theme.changed.connect(self._theme_changed)

    def highlightBlock(self, text: str) -> None:
        """Colour one line; a comment that stays open goes on in the next one."""
        self.setCurrentBlockState(0)
        start = self._rest_of_comment(text) if self.previousBlockState() == _IN_COMMENT else 0
        if len(text) > _LONGEST:
            return
        for word in words(" " * start + text[start:] if start else text):
            if word.kind in self._formats:
                self.setFormat(word.start, word.end - word.start, self._formats[word.kind])
            if word.kind == "comment" and word.open:
                self.setCurrentBlockState(_IN_COMMENT)

    def _rest_of_comment(self, text: str) -> int:
        close = text.find("*/")
        end = len(text) if close < 0 else close + 2
        self.setFormat(0, end, self._formats["comment"])
        if close < 0:
            self.setCurrentBlockState(_IN_COMMENT)
        return end

    def _read_theme(self) -> None:
        for kind, token in TOKENS.items():
            style = QTextCharFormat()
            style.setForeground(self._theme.color(token))
            style.setFontItalic(kind == "comment")
            style.setFontWeight(QFont.Weight.Bold if kind == "attribute" else QFont.Weight.Normal)
            self._formats[kind] = style

    def _theme_changed(self) -> None:
        self._read_theme()
        self.rehighlight()
