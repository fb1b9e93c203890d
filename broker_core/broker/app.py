"""The HTTP API as one application, with its OpenAPI document at /v1/openapi.json."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from starlette.types import ASGIApp

from broker_core.broker import (
    answers,
    routes_broker,
    routes_files,
    routes_interactive,
    routes_jobs,
    routes_lines,
    routes_matches,
    routes_output,
    routes_replicas,
    routes_resources,
    routes_scheduler,
    routes_sites,
    routes_submissions,
)
from broker_core.broker.gate import Gate
from broker_core.broker.services import Services
from broker_core.broker.short_way import ShortWay
from broker_core.version import VERSION
from broker_core.wire.submission import Submission
from broker_core.wire.views import ErrorView

_ROUTES = (
    routes_submissions,
    routes_matches,
    routes_broker,
    routes_jobs,
    routes_output,
    routes_files,
    routes_replicas,
    routes_resources,
    routes_scheduler,
    routes_interactive,
    routes_lines,
    routes_sites,
)
_REFUSALS: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": ErrorView, "description": "Refused; nothing was changed."},
    "5XX": {"model": ErrorView, "description": "Failed; the same request may be sent again."},
}


def make_app(services: Services) -> ASGIApp:
    """The application behind its gate."""
    return Gate(ShortWay(make_api(services), services), services.settings.request_max)


def make_api(services: Services) -> FastAPI:
    """The API itself."""
    api = FastAPI(
        title="CrossDesk broker",
        version=VERSION,
        openapi_url="/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        responses=_REFUSALS,
        redirect_slashes=False,
    )
    api.state.services = services
    answers.install(api)
    for routes in _ROUTES:
        api.include_router(routes.router, prefix="/v1")
    generate = api.openapi

    def openapi() -> dict[str, Any]:
        if api.openapi_schema is None:
            _describe_submission(generate())
        return generate()

    api.openapi = openapi  # type: ignore[method-assign]
    return api


def _describe_submission(document: dict[str, Any]) -> None:
    """Add the model of a submission, which its route reads by itself, to the OpenAPI document."""
    components = document["components"]["schemas"]
    model = Submission.model_json_schema(ref_template="#/components/schemas/{model}")
    components.update(model.pop("$defs", {}))
    components["Submission"] = model
