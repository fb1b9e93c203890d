"""The broker's daemon of `quick_broker`, with fail points around each request to A-REX as well.

`{moment}:arc.{request}`: moment is `before` or `after`; a request is an action on jobs (`new`, `info`,
`kill`, `clean`) or the name of a file that is sent (`bundle.tar`, `launch`, `go`, `cancel`). After a request
its answer is there, and nothing was made of it. `during:arc.bundle.tar` is amid the content of that file.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable
from typing import Any

from broker_core.broker.engine.failpoints import FailPoints, from_environment
from broker_core.sites.arc.rest import Content, Rest, RestResponse
from tests.crash import quick_broker


def main() -> int:
    """Serve until stopped or killed."""
    fail = from_environment()
    ask, send = Rest.ask, Rest.send

    async def asked(rest: Rest, method: str, path: str, **more: Any) -> RestResponse:
        return await _around(fail, _name(path), lambda: ask(rest, method, path, **more))

    async def sent(rest: Rest, path: str, content: Content, size: int, **more: Any) -> RestResponse:
        def passing() -> AsyncIterator[bytes]:
            return _watched(content(), lambda: fail(f"during:{_name(path)}"))

        return await _around(fail, _name(path), lambda: send(rest, path, passing, size, **more))

    Rest.ask, Rest.send = asked, sent  # type: ignore[method-assign, assignment]
    return quick_broker.main()


def _name(path: str) -> str:
    return f"arc.{path.rpartition('action=')[2].rpartition('/')[2]}"


async def _around(fail: FailPoints, name: str, request: Callable[[], Any]) -> Any:
    fail(f"before:{name}")
    answer = await request()
    fail(f"after:{name}")
    return answer


async def _watched(content: AsyncIterator[bytes], pass_: Callable[[], None]) -> AsyncIterator[bytes]:
    """The same content; `pass_` is called when some of it is on its way."""
    began = False
    async for piece in content:
        if began:
            pass_()
        yield piece
        began = True


if __name__ == "__main__":
    sys.exit(main())
