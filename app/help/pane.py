"""The help view: index and search at the left, the page at the right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QSize, Qt, QUrl
from PySide6.QtGui import (
    QDesktopServices,
    QFont,
    QFontMetrics,
    QResizeEvent,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextListFormat,
    QTextTable,
)
from PySide6.QtWidgets import (
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QTextBrowser,
    QVBoxLayout,
    QWidget,
)

from app.help.pages import HelpPage, pages, search
from app.theme.theme import BASE, Theme
from app.widgets.turning_splitter import TurningSplitter

if TYPE_CHECKING:
    from app.context import AppContext


_ABOVE = {0: 0, 1: 0, 2: 20, 3: 16}
_BELOW = {0: 8, 1: 12, 2: 6, 3: 4}
_BIGGER = {1: 7, 2: 3, 3: 1}
_WIDE = 520
"""Pixels from which on the list of pages stands beside the text."""
_LINE = 135
"""Line height in percent."""
_HOLLOW = (QTextListFormat.Style.ListCircle, QTextListFormat.Style.ListSquare)
"""What Qt makes of points that begin with `*` and `+`."""
_INDEX, _BESIDE = 232, 56
"""Pixels of the list of pages at least, and around its longest subject."""
_LONGEST_LINE = 760
"""Pixels of a line of text, in the usual size of letters; longer ones are hard to read."""
_STRONG = QTextCharFormat()
_STRONG.setFontWeight(QFont.Weight.DemiBold)


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
    points = cursor.currentList()
    spacing.setBottomMargin(0 if inside else 4 if points else _BELOW[level])
    spacing.setLineHeight(_LINE, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
    cursor.mergeBlockFormat(spacing)
    if points and points.format().style() in _HOLLOW:
        filled = QTextListFormat(points.format())
        filled.setStyle(QTextListFormat.Style.ListDisc)
        points.setFormat(filled)
    for bold in _bold_parts(block):
        bold.mergeCharFormat(_STRONG)
    if level:
        cursor.select(QTextCursor.SelectionType.BlockUnderCursor)
        head = QTextCharFormat()
        font = theme.font("strong")
        head.setProperty(QTextCharFormat.Property.FontPixelSize, font.pixelSize() + _BIGGER[level])
        head.setFontWeight(QFont.Weight.DemiBold)
        cursor.mergeCharFormat(head)


def _bold_parts(block: QTextBlock) -> list[QTextCursor]:
    """The parts of a block in a weight that the typeface does not have, and that Qt would smear."""
    found = []
    pieces = block.begin()
    while not pieces.atEnd():
        fragment = pieces.fragment()
        pieces += 1
        if fragment.charFormat().fontWeight() > QFont.Weight.DemiBold:
            cursor = QTextCursor(block)
            cursor.setPosition(fragment.position())
            cursor.setPosition(fragment.position() + fragment.length(), QTextCursor.MoveMode.KeepAnchor)
            found.append(cursor)
    return found


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


class HelpPane(QWidget):
    """Renders resources/help; links between pages and `action:` links work."""

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self._context = context
        self.setProperty("role", "surface")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.field = QLineEdit(placeholderText="Search help", clearButtonEnabled=True)
        self.field.setAccessibleName("Search help")
        self.index = QListWidget()
        self.index.setAccessibleName("Help pages")
        self.none = QLabel("No page has these words.", wordWrap=True)
        self.none.setProperty("role", "muted")
        self.text = QTextBrowser(openLinks=False)
        self.text.setAccessibleName("Help")
        self.text.viewport().installEventFilter(self)
        self._lay_out()
        self.field.textChanged.connect(self._search)
        self.index.currentItemChanged.connect(
            lambda item, _: self.show_page(item.data(256)) if item else None
        )
        self.text.anchorClicked.connect(self._follow)
        context.theme.changed.connect(self._again)
        self._shown = ""
        self._fill(list(pages()))
        self.show_page(pages()[0].name)

    def _lay_out(self) -> None:
        left = QVBoxLayout()
        left.setContentsMargins(12, 12, 12, 12)
        left.setSpacing(8)
        for part in (self.field, self.none, self.index):
            left.addWidget(part)
        side = self._side = QWidget()
        side.setLayout(left)
        self._widen()
        parts = TurningSplitter(_WIDE, (_INDEX, 600), (150, 350))
        parts.addWidget(side)
        parts.addWidget(self.text)
        parts.setStretchFactor(1, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(parts)
        self.text.document().setDocumentMargin(20)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep lines readable, however wide the page is."""
        if isinstance(event, QResizeEvent):
            most = round(_LONGEST_LINE * self._context.theme.size / BASE)
            self.text.setLineWrapMode(QTextBrowser.LineWrapMode.FixedPixelWidth)
            self.text.setLineWrapColumnOrWidth(min(most, event.size().width()))
        return super().eventFilter(watched, event)

    def _widen(self) -> None:
        """Let the list show the subjects of pages whole, in every size of text."""
        metrics = QFontMetrics(self._context.theme.font())
        longest = max(metrics.horizontalAdvance(page.subject) for page in pages())
        self._side.setMinimumWidth(max(_INDEX, longest + _BESIDE))

    def _fill(self, found: list[HelpPage]) -> None:
        self.index.clear()
        for page in found:
            item = QListWidgetItem(page.subject)
            item.setToolTip(page.title)
            item.setData(256, page.name)
            item.setSizeHint(QSize(0, self._context.theme.height()))
            self.index.addItem(item)
        self.none.setVisible(not found)

    def _search(self, wanted: str) -> None:
        found = search(wanted) if wanted.strip() else list(pages())
        self._fill(found)
        if found and wanted.strip():
            self.show_page(found[0].name)
            self.text.find(wanted.split()[0])

    def show_page(self, name: str) -> None:
        """Show a page by its name; an unknown one shows the first."""
        page = next((page for page in pages() if page.name == name), pages()[0])
        self._shown = page.name
        accent, code = self._context.theme.color("accent").name(), self._context.theme.color("sunken").name()
        self.text.document().setDefaultStyleSheet(
            f"a {{ color: {accent}; text-decoration: none; }} code {{ background: {code}; }}"
        )
        self.text.setMarkdown(page.text)
        set_in_type(self.text.document(), self._context.theme)
        self.text.verticalScrollBar().setValue(0)
        for row in range(self.index.count()):
            if self.index.item(row).data(256) == page.name:
                self.index.setCurrentRow(row)

    def _again(self) -> None:
        self._widen()
        self.show_page(self._shown)

    def _follow(self, link: QUrl) -> None:
        if link.scheme() == "action":
            self._context.trigger(link.path())
        elif link.scheme() in ("http", "https"):
            QDesktopServices.openUrl(link)
        else:
            self.show_page(link.path().removesuffix(".md"))
