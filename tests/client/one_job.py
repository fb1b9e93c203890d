"""One small job and what it prints."""

from __future__ import annotations

import secrets

from broker_core.wire.submission import Submission, SubmissionItem

TRUE = 'Executable = "/bin/true";'


HELLO = 'Executable = "/bin/echo"; Arguments = "hello"; StdOutput = "out.txt"; OutputSandbox = {"out.txt"};'


def one(description: str = TRUE, **more: str) -> Submission:
    return Submission(key=secrets.token_urlsafe(12), items=[SubmissionItem(description=description)], **more)
