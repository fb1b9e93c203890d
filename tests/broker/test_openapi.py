"""The OpenAPI document is kept by every answer, whatever is asked (schemathesis)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import content_type_conformance, not_a_server_error, response_schema_conformance

from broker_core.system.paths import places

CHECKS = [not_a_server_error, content_type_conformance, response_schema_conformance]
NO_END = {"/v1/broker/stop", "/v1/broker/handover", "/v1/events"}
"""Paths that end the broker, or never end themselves."""
CASES = 6
"""Requests of each kind (as the document says, and otherwise) for each operation."""
SOAK = 300
ECHO = 'Executable = "/bin/echo"; Arguments = "a"; StdOutput = "o"; OutputSandbox = {"o"};'


@pytest.fixture
def http(broker: Path) -> Any:
    carrier = httpx.HTTPTransport(uds=str(places(broker).socket))
    with httpx.Client(transport=carrier, base_url="http://broker", timeout=60) as made:
        yield made


def test_any_request_is_answered_as_the_document_says(http: httpx.Client, soak: bool) -> None:
    document = http.get("/v1/openapi.json").json()
    schema = schemathesis.openapi.from_dict(document)
    operations = [found.ok() for found in schema.get_all_operations()]
    chosen = [one for one in operations if one.path not in NO_END]
    assert len(chosen) >= 30
    known = _known(http)
    for operation in chosen:
        for mode in _modes(operation):
            _try(http, operation, mode, known, SOAK if soak else CASES)


def test_a_stream_that_is_asked_for_with_nonsense_is_refused(http: httpx.Client) -> None:
    for after in ("-1", "x", str(10**30), "1e400", ""):
        answer = http.get("/v1/events", params={"after": after})
        assert answer.status_code == 400, after


def _known(http: httpx.Client) -> dict[str, list[str]]:
    """Values of path parameters that name something: a job that waits, one that runs or has ended, a site."""
    jobs = []
    for number, hold in enumerate(("", "held")):
        item = {"description": ECHO}
        body = {"key": f"fuzz-000{number}", "items": [item], "hold": hold}
        jobs += http.post("/v1/submissions", json=body).json()["ids"]
    far = {"name": "far", "kind": "shell", "host": "127.0.0.1", "port": 1, "drained": True}
    assert http.post("/v1/sites", json=far).status_code == 200
    return {"job": jobs, "name": ["local", "far"], "path": ["o"]}


def _try(
    http: httpx.Client, operation: Any, mode: GenerationMode, known: dict[str, list[str]], count: int
) -> None:
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode), pick=st.integers(0, 3))
    def answered(case: Any, pick: int) -> None:
        for name, values in known.items():
            if pick and name in (case.path_parameters or {}):
                case.path_parameters[name] = values[pick % len(values)]
        if mode is GenerationMode.POSITIVE and "wait" in (case.query or {}):
            case.query["wait"] = 0.01  # as good as any other, and sooner over
        answer = http.send(_request(case.as_transport_kwargs(base_url="http://broker")))
        case.validate_response(answer, checks=CHECKS)

    try:
        answered()
    except Unsatisfiable:
        # Some operations take any text: there is no request that the document forbids.
        assert mode is GenerationMode.NEGATIVE


def _modes(operation: Any) -> list[GenerationMode]:
    """No request is against the document where an operation takes nothing but names: they may be any text."""
    can_be_wrong = any(True for _ in operation.body) or any(True for _ in operation.query)
    return list(GenerationMode) if can_be_wrong else [GenerationMode.POSITIVE]


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
