"""The window's event loop: qasync's, which closes asynchronous generators too."""

from __future__ import annotations

import sys
from typing import Any

import qasync


class DesktopLoop(qasync.QEventLoop):  # type: ignore[misc]  # which has no types
    """qasync's loop with what asyncio's own does for asynchronous generators.

    One that nobody reads to its end, as an answer of which the rest is not wanted, is closed by the loop.
    Without that it is closed wherever garbage is collected, where it can await nothing, and its connection
    stays open.
    """

    def run_forever(self) -> Any:
        """Run until stopped."""
        before = sys.get_asyncgen_hooks()
        sys.set_asyncgen_hooks(self._asyncgen_firstiter_hook, self._asyncgen_finalizer_hook)
        try:
            return super().run_forever()
        finally:
            sys.set_asyncgen_hooks(*before)

    def close(self) -> None:
        """Close what generators still hold, then the loop."""
        if not self.is_closed():
            self.run_until_complete(self.shutdown_asyncgens())
        super().close()
