"""The start of the interactive agent: `python -m broker_core.worker.start PROGRAM ARGUMENTS`, or of one that
waits for jobs: `--warm FOLDER PID`.

Somebody waits for it, and most of its start is the loading of libraries: what an agent never uses of them is
left out, and nothing is collected that was only just made. That is a third of the processor's time.
"""

from __future__ import annotations

import gc
import logging
import sys
from pathlib import Path

UNUSED = ("ssl", "asyncssh.crypto.x509")
"""Modules without which those that want them do: TLS, and certificates in place of keys."""


def main() -> int:
    """Run the agent; returns its exit code."""
    gc.disable()
    for name in UNUSED:
        sys.modules.setdefault(name, None)  # type: ignore[arg-type]
    from broker_core.worker import agent, warm_agent

    logging.basicConfig(level=logging.ERROR)
    words = sys.argv[1:]
    if words[:1] == [warm_agent.WARM]:
        return warm_agent.wait_for_jobs(Path(words[1]), int(words[2]))
    return agent.main(words)


if __name__ == "__main__":
    sys.exit(main())
