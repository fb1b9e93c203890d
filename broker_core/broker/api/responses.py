"""Answers of the API: JSON by orjson, and every refusal as an `ErrorView`."""

from __future__ import annotations

import logging
from typing import Any

import orjson
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException

from broker_core.errors import BadRequest, Busy, CrossDeskError, DescriptionRefused
from broker_core.wire.checks import DiagnosticView
from broker_core.wire.views import ErrorView

log = logging.getLogger("crossdesk.api")
JSON = "application/json"
RETRY_AFTER = "2"
"""Seconds after which a refused request may be sent again."""


def json_response(value: Any, status: int = 200) -> Response:
    """A value, or a wire model, as JSON."""
    if isinstance(value, BaseModel):
        return Response(value.model_dump_json(), status, media_type=JSON)
    return Response(orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS), status, media_type=JSON)


def error_response(error: CrossDeskError) -> Response:
    """An error in the words of `ErrorView`, with its own status."""
    found = error.diagnostics if isinstance(error, DescriptionRefused) else ()
    view = ErrorView(
        code=error.code,
        message=error.message,
        place=error.place,
        remedy=error.remedy,
        diagnostics=[one for one in found if isinstance(one, DiagnosticView)],
    )
    response = json_response(view, error.status)
    if isinstance(error, Busy):
        response.headers["Retry-After"] = RETRY_AFTER
    return response


def unreadable(error: ValidationError | RequestValidationError) -> BadRequest:
    """The refusal of a request that is not what its endpoint takes."""
    first = error.errors()[0]
    place = ".".join(str(part) for part in first.get("loc", ()))
    more = len(error.errors()) - 1
    words = str(first.get("msg", "it cannot be read")) + (f" (and {more} more faults)" if more else "")
    return BadRequest(f"The request is not well formed: {words}.", place=place)


def install(application: FastAPI) -> None:
    """Let every error of the application be answered as an ErrorView."""
    application.add_exception_handler(CrossDeskError, _known)
    application.add_exception_handler(RequestValidationError, _malformed)
    application.add_exception_handler(HTTPException, _http)
    application.add_exception_handler(Exception, _internal)


async def _known(request: Request, error: Exception) -> Response:
    assert isinstance(error, CrossDeskError)
    if error.status >= 500:
        log.warning("%s %s: %s", request.method, request.url.path, error)
    return error_response(error)


async def _malformed(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return error_response(unreadable(error))


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    known = CrossDeskError(f"{error.detail}.", place=request.url.path, code="http_error")
    known.status = error.status_code
    response = error_response(known)
    response.headers.update(error.headers or {})
    return response


async def _internal(request: Request, error: Exception) -> Response:
    log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return internal_error(error)


def internal_error(error: Exception) -> Response:
    """The answer to an error of our own, which the log has in full."""
    return error_response(
        CrossDeskError(
            f"An internal error: {type(error).__name__}.",
            code="internal_error",
            remedy="The broker's log has the details (`crossdesk broker logs`).",
        )
    )
