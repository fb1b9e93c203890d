"""Going from one pane of the window to the next by a key, also out of a console."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget


def step_pane(panes: Iterable[QWidget | None], step: int) -> QWidget | None:
    """Give the keyboard to the pane after (step 1) or before (-1) the one that has it; returns that pane.

    Panes that cannot be seen, or have nothing to focus, are passed over.
    """
    shown = [pane for pane in panes if pane is not None and pane.isVisible()]
    focused = QApplication.focusWidget()
    here = next((index for index, pane in enumerate(shown) if _holds(pane, focused)), -1 if step > 0 else 0)
    order = [shown[(here + step * (away + 1)) % len(shown)] for away in range(len(shown))] if shown else []
    return next((pane for pane in order if _enter(pane)), None)


def _holds(pane: QWidget, focused: QWidget | None) -> bool:
    return focused is not None and (pane is focused or pane.isAncestorOf(focused))


def _enter(pane: QWidget) -> bool:
    """Focus what had the keyboard here last, or else the first that can have it."""
    last = pane.focusWidget()
    for one in filter(None, (last, *_in_order(pane))):
        if one.isVisible() and one.isEnabled() and one.focusPolicy() & Qt.FocusPolicy.TabFocus:
            one.setFocus(Qt.FocusReason.ShortcutFocusReason)
            return True
    return False


def _in_order(pane: QWidget) -> Iterator[QWidget]:
    """All that is inside, in the order of Tab."""
    one = pane.nextInFocusChain()
    while one is not None and one is not pane:
        if pane.isAncestorOf(one):
            yield one
        one = one.nextInFocusChain()
