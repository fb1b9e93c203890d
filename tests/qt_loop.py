"""The window's event loop for tests that run it in several stretches."""

from __future__ import annotations

import asyncio
from typing import Any

from app.shell.event_loop import DesktopLoop


class WindowLoop(DesktopLoop):
    """The desktop's loop, which stays the running one between two runs, until it is closed.

    Qt delivers what is waiting whenever anybody processes its events, so tasks in the background also go on
    between two runs. The original loop is not registered as running then, and their requests would fail.
    """

    def run_forever(self) -> Any:
        """Run until stopped."""
        try:
            return super().run_forever()
        finally:
            asyncio._set_running_loop(self)

    def close(self) -> None:
        """Close the loop; another one may run then."""
        asyncio._set_running_loop(None)
        super().close()
        asyncio._set_running_loop(None)
