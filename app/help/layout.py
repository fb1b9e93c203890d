"""Spacing and sizes of a help page, which Markdown says nothing about."""

from __future__ import annotations

from PySide6.QtGui import (
    QFont,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextTable,
)

from app.theme.theme import Theme

_ABOVE = {0: 0, 1: 0, 2: 20, 3: 16}
_BELOW = {0: 8, 1: 12, 2: 6, 3: 4}
_BIGGER = {1: 7, 2: 3, 3: 1}
_LINE = 135
"""Line height in percent."""


def set_in_type(document: QTextDocument, theme: Theme) -> None:
    """Give headings, paragraphs, lists and tables of a document their sizes and distances."""
    block = document.begin()
    while block.isValid():
        _set_block(block, theme)
        block = block.next()
    for frame in document.rootFrame().childFrames():
        if isinstance(frame, QTextTable):
            _set_table(frame, theme)


def _set_block(block: QTextBlock, theme: Theme) -> None:
    cursor = QTextCursor(block)
    inside = cursor.currentTable() is not None
    level = min(3, block.blockFormat().headingLevel())
    spacing = QTextBlockFormat()
    spacing.setTopMargin(0 if inside else _ABOVE[level])
    spacing.setBottomMargin(0 if inside else 4 if cursor.currentList() else _BELOW[level])
    spacing.setLineHeight(_LINE, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
    cursor.mergeBlockFormat(spacing)
    if level:
        cursor.select(QTextCursor.SelectionType.BlockUnderCursor)
        head = QTextCharFormat()
        font = theme.font("strong")
        head.setProperty(QTextCharFormat.Property.FontPixelSize, font.pixelSize() + _BIGGER[level])
        head.setFontWeight(QFont.Weight.DemiBold)
        cursor.mergeCharFormat(head)


def _set_table(table: QTextTable, theme: Theme) -> None:
    look = table.format()
    look.setCellPadding(6)
    look.setCellSpacing(0)
    look.setBorder(1)
    look.setBorderCollapse(True)
    look.setBorderBrush(theme.color("border"))
    look.setTopMargin(4)
    look.setBottomMargin(12)
    table.setFormat(look)
