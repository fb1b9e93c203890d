"""The start of the interactive agent: `python -m broker_core.worker.start PROGRAM ARGUMENTS`.

Somebody waits for it, and most of its start is the loading of libraries: what an agent never uses of them is
left out, and nothing is collected that was only just made. That is a third of the processor's time.
"""

from __future__ import annotations

import gc
import logging
import sys

UNUSED = ("ssl", "asyncssh.crypto.x509")
"""Modules without which those that want them do: TLS, and certificates in place of keys."""


def main() -> int:
    """Run the agent; returns its exit code."""
    gc.disable()
    for name in UNUSED:
        sys.modules.setdefault(name, None)  # type: ignore[arg-type]
    from broker_core.worker import agent

    logging.basicConfig(level=logging.ERROR)
    return agent.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
