"""`crossdesk site list`."""

from __future__ import annotations

from rich.text import Text

from broker_core.client.client import BrokerClient
from broker_core.command_line import output, tables, words
from broker_core.command_line.exits import Exit
from broker_core.command_line.session import Json, StateDir, session, with_client
from broker_core.wire.views import SiteView

_LINKS = {"connected": "green", "drained": "yellow", "retrying": "yellow", "needs-credentials": "yellow"}


def list_sites(as_json: Json = False, state_dir: StateDir = None) -> int:
    """List the sites with their CPUs and queues."""

    async def work(client: BrokerClient) -> list[SiteView]:
        return await client.sites()

    sites = with_client(work)
    if session().json:
        output.as_json({"sites": [one.model_dump() for one in sites]})
        return Exit.OK
    heads = ("SITE", "CE", "KIND", "LINK", "CPUS", "FREE", "RUNNING", "WAITING", "HEARD")
    tables.table(heads, [_row(one) for one in sites], right=("CPUS", "FREE", "RUNNING", "WAITING"))
    return Exit.OK


def _row(one: SiteView) -> tuple[str | Text, ...]:
    reason = f" ({output.printable(one.link_reason)})" if one.link_reason else ""
    link = Text(one.link + reason, style=_LINKS.get(one.link, "red"))
    counts = (one.total_cpus, one.free_cpus, one.running, one.waiting)
    return (one.name, one.ce, one.kind, link, *map(str, counts), words.ago(one.updated))
