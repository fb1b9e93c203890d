"""The broker's daemon with short deadlines towards sites, and with fail points around each exchange there.

`{moment}:{site}.{call}`: moment is `before`, `during` or `after`, call is one of CALLS. Besides,
`before:keep` and `after:keep` are around the writing of an end.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from broker_core.broker.daemon import daemon
from broker_core.broker.engine.failpoints import FailPoints, from_environment
from broker_core.broker.site_management import site_registry, sweeping
from broker_core.sites import factory as making
from broker_core.sites.adapter import Adapter
from broker_core.sites.remote import site as remote
from broker_core.sites.remote.settings import RemoteSettings
from broker_core.sites.shell import bundle
from broker_core.sites.transport import factory
from broker_core.sites.transport.retry_policy import RetryPolicy

SETTINGS = RemoteSettings(
    patience=8.0, short_patience=4.0, cancel_again=2.0, beat=1, grace=3.0, slowest=0.5, untouched=5.0
)
PATIENCE = RetryPolicy(
    connect=5.0, exchange=5.0, login=10.0, channel=5.0, probe=5.0, alive=1.0, silent=3, longest=0.5, first=0.1
)
CALLS = ("submit", "release", "poll", "cancel", "fetch", "remove")
_MIDST = 0.02
"""Seconds after which a call is under way."""


def main() -> int:
    """Serve until stopped or killed."""
    fail = from_environment()
    plain = making.adapter_for

    def adapter_for(spec: Any, *given: Any) -> Adapter:
        adapter = plain(spec, *given)
        for call in CALLS:
            setattr(adapter, call, _guarded(fail, f"{spec.name}.{call}", getattr(adapter, call)))
        return adapter

    making.adapter_for = adapter_for
    site_registry.LOOK_INTERVAL = 5.0
    sweeping.SWEEP_INTERVAL = 2.0
    bundle.PAYLOAD_LEASE = 4
    making.RemoteSettings = lambda: SETTINGS  # type: ignore[assignment, misc]
    factory.RetryPolicy = lambda: PATIENCE  # type: ignore[assignment, misc]
    keep = remote.RemoteRecords.keep

    def kept(self: Any, ended: Any) -> None:
        fail("before:keep")
        keep(self, ended)
        fail("after:keep")

    remote.RemoteRecords.keep = kept  # type: ignore[method-assign]
    return daemon.main()


def _guarded(fail: FailPoints, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
    async def guarded(*given: Any, **more: Any) -> Any:
        fail(f"before:{name}")
        midst = asyncio.get_running_loop().call_later(_MIDST, partial(fail, f"during:{name}"))
        try:
            answer = await call(*given, **more)
        finally:
            midst.cancel()
        fail(f"during:{name}")  # it was over sooner
        fail(f"after:{name}")
        return answer

    return guarded


if __name__ == "__main__":
    sys.exit(main())
