"""Looking what is at a URL before it becomes a site."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from broker_core.errors import CrossDeskError
from broker_core.sites.arc.detection import ArcLook
from broker_core.sites.transport.contract import LinkLost
from broker_core.wire.sites import DetectRequest
from tests.testbed.arc import ARex
from tests.waiting import eventually

pytestmark = pytest.mark.cluster


def request(arex: ARex, **more: str) -> DetectRequest:
    given = {"url": f"https://localhost:{arex.port}", "trust": str(arex.authority.directory)}
    return DetectRequest.model_validate(given | more)


async def test_a_url_is_found_with_its_queues_and_a_site_to_add(arex: ARex, proxy: Path) -> None:
    look = ArcLook(request(arex, proxy=str(proxy)))
    found = await look.found()
    await look.close()
    assert (found.state, found.host, found.user) == ("found", "localhost", arex.user.subject)
    (system,) = found.systems
    assert (system.kind, system.title, system.trouble) == ("arc", "ARC", "")
    assert system.version == arex.published_version
    assert [(queue.name, queue.open, queue.memory) for queue in system.queues] == [("fork", True, 0)]
    assert system.queues[0].total_cpus > 0
    suggestion = found.suggestion
    assert suggestion is not None
    assert suggestion.model_dump(include={"name", "kind", "url", "proxy", "trust"}) == {
        "name": "arc-site",
        "kind": "arc",
        "url": arex.url,
        "proxy": str(proxy),
        "trust": str(arex.authority.directory),
    }


async def test_a_missing_proxy_is_asked_for_and_stands_in_the_suggestion(
    arex: ARex, proxy: Path, tmp_path: Path
) -> None:
    look = ArcLook(request(arex, proxy=str(tmp_path / "none")))
    finding = asyncio.ensure_future(look.found())
    question = await eventually(lambda: look.link.question, what="the proxy is asked for")
    look.answer(question.id, str(proxy))
    found = await finding
    await look.close()
    assert found.suggestion is not None
    assert found.suggestion.proxy == str(proxy)


async def test_a_declined_question_ends_the_look(arex: ARex, tmp_path: Path) -> None:
    look = ArcLook(request(arex, proxy=str(tmp_path / "none")))
    finding = asyncio.ensure_future(look.found())
    question = await eventually(lambda: look.link.question, what="the proxy is asked for")
    look.answer(question.id, "")
    with pytest.raises(LinkLost, match=r"no X\.509 credential"):
        await finding
    await look.close()


@pytest.mark.parametrize("url", ["https://localhost:1", " ", "ldap://localhost"])
async def test_what_is_no_site_is_told_at_once(arex: ARex, proxy: Path, url: str) -> None:
    look = ArcLook(request(arex, proxy=str(proxy), url=url))
    with pytest.raises(CrossDeskError) as told:
        await look.found()
    await look.close()
    assert told.value.message
