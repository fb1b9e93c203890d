"""A real JupyterLab over the channel with a cut in between, without a browser.

HTTP fetches its page, and a WebSocket speaks to a kernel, as the page does.
"""

from __future__ import annotations

import asyncio
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from broker_core.client.package_data import folder
from broker_core.interactive.shadow.session_events import ServiceState, SessionState
from broker_core.worker.agent_settings import SERVICES
from tests.interactive.pair import Bench
from tests.interactive.terminals import SHELL, ready
from tests.interactive.wire import Wire
from tests.waiting import eventually

pytestmark = pytest.mark.notebook
NOTEBOOK = Path(sys.prefix) / "notebook" / "bin"
"""Where `packaging/test.sh` puts JupyterLab."""
SAMPLE = folder("samples") / "notebook" / "notebook.sh"
CLIENT = """
import json, sys, urllib.request, websocket
base, token, code, *known = sys.argv[1:]
if not known:
    head = {"Authorization": "token " + token}
    made = urllib.request.urlopen(urllib.request.Request(base + "/api/kernels", b"{}", head))
    known = [json.load(made)["id"]]
address = base.replace("http", "ws") + f"/api/kernels/{known[0]}/channels?token={token}"
line = websocket.create_connection(address, origin=base)
head = {"msg_id": code, "msg_type": "execute_request", "username": "", "session": "s", "version": "5.3"}
line.send(json.dumps({"channel": "shell", "header": head, "parent_header": {}, "metadata": {}, "content": {
    "code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False}}))
replied = idle = False
while not (replied and idle):
    found = json.loads(line.recv())
    if found["parent_header"].get("msg_id") == code:
        replied |= found["msg_type"] == "execute_reply"
        idle |= found["content"].get("execution_state") == "idle"
        if found["msg_type"] == "stream":
            print(found["content"]["text"].strip())
print(known[0])
"""


async def run_in_kernel(base: str, token: str, code: str, *kernel: str) -> list[str]:
    """Run code in a kernel, a new one if none is named; returns what it printed and the kernel's name."""
    process = await asyncio.create_subprocess_exec(
        NOTEBOOK / "python", "-c", CLIENT, base, token, code, *kernel, stdout=asyncio.subprocess.PIPE
    )
    printed, _ = await process.communicate()
    assert process.returncode == 0
    return printed.decode().splitlines()


def content(address: str) -> bytes:
    with urllib.request.urlopen(address, timeout=60) as answer:
        return bytes(answer.read())


async def test_its_kernel_keeps_its_variables_over_a_cut(
    made: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(NOTEBOOK), prepend=":")
    monkeypatch.setenv("HOME", str(made.folder))
    wire = Wire(made.place)
    made.place = await wire.open()
    wire.keeps = True
    await made.start_agent(SHELL)
    session = (await ready(made)).session
    session.write(f"CROSSDESK_SERVICES=$PWD/{SERVICES} {SAMPLE} >log 2>&1 &\n".encode())
    views = session.forwards.services.views
    await eventually(lambda: [one.state for one in views()] == [ServiceState.READY], what="it is ready")
    address = await session.forwards.services.address("JupyterLab")
    base, _, token = address.partition("/lab?token=")
    assert b"JupyterLab" in await asyncio.to_thread(content, address)
    with pytest.raises(urllib.error.HTTPError, match="403"):
        await asyncio.to_thread(content, f"{base}/api/kernels")
    (kernel,) = await run_in_kernel(base, token, "x = 41")
    assert wire.cut() > 0
    await eventually(lambda: session.status.state is SessionState.BUFFERING)
    await eventually(lambda: session.status.state is SessionState.CONNECTED)
    assert await run_in_kernel(base, token, "print(x + 1)", kernel) == ["42", kernel]
    assert token.encode() not in wire.seen
    assert token not in (made.job / "log").read_text()
    session.write(b"kill $!; wait\n")
    await eventually(lambda: [one.state for one in views()] == [ServiceState.ENDED], what="it has ended")
    await wire.close()
