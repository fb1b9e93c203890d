"""The HTTP API as one application, with its OpenAPI document at /v1/openapi.json."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from starlette.types import ASGIApp

from broker_core.broker.api import responses as answers
from broker_core.broker.api.authentication import Authentication
from broker_core.broker.api.dependencies import Parts
from broker_core.broker.api.fast_submission import FastSubmission
from broker_core.broker.api.routes import (
    broker as routes_broker,
)
from broker_core.broker.api.routes import (
    files as routes_files,
)
from broker_core.broker.api.routes import (
    interactive as routes_interactive,
)
from broker_core.broker.api.routes import (
    jobs as routes_jobs,
)
from broker_core.broker.api.routes import (
    lines as routes_lines,
)
from broker_core.broker.api.routes import (
    log_search as routes_log_search,
)
from broker_core.broker.api.routes import (
    matches as routes_matches,
)
from broker_core.broker.api.routes import (
    output as routes_output,
)
from broker_core.broker.api.routes import (
    outside as routes_outside,
)
from broker_core.broker.api.routes import (
    replicas as routes_replicas,
)
from broker_core.broker.api.routes import (
    resources as routes_resources,
)
from broker_core.broker.api.routes import (
    scheduler as routes_scheduler,
)
from broker_core.broker.api.routes import (
    sites as routes_sites,
)
from broker_core.broker.api.routes import (
    slots as routes_slots,
)
from broker_core.broker.api.routes import (
    stayed as routes_stayed,
)
from broker_core.broker.api.routes import (
    submissions as routes_submissions,
)
from broker_core.broker.submission.submissions import Submissions
from broker_core.version import VERSION
from broker_core.wire.submission import Submission
from broker_core.wire.views import ErrorView

_ROUTES = (
    routes_submissions,
    routes_matches,
    routes_broker,
    routes_jobs,
    routes_output,
    routes_stayed,
    routes_log_search,
    routes_files,
    routes_replicas,
    routes_resources,
    routes_scheduler,
    routes_slots,
    routes_interactive,
    routes_lines,
    routes_sites,
    routes_outside,
)
_REFUSALS: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": ErrorView, "description": "Refused; nothing was changed."},
    "5XX": {"model": ErrorView, "description": "Failed; the same request may be sent again."},
}


def make_app(parts: Parts, submissions: Submissions, request_max: int) -> ASGIApp:
    """The application behind its gate; `request_max`: bytes of a request."""
    return Authentication(FastSubmission(make_api(parts), submissions), request_max)


def make_api(parts: Parts) -> FastAPI:
    """The API itself, whose routes are given these parts of a broker."""
    api = FastAPI(
        title="CrossDesk broker",
        version=VERSION,
        openapi_url="/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        responses=_REFUSALS,
        redirect_slashes=False,
    )
    api.state.parts = parts
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
