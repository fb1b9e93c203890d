"""Sending the files of an input sandbox."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from broker_core.client.sandbox import opened
from broker_core.client.transport import Transport
from broker_core.errors import BadRequest

Content = bytes | Path
"""What is sent: the bytes, or the file that holds them."""

_PART = 1 << 18


async def upload(
    transport: Transport, sha256: str, content: Content, progress: Callable[[int], None] | None = None
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
