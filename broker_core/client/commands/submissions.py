"""The client's methods of submitting: the files that the broker lacks, then the descriptions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from broker_core.client.answers import fitting, value
from broker_core.client.commands.sessions import SessionCommands
from broker_core.client.sandbox import opened
from broker_core.client.transport import BrokerTransport
from broker_core.errors import BadRequest
from broker_core.wire.submission import Receipt, Submission

Content = bytes | Path
"""What is sent: the bytes, or the file that holds them."""

_PART = 1 << 18


async def upload(
    transport: BrokerTransport, sha256: str, content: Content, progress: Callable[[int], None] | None = None
) -> None:
    """PUT a content under its hash; repeated over a restart. Raises BadRequest if the file cannot be read."""

    async def once() -> None:
        parts = _parts(content, progress)
        async with transport.stream("PUT", f"/files/{sha256}", content=parts) as answer:
            await answer.aread()

    await transport.repeat(once)


async def _parts(content: Content, progress: Callable[[int], None] | None) -> AsyncIterator[bytes]:
    if isinstance(content, bytes):
        yield content
        if progress:
            progress(len(content))
        return
    try:
        stream = opened(content)
    except OSError as error:
        raise BadRequest(
            f"The file cannot be read: {error.strerror}.", place=str(content), code="file_unreadable"
        ) from error
    with stream:
        while part := await asyncio.to_thread(stream.read, _PART):
            yield part
            if progress:
                progress(len(part))


class SubmissionCommands(SessionCommands):
    """Files and submissions; a submission of an interactive job registers the desk first."""

    tags_of_new: Callable[[], Sequence[str]] = staticmethod(tuple)
    """Gives the tags of what is submitted from now on, besides those of a submission itself."""

    async def missing_files(self, shas: Iterable[str]) -> list[str]:
        """Those of the given contents (SHA-256, hex) that the broker does not have."""
        answer = await self._post("/files/missing", {"shas": list(shas)})
        return fitting(list[str], fitting(dict[str, Any], answer).get("missing"))

    async def upload(
        self, sha256: str, content: Content, progress: Callable[[int], None] | None = None
    ) -> None:
        """Send a content (bytes, or the path of a file) under its hash; `progress` gets bytes as they go."""
        await upload(self._transport, sha256, content, progress)

    async def submit(self, submission: Submission) -> Receipt:
        """Submit (CB-CMD-01); returns when it is durable. The same key gives the same receipt."""
        if tags := self.tags_of_new():
            submission = submission.model_copy(update={"tags": [*submission.tags, *tags]})
        answer = await self._transport.ask(
            "POST", "/submissions", submission.model_dump_json().encode("utf-8", "surrogatepass")
        )
        return fitting(Receipt, value(answer.content))
