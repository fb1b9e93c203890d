"""The help pages that come with the program, and searching them. Pure but for reading them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from broker_core.client import package_data as shipped

ORDER = (
    "getting-started",
    "descriptions",
    "matching",
    "sites",
    "batch-scripts",
    "batch-systems",
    "parallel-jobs",
    "interactive",
    "slots",
    "agents",
    "publishing",
    "resources",
    "scheduler",
    "simulator",
    "states",
    "table",
    "keyboard",
    "files",
    "python",
    "troubleshooting",
)
"""Names of the pages in the order of the index."""


@dataclass(frozen=True, slots=True)
class HelpPage:
    """One page of help."""

    name: str
    title: str
    text: str
    """Markdown."""

    @property
    def subject(self) -> str:
        """What the title begins with: enough for a list."""
        return self.title.partition(":")[0]


@cache
def pages() -> tuple[HelpPage, ...]:
    """All pages, in order."""
    return tuple(_page(name) for name in ORDER)


def _page(name: str) -> HelpPage:
    text = shipped.text(f"help/{name}.md")
    found = re.match(r"# (.+)", text)
    return HelpPage(name, found[1] if found else name, text)


def search(wanted: str) -> list[HelpPage]:
    """Return the pages that have all the words, those with them in the title first."""
    words = wanted.lower().split()
    found = [page for page in pages() if all(word in page.text.lower() for word in words)]
    return sorted(found, key=lambda page: not all(word in page.title.lower() for word in words))
