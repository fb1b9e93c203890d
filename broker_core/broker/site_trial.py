"""The test job of a site: a real submission, pinned there, that proves that jobs run and files come back."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator

from broker_core.broker.new_jobs import new_id
from broker_core.broker.services import Services
from broker_core.wire.sites import SiteTest
from broker_core.wire.submission import SandboxFile, Submission, SubmissionItem

NAME = "site-test.sh"
SCRIPT = """\
#!/bin/sh
# Says where it runs, and that the files which it was sent are there and new ones can be written.
printf 'host %s\\n' "$(uname -n)"
printf 'system %s\\n' "$(uname -srm)"
printf 'user %s\\n' "$(id -un 2>/dev/null || id -u)"
printf 'directory %s\\n' "$(pwd)"
printf 'date %s\\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
set -e
test -r ./site-test.sh
printf 'written by the test job\\n' > site-test.out
test "$(cat site-test.out)" = 'written by the test job'
printf 'files ok\\n'
"""
DESCRIPTION = f"""\
Executable = "{NAME}";
InputSandbox = {{"{NAME}"}};
StdOutput = "test.txt";
StdError = "test.err";
OutputSandbox = {{"test.txt", "test.err", "site-test.out"}};
WallTime = 120;
"""


async def send_test_job(services: Services, owner: str, name: str) -> SiteTest:
    """Submit the test job; raises NotFound, Conflict for a useless site, and what `submit` raises."""
    await services.registry.fit(name)
    content = SCRIPT.encode()
    sha = hashlib.sha256(content).hexdigest()
    await services.files.put(sha, _chunks(content), len(content))
    file = SandboxFile(name=NAME, sha256=sha, size=len(content), executable=True)
    item = SubmissionItem(description=DESCRIPTION, name=f"test of {name}"[:100], files=[file])
    receipt = await services.submissions.submit(owner, Submission(key=new_id(), items=[item], site=name))
    return SiteTest(job=receipt.ids[0])


async def _chunks(content: bytes) -> AsyncIterator[bytes]:
    yield content
