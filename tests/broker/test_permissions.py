"""Who may call which operation of the API: all of them, on shared and embedded brokers."""

from __future__ import annotations

import os
import pkgutil
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute

from broker_core.bookkeeping.store import Store
from broker_core.broker.api import routes
from broker_core.broker.api.app import make_api
from broker_core.broker.api.listener import user_name
from broker_core.broker.api.permissions import Audience, Rule
from broker_core.broker.daemon.assembly import Broker
from broker_core.broker.engine.failpoints import from_environment
from broker_core.settings.settings import Settings
from broker_core.system.paths import places

ROOT, STRANGER = "ada", "eve"
"""An administrator of the broker, and another user."""
ALLOWED = {
    Audience.EVERYBODY: """
        GET /broker
        GET /broker/alive
        GET /broker/retention
        POST /checks
        POST /matches
        POST /matches/forecasts
        HEAD /files/{sha256}
        POST /files/missing
        PUT /files/{sha256}
        GET /policies
        GET /replicas
        GET /tags
        GET /resources
        GET /resources/{ce:path}
        GET /sources
        POST /sources/refresh
    """,
    Audience.OWNER: """
        POST /submissions
        GET /jobs
        GET /jobs/{job}
        GET /jobs/{job}/events
        POST /log-searches
        GET /jobs/{job}/files
        GET /jobs/{job}/files/{path:anyname}
        GET /jobs/{job}/inputs/{name:anyname}
        GET /jobs/{job}/lines
        GET /jobs/{job}/session
        GET /jobs/{job}/stayed
        POST /jobs/{job}/stayed/fetch
        POST /jobs/{job}/stayed/forget
        GET /jobs/{job}/why
        POST /jobs/{job}/agent
        POST /jobs/annotate
        POST /jobs/cancel
        POST /jobs/hold
        POST /jobs/purge
        POST /jobs/release
        POST /jobs/resubmit
        POST /jobs/watch
        POST /jobs/{job}/elsewhere
        POST /jobs/{job}/fetched
        POST /jobs/{job}/lines
        POST /jobs/{job}/lines/wish
        GET /desks
        POST /desks
        DELETE /desks
        GET /documents/{name}
        PUT /documents/{name}
        GET /decisions
        GET /expiring
        GET /events
        GET /queue
        GET /slots
        GET /statistics
        GET /sites
        POST /sites/{name}/test
    """,
    Audience.ADMINISTRATORS: """
        PUT /broker/retention
        PUT /policies
        PUT /replicas
        DELETE /replicas
        POST /sites
        PUT /sites/{name}
        DELETE /sites/{name}
        POST /sites/detect
        GET /sites/detect/{id_}
        POST /sites/detect/{id_}/answer
        POST /sites/{name}/answer
        POST /sites/{name}/connect
        POST /sites/{name}/drain
        POST /sites/{name}/resume
        GET /sites/{name}/log
        GET /outside
        GET /outside/{site}/{id_}
        GET /outside/{site}/{id_}/output
        POST /outside/{site}/{id_}/cancel
    """,
    Audience.OPERATORS: """
        POST /broker/handover
        POST /broker/stop
    """,
}
TABLE = {
    line.strip(): audience
    for audience, lines in ALLOWED.items()
    for line in lines.split("\n")
    if line.strip()
}
ENDLESS = "GET /events"
QUERIES = {"lines": {"desk": "d", "offset": 0}, "replicas": {"name": "f"}, "desks": {"fingerprint": "f"}}

Ask = Callable[[str, str, str], Awaitable[httpx.Response]]
"""User, operation and job to the answer."""


@asynccontextmanager
async def serving(state_dir: Path, mode: str) -> AsyncIterator[tuple[FastAPI, list[str]]]:
    """The API of a broker of this mode, which runs no jobs; and why it was to be stopped."""
    where = places(state_dir)
    where.state.mkdir(mode=0o700, parents=True)
    store = Store.open(where.store, host="test", pid=os.getpid())
    stopped: list[str] = []
    made = Broker(
        where, Settings(mode=mode, administrators=(ROOT,)), store, from_environment(), stopped.append
    )
    try:
        yield make_api(made.parts), stopped
    finally:
        await made.stop()


def _asking(api: FastAPI) -> Ask:
    async def ask(user: str, operation: str, job: str = "none") -> httpx.Response:
        async def known(scope: Any, receive: Any, send: Any) -> None:
            await api({**scope, "state": {"owner": user}}, receive, send)

        method, _, path = operation.partition(" ")
        path = path.replace("{sha256}", "0" * 64).replace("{job}", job)
        for name in ("{name}", "{id_}", "{ce:path}", "{path:anyname}"):
            path = path.replace(name, "none")
        query = next((one for word, one in QUERIES.items() if word in path), None)
        carrier = httpx.ASGITransport(known)
        async with httpx.AsyncClient(transport=carrier, base_url="http://broker/v1") as client:
            return await client.request(method, path, json=_body(operation, job), params=query)

    return ask


def _body(operation: str, job: str) -> Any:
    """A body that the operation takes, where one is needed to get as far as the job."""
    if operation.endswith("/wish"):
        return {"desk": "d", "what": "bye"}
    if operation in (
        "POST /jobs/annotate",
        "POST /jobs/cancel",
        "POST /jobs/hold",
        "POST /jobs/release",
        "POST /jobs/purge",
        "POST /jobs/watch",
    ):
        return {"ids": [job]}
    if operation == "POST /jobs/resubmit":
        return {"ids": [job], "key": "of-nobody"}
    return {} if operation.split()[0] in ("POST", "PUT") else None


@pytest.mark.parametrize("mode", ["shared", "embedded"])
async def test_each_operation_is_refused_to_those_for_whom_it_is_not(state_dir: Path, mode: str) -> None:
    async with serving(state_dir, mode) as (api, stopped):
        ask, me = _asking(api), user_name(os.getuid())
        for operation, audience in TABLE.items():
            if operation == ENDLESS:
                continue
            refused = {user: (await ask(user, operation)).status_code == 403 for user in (STRANGER, ROOT, me)}
            closed = mode == "shared" and audience in (Audience.ADMINISTRATORS, Audience.OPERATORS)
            own = mode == "shared" and audience is Audience.ADMINISTRATORS
            assert refused == {STRANGER: closed, ROOT: False, me: own}, operation
            if closed:
                said = (await ask(STRANGER, operation)).json()
                assert said["code"] == "not_authorised"
                assert "administrators" in said["remedy"], operation
        assert len(stopped) == (4 if mode == "shared" else 6)


def _routes() -> list[APIRoute]:
    """All that the files of routes have."""
    files = [one.name for one in pkgutil.iter_modules(routes.__path__, "broker_core.broker.api.routes.")]
    routers = [import_module(name).router for name in files]
    return [route for router in routers for route in router.routes]


async def test_each_operation_declares_for_whom_it_is(state_dir: Path) -> None:
    declared = {}
    for route in _routes():
        rules = [one.dependency for one in route.dependencies if isinstance(one.dependency, Rule)]
        assert len(rules) == 1, f"{route.path} declares {len(rules)} rules"
        for method in route.methods:
            declared[f"{method} {route.path}"] = rules[0].audience
    assert declared == TABLE
    async with serving(state_dir, "shared") as (api, _):
        documented = [
            f"{method.upper()} {path}"
            for path, methods in api.openapi()["paths"].items()
            for method in methods
        ]
    plain = {re.sub(r":\w+}", "}", operation) for operation in TABLE}
    assert {operation.replace("/v1", "") for operation in documented} == plain


async def test_a_job_of_another_user_is_not_found_by_any_operation(state_dir: Path) -> None:
    async with serving(state_dir, "shared") as (api, _):
        ask = _asking(api)
        job = await _held_job(api)
        for operation, audience in TABLE.items():
            if "{job}" in operation:
                assert audience is Audience.OWNER, operation
                answer = await ask(STRANGER, operation, job)
                assert (answer.status_code, answer.json()["code"]) == (404, "not_found"), operation
                assert (await ask(ROOT, operation, job)).content != answer.content, operation
            elif operation == "POST /jobs/resubmit":
                answer = await ask(STRANGER, operation, job)
                assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
            elif operation.startswith("POST /jobs/"):
                answer = await ask(STRANGER, operation, job)
                assert answer.json() == {"results": {job: "There is no such job."}}, operation


async def _held_job(api: FastAPI) -> str:
    item = {"description": 'Executable = "/bin/true";'}
    body = {"key": "job-of-ada", "items": [item], "hold": "test"}

    async def known(scope: Any, receive: Any, send: Any) -> None:
        await api({**scope, "state": {"owner": ROOT}}, receive, send)

    async with httpx.AsyncClient(transport=httpx.ASGITransport(known), base_url="http://broker/v1") as client:
        return str((await client.post("/submissions", json=body)).json()["ids"][0])
