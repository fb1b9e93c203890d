"""A broker of another version: what it adds changes nothing, and what it lacks is told in words."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from broker_core.client.answers import fitting, refusal, unchecked
from broker_core.client.client import BrokerClient
from broker_core.client.connect import connect
from broker_core.errors import VersionsDiffer
from broker_core.system.paths import places
from broker_core.wire.interactive import NewDesk, SessionContact
from broker_core.wire.queue import QueueView
from broker_core.wire.sites import DetectRequest, QuestionAnswer, SiteSpec
from broker_core.wire.submission import Submission
from broker_core.wire.views import SandboxEntry

SPEC = SiteSpec(name="site", kind="ssh", host="login.example.org")
ANSWER = QuestionAnswer(id="1", value="yes")
CALLS: dict[str, Callable[[BrokerClient], Awaitable[Any]]] = {
    "info": lambda client: client.info(),
    "check": lambda client: client.check("[]"),
    "match": lambda client: client.match("[]"),
    "missing_files": lambda client: client.missing_files(["ab"]),
    "submit": lambda client: client.submit(Submission.model_construct(key="k", items=[])),
    "jobs_page": lambda client: client.jobs_page(),
    "job": lambda client: client.job("j"),
    "events_of": lambda client: client.events_of("j"),
    "cancel": lambda client: client.cancel(["j"]),
    "files": lambda client: client.files("j"),
    "resources_page": lambda client: client.resources_page(),
    "resource": lambda client: client.resource("ce"),
    "sources": lambda client: client.sources(),
    "refresh_sources": lambda client: client.refresh_sources(),
    "replicas": lambda client: client.replicas(),
    "put_replica": lambda client: client.put_replica("name", []),
    "queue": lambda client: client.queue(),
    "slots": lambda client: client.slots(),
    "why": lambda client: client.why("j"),
    "decisions": lambda client: client.decisions(),
    "policies": lambda client: client.policies(),
    "choose_policy": lambda client: client.choose_policy("rank"),
    "statistics": lambda client: client.statistics(),
    "sites": lambda client: client.sites(),
    "add_site": lambda client: client.add_site(SPEC),
    "change_site": lambda client: client.change_site(SPEC),
    "detect_site": lambda client: client.detect_site(DetectRequest(host="login.example.org")),
    "detection": lambda client: client.detection("d"),
    "answer_detection": lambda client: client.answer_detection("d", ANSWER),
    "answer_site": lambda client: client.answer_site("site", ANSWER),
    "test_site": lambda client: client.test_site("site"),
    "connect_site": lambda client: client.connect_site("site"),
    "site_log": lambda client: client.site_log("site"),
    "desks": lambda client: client.desks(),
    "add_desk": lambda client: client.add_desk(NewDesk.model_construct(key="k", name="n")),
    "remove_desk": lambda client: client.remove_desk("f"),
    "session_contact": lambda client: client.session_contact("j"),
    "follow": lambda client: anext(client.follow(0)),
}


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Stands for a broker of another version: something else is said to every request."""
    head = await reader.readuntil(b"\r\n\r\n")
    stream = head.startswith(b"GET /v1/events")
    said = b'{"of_another_version": 1}'
    kind, body = (b"text/event-stream", b"data: " + said + b"\n\n") if stream else (b"application/json", said)
    size = str(len(body)).encode()
    writer.write(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: " + kind)
    writer.write(b"\r\ncontent-length: " + size + b"\r\n\r\n" + body)
    await writer.drain()
    writer.close()


@pytest.fixture
async def other(tmp_path: Path) -> AsyncIterator[BrokerClient]:
    socket = places(tmp_path).socket
    socket.parent.mkdir(parents=True, exist_ok=True)
    async with (
        await asyncio.start_unix_server(_answer, str(socket)),
        await connect(tmp_path, start=False) as client,
    ):
        yield client


async def test_every_call_says_that_the_versions_differ_and_what_to_do(other: BrokerClient) -> None:
    said = {}
    for name, call in CALLS.items():
        with pytest.raises(VersionsDiffer) as refused:
            await call(other)
        said[name] = str(refused.value)
    assert all("of different versions" in words for words in said.values())
    assert all("start it again" in words for words in said.values())
    assert not any("pydantic" in words or "input_value" in words for words in said.values())
    assert "(SessionContact.job: Field required)" in said["session_contact"]
    assert "(QueueView: without columns, " in said["queue"]


def test_what_a_newer_broker_adds_is_left_out() -> None:
    entry = {"name": "a", "size": 1, "sha256": "ab", "colour": "red"}
    assert fitting(list[SandboxEntry], [entry]) == [SandboxEntry(name="a", size=1, sha256="ab")]
    queue = {"columns": {}, "total": 0, "policy": "", "queue_policy": "", "colour": "red"}
    assert not hasattr(unchecked(QueueView, queue), "colour")


def test_a_value_of_the_answer_is_never_among_the_words() -> None:
    with pytest.raises(VersionsDiffer) as refused:
        fitting(SessionContact, {"job": "j", "attempt": 1, "state": "there", "token": ["secret"]})
    assert "SessionContact.token" in str(refused.value)
    assert "secret" not in str(refused.value)
    assert refused.value.__cause__ is None


def test_a_refusal_whose_diagnostics_do_not_fit_is_told_too() -> None:
    said = {"code": "description_refused", "message": "No.", "diagnostics": [{"colour": "red"}]}
    with pytest.raises(VersionsDiffer):
        refusal(422, orjson.dumps(said))
