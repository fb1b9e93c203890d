"""The process that asks one source and decodes its answer, so that the broker's event loop never does.

Reads one JSON request from its input, writes frames to its output: a letter, the length (four bytes), JSON.
`F` a list of items, `E` the end, `X` why there is no answer. It ends with its input, that is with the broker.
"""

from __future__ import annotations

import gc
import os
import struct
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from broker_core.errors import CrossDeskError
from broker_core.resources.facts import Facts

FRAME = struct.Struct(">cI")
FRAME_BYTES = 1 << 16
"""About how much one frame of facts holds: decoding it takes the broker less than a millisecond."""
MEMORY = 3 << 30
"""Bytes that an answer may occupy; a source that says more than fits is refused."""
_NICE = 5
_FIRST_TO_GO = b"500"
"""Where memory is short the system ends this process rather than the broker or a job."""


class WorkerOutput:
    """Frames to the broker."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def facts(self, facts: Sequence[Facts]) -> None:
        """Send what is known of resources."""
        self.items((one.ce, one.site, one.attributes) for one in facts)

    def items(self, items: Iterable[Any]) -> None:
        """Send items in frames of a bounded size."""
        held: list[bytes] = []
        size = 0
        for one in items:
            held.append(orjson.dumps(one))
            size += len(held[-1])
            if size >= FRAME_BYTES:
                self._send(b"F", b"[" + b",".join(held) + b"]")
                held, size = [], 0
        if held:
            self._send(b"F", b"[" + b",".join(held) + b"]")

    def end(self, **said: Any) -> None:
        """The answer is over."""
        self._send(b"E", orjson.dumps(said))

    def failed(self, error: CrossDeskError) -> None:
        """There is no answer."""
        said = {"message": error.message, "place": error.place, "remedy": error.remedy, "code": error.code}
        self._send(b"X", orjson.dumps(said))

    def _send(self, kind: bytes, body: bytes) -> None:
        self._stream.write(FRAME.pack(kind, len(body)) + body)
        self._stream.flush()


def main() -> None:
    """Answer the one request; the process ends here, whatever its threads still wait for."""
    gc.disable()  # the process lives for one answer; what it makes stays until its end
    _limit()
    output = WorkerOutput(os.fdopen(os.dup(1), "wb"))
    os.dup2(2, 1)  # what a library prints must not be taken for a frame
    request = orjson.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_input, daemon=True).start()
    try:
        _WORK[request.pop("work")](request, output)
    except CrossDeskError as error:
        output.failed(error)
    except MemoryError:
        output.failed(CrossDeskError("The answer is too large for the memory.", code="source_failed"))
    except BrokenPipeError:
        pass  # nobody wants the answer any more
    except Exception as error:  # noqa: BLE001 - the broker must hear of it, whatever it is
        traceback.print_exc()
        output.failed(CrossDeskError(f"The answer cannot be read ({type(error).__name__}: {error})."))
    os._exit(0)


def _ldap(request: dict[str, Any], output: WorkerOutput) -> None:
    from broker_core.information.ldap.index import IndexQuery, ask

    outcome = ask(IndexQuery(**request | {"schemas": tuple(request["schemas"])}), output.facts)
    output.end(
        complete=outcome.complete,
        silent=outcome.silent,
        remarks=outcome.remarks.shown,
        refused=outcome.remarks.count,
        storage=outcome.storage,
    )


def _file(request: dict[str, Any], output: WorkerOutput) -> None:
    from broker_core.information.resource_file import read

    answer = read(Path(request["path"]))
    output.facts(answer.facts)
    output.end(
        complete=True,
        silent=[],
        remarks=list(answer.remarks),
        refused=answer.refused,
        storage=answer.storage,
    )


def _replicas(request: dict[str, Any], output: WorkerOutput) -> None:
    from broker_core.information.replicas.ldap_search import search

    output.items(search(request))
    output.end()


_WORK: dict[str, Callable[[dict[str, Any], WorkerOutput], None]] = {
    "ldap": _ldap,
    "file": _file,
    "replicas": _replicas,
}


def _limit() -> None:
    os.nice(_NICE)
    threading.stack_size(1 << 20)
    try:
        Path("/proc/self/oom_score_adj").write_bytes(_FIRST_TO_GO)
    except OSError:  # not on every system
        pass
    try:
        import resource
    except ImportError:  # not on every system
        return
    most = resource.getrlimit(resource.RLIMIT_AS)[1]
    wanted = MEMORY if most == resource.RLIM_INFINITY else min(MEMORY, most)
    resource.setrlimit(resource.RLIMIT_AS, (wanted, most))


def _end_with_input() -> None:
    while os.read(0, 1024):
        pass
    os._exit(0)


if __name__ == "__main__":
    main()
