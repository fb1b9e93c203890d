"""The OpenAPI document is kept by every answer, whatever is asked (schemathesis)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import content_type_conformance, not_a_server_error, response_schema_conformance

from broker_core.broker.places import places

CHECKS = [not_a_server_error, content_type_conformance, response_schema_conformance]
NO_END = {"/v1/broker/stop", "/v1/broker/handover", "/v1/events"}
"""Paths that end the broker, or never end themselves."""


@pytest.fixture
def http(broker: Path) -> Any:
    carrier = httpx.HTTPTransport(uds=str(places(broker).socket))
    with httpx.Client(transport=carrier, base_url="http://broker", timeout=60) as made:
        yield made


def test_any_request_is_answered_as_the_document_says(http: httpx.Client) -> None:
    document = http.get("/v1/openapi.json").json()
    schema = schemathesis.openapi.from_dict(document)
    operations = [found.ok() for found in schema.get_all_operations()]
    chosen = [one for one in operations if one.path not in NO_END]
    assert len(chosen) >= 30
    for operation in chosen:
        _try(http, operation)


def _try(http: httpx.Client, operation: Any) -> None:
    @settings(
        max_examples=12,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def answered(case: Any) -> None:
        answer = http.send(_request(case.as_transport_kwargs(base_url="http://broker")))
        case.validate_response(answer, checks=CHECKS)

    answered()


def _request(sent: dict[str, Any]) -> httpx.Request:
    body = sent.get("data")
    return httpx.Request(
        sent["method"], str(sent["url"]), params=sent.get("params"), headers=_plain(sent.get("headers")),
        json=sent.get("json"), content=body if isinstance(body, bytes | str) else None,
    )  # fmt: skip


def _plain(headers: Any) -> dict[str, str]:
    """Headers that HTTP can carry."""
    found = {str(name): str(value) for name, value in dict(headers or {}).items()}
    return {name: value for name, value in found.items() if value.isascii() and value.isprintable()}
