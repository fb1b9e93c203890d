"""The short way of the busiest request: a submission goes past the framework's routing and layers.

The framework spends as long on a request as the submission itself takes. The route in
`routes/submissions.py` documents the request and serves it where this way is not in front; both call
`answer_submission`.
"""

from __future__ import annotations

import asyncio
import logging

from fastapi import Response
from pydantic import ValidationError
from starlette.types import ASGIApp, Receive, Scope, Send

from broker_core.broker.api.responses import error_response, internal_error, json_response, unreadable
from broker_core.broker.submission.submissions import Submissions
from broker_core.errors import BadRequest, CrossDeskError
from broker_core.wire.submission import Submission

log = logging.getLogger("crossdesk.api")
LARGE = 200_000
"""Bytes from which a submission is read in a thread."""


class FastSubmission:
    """Answers `POST /v1/submissions` itself and passes everything else on."""

    def __init__(self, application: ASGIApp, submissions: Submissions) -> None:
        self._application = application
        self._submissions = submissions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "http" and scope["path"] == "/v1/submissions" and scope["method"] == "POST":
            response = await self._answer(scope, receive)
            await response(scope, receive, send)
        else:
            await self._application(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive) -> Response:
        try:
            return await answer_submission(self._submissions, scope["state"]["owner"], await _body(receive))
        except CrossDeskError as error:
            if error.status >= 500:
                log.warning("POST /v1/submissions: %s", error)
            return error_response(error)
        except Exception as error:
            log.exception("POST /v1/submissions failed")
            return internal_error(error)


async def answer_submission(submissions: Submissions, owner: str, body: bytes) -> Response:
    """Read a submission and accept it; raises CrossDeskError where it is refused."""
    try:
        if len(body) > LARGE:
            submission = await asyncio.to_thread(Submission.model_validate_json, body)
        else:
            submission = Submission.model_validate_json(body)
    except ValidationError as error:
        raise unreadable(error) from error
    return json_response(await submissions.submit(owner, submission))


async def _body(receive: Receive) -> bytes:
    parts: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise BadRequest("The request ended before all of it had come.")
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts)
