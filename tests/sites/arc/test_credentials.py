"""Who may speak to a real A-REX, and what is said where somebody may not."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from broker_core.errors import NotFound
from broker_core.sites.arc.adapter import ArcAdapter
from broker_core.sites.link import LinkState
from broker_core.sites.transport.contract import LinkLost
from broker_core.wire.sites import SiteSpec
from tests.sites.arc.conftest import Adapting
from tests.testbed.arc import ARex
from tests.testbed.certificates import Authority
from tests.waiting import eventually

pytestmark = pytest.mark.cluster


async def settled(adapter: ArcAdapter, state: LinkState) -> str:
    """Wait for a state of the link; returns its reason."""
    await eventually(lambda: adapter.link.state is state, what=f"the link is {state}")
    return adapter.link.reason


async def test_a_proxy_opens_the_site(spec: SiteSpec, adapting: Adapting) -> None:
    adapter = await adapting(spec)
    await settled(adapter, LinkState.CONNECTED)
    assert adapter.link.heard is not None
    assert adapter.link.question is None
    assert 0 < (adapter.link.credential_until or 0.0) - time.time() <= 12 * 3600


async def test_an_expired_proxy_is_told_and_a_new_one_is_taken_by_itself(
    arex: ARex, spec: SiteSpec, proxy: Path, adapting: Adapting
) -> None:
    arex.authority.proxy(arex.user, proxy, hours=-1)
    adapter = await adapting(spec)
    reason = await settled(adapter, LinkState.NEEDS_CREDENTIALS)
    assert "has expired" in reason
    assert "CN=alice" in reason
    assert "arcproxy" in reason
    with pytest.raises(LinkLost, match="has expired"):
        await adapter.poll([])
    arex.authority.proxy(arex.user, proxy)
    await settled(adapter, LinkState.CONNECTED)
    assert adapter.link.question is None


async def test_a_proxy_that_is_replaced_by_an_expired_one_is_noticed_with_the_next_request(
    arex: ARex, spec: SiteSpec, proxy: Path, adapting: Adapting
) -> None:
    adapter = await adapting(spec)
    await adapter.poll([])
    arex.authority.proxy(arex.user, proxy, hours=-1)
    with pytest.raises(LinkLost, match="has expired"):
        await adapter.poll([])
    assert adapter.link.state is LinkState.NEEDS_CREDENTIALS


async def test_without_a_credential_the_user_is_asked_for_its_file(
    spec: SiteSpec, proxy: Path, tmp_path: Path, adapting: Adapting
) -> None:
    adapter = await adapting(spec.model_copy(update={"proxy": str(tmp_path / "none")}))
    reason = await settled(adapter, LinkState.NEEDS_CREDENTIALS)
    assert str(tmp_path / "none") in reason
    question = adapter.link.question
    assert question is not None
    assert (question.kind, question.secret) == ("proxy", False)
    adapter.answer(question.id, str(proxy))
    await settled(adapter, LinkState.CONNECTED)
    with pytest.raises(NotFound):
        adapter.answer(question.id, "yes")


async def test_a_protected_key_asks_for_its_passphrase_until_it_is_right(
    arex: ARex, spec: SiteSpec, isolated: Path, adapting: Adapting
) -> None:
    globus = isolated / "home" / ".globus"
    globus.mkdir()
    pair = arex.authority.protected(arex.user, "a secret", globus / "userkey.pem")
    (globus / "usercert.pem").write_bytes(pair.certificate.read_bytes())
    environment = {"X509_USER_PROXY": str(globus / "no-proxy")}
    adapter = await adapting(spec.model_copy(update={"proxy": "", "environment": environment}))
    await settled(adapter, LinkState.NEEDS_CREDENTIALS)
    first = adapter.link.question
    assert first is not None
    assert (first.kind, first.secret, first.keep_as) == ("passphrase", True, f"x509:{globus}/userkey.pem")
    adapter.answer(first.id, "wrong one")
    await eventually(lambda: adapter.link.question not in (None, first), what="it is asked again")
    second = adapter.link.question
    assert second is not None
    assert "not right" in second.text
    adapter.answer(second.id, "a secret")
    await settled(adapter, LinkState.CONNECTED)
    assert "secret" not in f"{adapter.link.log}{vars(adapter)}{spec}"


async def test_a_key_that_others_can_read_is_not_used(
    spec: SiteSpec, proxy: Path, adapting: Adapting
) -> None:
    proxy.chmod(0o644)
    adapter = await adapting(spec)
    assert "chmod 600" in await settled(adapter, LinkState.NEEDS_CREDENTIALS)
    proxy.chmod(0o600)
    await settled(adapter, LinkState.CONNECTED)


async def test_a_site_of_an_authority_that_is_not_trusted_is_refused(
    spec: SiteSpec, tmp_path: Path, adapting: Adapting
) -> None:
    stranger = Authority(tmp_path / "other", "Other Authority")
    adapter = await adapting(spec.model_copy(update={"trust": str(stranger.directory)}))
    reason = await settled(adapter, LinkState.DOWN)
    assert "not who it claims to be" in reason
    assert "trusted authorities" in reason
    with pytest.raises(LinkLost):
        await adapter.submit([])


async def test_a_user_whom_the_site_does_not_know_is_told_whom_to_ask(
    arex: ARex, spec: SiteSpec, proxy: Path, adapting: Adapting
) -> None:
    arex.authority.proxy(arex.stranger, proxy)
    reason = await settled(await adapting(spec), LinkState.DOWN)
    assert "does not admit /DC=org/DC=example/CN=mallory" in reason
    assert "Ask the site" in reason


async def test_a_user_of_an_authority_that_the_site_does_not_know_is_told_so(
    spec: SiteSpec, proxy: Path, tmp_path: Path, adapting: Adapting
) -> None:
    other = Authority(tmp_path / "other", "Other Authority")
    other.proxy(other.user("alice"), proxy)
    adapter = await adapting(spec)
    await eventually(lambda: adapter.link.reason, what="the link says why")
    assert adapter.link.state is not LinkState.CONNECTED
    assert "certificate" in adapter.link.reason


async def test_a_site_that_is_away_is_tried_again(arex: ARex, spec: SiteSpec, adapting: Adapting) -> None:
    url = spec.url.replace(str(arex.port), "1")
    adapter = await adapting(spec.model_copy(update={"url": url}))
    reason = await settled(adapter, LinkState.RETRYING)
    assert "cannot be reached" in reason
    assert adapter.link.retry_at is not None
    first = adapter.link.retry_at
    await eventually(lambda: adapter.link.retry_at != first, what="it was tried again")
