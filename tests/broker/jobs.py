"""Submitting and awaiting jobs in tests."""

from __future__ import annotations

import hashlib
import secrets
from typing import Any

from broker_core.client.client import BrokerClient
from broker_core.wire.submission import Receipt, SandboxFile, Submission, SubmissionItem
from tests.waiting import LONG, eventually


def key() -> str:
    return secrets.token_hex(8)


async def submit(client: BrokerClient, text: str, **more: Any) -> Receipt:
    """Submit one description; `values`, `files` and `name` belong to the item, the rest to the submission."""
    item = {name: more.pop(name) for name in ("values", "files", "name") if name in more}
    return await client.submit(
        Submission(key=more.pop("key", key()), items=[SubmissionItem(description=text, **item)], **more)
    )


async def script(client: BrokerClient, body: str, name: str = "run.sh", description: str = "") -> str:
    """Submit a shell script of its own as a job; returns the job's id."""
    content = f"#!/bin/sh\n{body}\n".encode()
    file = await upload(client, content, name, executable=True)
    text = f'Executable = "{name}"; InputSandbox = {{"{name}"}}; {description}'
    return (await submit(client, text, files=[file])).ids[0]


async def upload(client: BrokerClient, content: bytes, name: str, executable: bool = False) -> SandboxFile:
    sha = hashlib.sha256(content).hexdigest()
    await client.upload(sha, content)
    return SandboxFile(name=name, sha256=sha, size=len(content), executable=executable)


async def reach(client: BrokerClient, job: str, *states: str, seconds: float = LONG) -> dict[str, Any]:
    """The row of a job once it is in one of the states."""

    async def there() -> Any:
        row = (await client.job(job)).row
        return row if row["state"] in states else None

    return await eventually(there, seconds, f"{job} becomes {' or '.join(states)}")
