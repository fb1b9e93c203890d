"""The API: refusals, pages, the event stream, documents, and that one request does not delay another."""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest

from broker_core.client.client import BrokerClient
from broker_core.client.interactive import register_desk
from broker_core.errors import BadRequest, CrossDeskError, DescriptionRefused
from broker_core.system.paths import places
from tests.broker.jobs import key, reach, submit, upload
from tests.waiting import LONG, eventually

TRUE = 'Executable = "/bin/true";'


async def test_every_error_of_a_description_comes_back_with_its_place(client: BrokerClient) -> None:
    with pytest.raises(DescriptionRefused) as refused:
        await submit(client, "Executable = 3;\nStdOutput = 4;\nNoSuch = = 5;")
    found: Any = refused.value.diagnostics
    assert len([one for one in found if one.severity == "error"]) >= 1
    assert all(one.code for one in found)


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b'{"key": "x", "items": []}',
     b'{"key":"abcdefgh","items":[{"description":"x"}],"more":1}',
     b"\xff\xfe", b'{"key":"abcdefgh","items":[{"description":"\\ud800"}]}', b"[" * 10_000],
)  # fmt: skip
async def test_a_malformed_submission_is_refused_with_an_error_view(
    http: httpx.AsyncClient, body: bytes
) -> None:
    answer = await http.post("/submissions", content=body, headers={"content-type": "application/json"})
    assert 400 <= answer.status_code < 500
    assert {"code", "message", "place", "remedy"} <= answer.json().keys()


async def test_an_interactive_job_that_nobody_could_reach_is_refused_and_counted(
    client: BrokerClient,
) -> None:
    with pytest.raises(BadRequest) as alone:
        await submit(client, f"{TRUE} Interactive = true;")
    assert (alone.value.code, alone.value.place) == ("no_desk", "InteractiveAgent")
    assert "crossdesk job submit" in alone.value.remedy

    async def counted() -> bool:
        kinds = (await client.statistics()).kinds
        return "Normal batch" in kinds and kinds["Normal batch"].submitted == 1

    await eventually(counted, LONG, "the refused job is counted")
    assert (await submit(client, f'{TRUE} Interactive = true; InteractiveAgent = "/opt/agent";')).ids
    await register_desk(client)
    assert (await submit(client, f"{TRUE} Interactive = true;")).ids


async def test_a_file_that_was_not_uploaded_is_named(client: BrokerClient) -> None:
    text = 'Executable = "/bin/cat"; Arguments = "data"; InputSandbox = {"data"};'
    file = {"name": "data", "sha256": "0" * 64, "size": 3}
    with pytest.raises(CrossDeskError) as refused:
        await submit(client, text, files=[file])
    assert refused.value.code == "files_missing"
    with pytest.raises(BadRequest) as unsent:
        await submit(client, text)
    assert unsent.value.code == "sandbox_file_not_sent"


@pytest.mark.parametrize("name", ["../x", "a/b", "-rf", "..", "a\nb"])
async def test_a_hostile_file_name_is_refused(client: BrokerClient, name: str) -> None:
    file = await upload(client, b"x", "fine")
    with pytest.raises(BadRequest):
        await submit(client, TRUE, files=[file.model_copy(update={"name": name})])
    assert (await client.jobs_page()).total == 0


async def test_content_that_does_not_have_its_hash_is_refused(http: httpx.AsyncClient) -> None:
    answer = await http.put("/files/" + hashlib.sha256(b"a").hexdigest(), content=b"b")
    assert (answer.status_code, answer.json()["code"]) == (400, "wrong_hash")
    answer = await http.head("/files/" + hashlib.sha256(b"a").hexdigest())
    assert answer.status_code == 404


async def test_a_page_has_the_columns_that_were_asked_for_newest_first(client: BrokerClient) -> None:
    ids = (await submit(client, TRUE, values=["a", "b", "c"], hold="stay")).ids
    page = await client.jobs_page(limit=2, columns=["id", "state"])
    assert set(page.columns) == {"id", "state"}
    assert (page.columns["id"], page.total) == ([ids[2], ids[1]], 3)
    rest = await client.jobs_page(limit=2, after=page.next)
    assert rest.columns["id"] == [ids[0]]
    with pytest.raises(BadRequest):
        await client.jobs_page(columns=["no_such_column"])
    with pytest.raises(BadRequest):
        await client.jobs_page(states=["Dreaming"])


async def test_the_stream_goes_on_after_any_position_and_misses_nothing(client: BrokerClient) -> None:
    (job,) = (await submit(client, TRUE)).ids
    await reach(client, job, "Done")
    seen: dict[int, str] = {}
    async for update in client.follow(0):
        seen |= {event.position: event.type for event in update.events}
        if "job.done" in seen.values():
            break
    assert list(seen) == sorted(seen)
    for after in list(seen)[:-1]:
        async for update in client.follow(after):
            assert update.events[0].position == min(position for position in seen if position > after)
            assert update.rows["id"] == [job]
            break


async def test_last_event_id_wins_over_the_position_asked_for(
    http: httpx.AsyncClient, client: BrokerClient
) -> None:
    (job,) = (await submit(client, TRUE)).ids
    await reach(client, job, "Done")
    async with http.stream("GET", "/events?after=0", headers={"last-event-id": "2"}) as answer:
        async for line in answer.aiter_lines():
            if line.startswith("data:"):
                assert orjson.loads(line[5:])["events"][0]["position"] == 3
                break


async def test_documents_are_kept_as_they_were_given(client: BrokerClient, http: httpx.AsyncClient) -> None:
    assert await client.document("workspace") is None
    await client.save_document("workspace", {"panes": [1, 2], "name": "Ä"})
    assert await client.document("workspace") == {"panes": [1, 2], "name": "Ä"}
    answer = await http.put("/documents/workspace", content=b"{nonsense")
    assert answer.status_code == 400


async def test_unknown_paths_and_methods_are_answered_as_errors(http: httpx.AsyncClient) -> None:
    for answer in (
        await http.get("/nothing"),
        await http.delete("/jobs"),
        await http.get("/jobs/x/files/..%2f"),
    ):
        assert answer.status_code in (404, 405)
        assert answer.json()["message"]


async def test_a_request_larger_than_allowed_is_refused_before_it_is_read(broker: Path) -> None:
    reader, writer = await asyncio.open_unix_connection(str(places(broker).socket))
    writer.write(b"POST /v1/checks HTTP/1.1\r\nhost: b\r\ncontent-length: 999999999999\r\n\r\n")
    head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 413 ")
    writer.close()
    await writer.wait_closed()


async def test_a_slow_request_does_not_delay_another(client: BrokerClient, http: httpx.AsyncClient) -> None:
    items = [{"description": f'Executable = "/bin/true"; Arguments = "{number}";'} for number in range(3000)]
    body = orjson.dumps({"key": key(), "items": items, "hold": "not now"})
    slow = asyncio.create_task(http.post("/submissions", content=body))
    order: list[str] = []
    slow.add_done_callback(lambda _: order.append("slow"))
    while len(order) < 5 and not slow.done():
        await client.info()
        order.append("quick")
    assert (await slow).status_code == 200
    assert order.index("slow") >= 3


async def test_descriptions_that_are_enormous_or_deep_are_refused_with_a_reason(client: BrokerClient) -> None:
    for text in ("[" * 100_000, 'Executable = "' + "x" * 2_000_000 + '";', "\0" * 1000, "é" * 600_000):
        report = await client.check(text)
        assert not report.ok
        assert report.diagnostics[0].message


async def test_the_broker_says_who_it_is_and_what_it_allows(client: BrokerClient) -> None:
    info = await client.info()
    assert (info.mode, info.accepting, info.storage) == ("embedded", True, "ok")
    assert info.limits["input_sandbox_max"] == 1_000_000_000
    (site,) = await client.sites()
    assert site.total_cpus >= 1
