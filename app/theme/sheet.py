"""The stylesheet of the desk: `resources/themes/desk.qss` with its tokens filled in."""

from __future__ import annotations

import re

from app.theme.tokens import Mode, value

_TOKEN = re.compile(r"@([a-z][a-zA-Z0-9-]*)")


def sheet(template: str, mode: Mode, sizes: dict[str, int], icons: str) -> str:
    """Fill a stylesheet: `@token` by its colour, `@px-name` by a size, `@icons` by the icons' folder."""

    def fill(found: re.Match[str]) -> str:
        name = found.group(1)
        if name == "icons":
            return icons
        if name.startswith("px-"):
            return f"{sizes[name[3:]]}px"
        return value(name, mode)

    return _TOKEN.sub(fill, template)
