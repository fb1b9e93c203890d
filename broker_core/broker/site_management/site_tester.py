"""Small jobs that prove that a site runs jobs, and tell what its nodes are like."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from pathlib import Path

from broker_core.broker.site_management.node_facts import OUTPUT
from broker_core.broker.site_management.site_registry import SiteRegistry
from broker_core.broker.submission.new_jobs import new_id
from broker_core.broker.submission.submissions import Submissions
from broker_core.jdl.syntax.tokens import quoted
from broker_core.launching.files import FileStore
from broker_core.wire.sites import SiteTest
from broker_core.wire.submission import SandboxFile, Submission, SubmissionItem
from broker_core.worker.script import overlay_files, site_test_path

_NAME = "site-test.sh"
_SENT = {_NAME: site_test_path(), **{path.name: path for path in overlay_files()}}
_SANDBOX = ", ".join(f'"{name}"' for name in _SENT)
_DESCRIPTION = f"""\
Executable = "{_NAME}";
Arguments = {{arguments}};
InputSandbox = {{{{{_SANDBOX}}}}};
StdOutput = "{OUTPUT}";
StdError = "test.err";
OutputSandbox = {{{{"{OUTPUT}", "test.err", "site-test.out"}}}};
WallTime = 120;
"""


class SiteTester:
    """Sends them, as jobs of whoever asks."""

    def __init__(
        self, registry: SiteRegistry, files: FileStore, submissions: Submissions, address: str
    ) -> None:
        """`address`: HOST:PORT to which nodes are to open a connection; empty: that is not tried."""
        self._registry = registry
        self._files = files
        self._submissions = submissions
        self._address = address

    async def send(self, owner: str, name: str, *, speed: bool = False) -> SiteTest:
        """Submit one; raises NotFound, Conflict for a useless site, and what `submit` raises.

        `speed`: it also measures how fast the node is, which takes it some seconds of CPU time.
        """
        await self._registry.fit(name)
        files = [await self._stored(name, path) for name, path in _SENT.items()]
        host, _, port = self._address.rpartition(":")
        words = [f"'{host}'", f"'{port if host else ''}'", *(["speed"] if speed else [])]
        description = _DESCRIPTION.format(arguments=quoted(" ".join(words)))
        item = SubmissionItem(description=description, name=f"test of {name}"[:100], files=files)
        receipt = await self._submissions.submit(owner, Submission(key=new_id(), items=[item], site=name))
        self._registry.nodes.expect(name, receipt.ids[0])
        return SiteTest(job=receipt.ids[0])

    async def _stored(self, name: str, path: Path) -> SandboxFile:
        """A file for its sandbox."""
        content = path.read_bytes()
        sha = hashlib.sha256(content).hexdigest()
        await self._files.put(sha, _chunks(content), len(content))
        return SandboxFile(name=name, sha256=sha, size=len(content), executable=True)


async def _chunks(content: bytes) -> AsyncIterator[bytes]:
    yield content
