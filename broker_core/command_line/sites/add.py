"""`crossdesk site add`: look what is at a host, ask what must be asked, add it, send a test job."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from broker_core.client.client import BrokerClient
from broker_core.command_line import output
from broker_core.command_line.exits import Exit
from broker_core.command_line.invocation import Json, StateDir, session, with_client
from broker_core.command_line.job.following import failed
from broker_core.command_line.questions import Asker
from broker_core.command_line.sites import options as site_options
from broker_core.command_line.sites import words as site_words
from broker_core.command_line.sites.test import run_test, tell_test
from broker_core.errors import BadRequest, CrossDeskError
from broker_core.wire.site_states import DetectionState, LinkState
from broker_core.wire.sites import Detection, DetectRequest, SiteSpec, SiteView, SystemFound

_LOOK = 0.3
"""Seconds between two questions how a look or a connection does."""
_TRIES = 200
"""So many times it is asked whether a site that was added is connected."""
_WEB = ("https://", "http://")


@dataclass(frozen=True, slots=True)
class _Wish:
    """What the user gave; None leaves it as it was found."""

    kind: str
    name: str
    given: dict[str, Any]
    host_key: str
    test: bool
    ask: bool


def add(
    host: Annotated[
        str,
        typer.Argument(
            help="[USER@]HOST, alias of ~/.ssh/config, or URL of an ARC service; none: this machine.",
            metavar="HOST",
        ),
    ] = "",
    name: Annotated[str, typer.Option("--name", "-n", help="Name of the site; else the host's.")] = "",
    kind: site_options.Kind = "",
    user: site_options.User = None,
    port: site_options.Port = None,
    jump: site_options.Jump = None,
    cluster: site_options.Cluster = None,
    queue: site_options.Queues = None,
    option: site_options.Options = None,
    env: site_options.Environment = None,
    directory: site_options.Directory = None,
    proxy: site_options.Proxy = None,
    lease: site_options.Lease = None,
    max_jobs: site_options.MostJobs = None,
    reachable: site_options.Reachable = None,
    poll: site_options.Poll = None,
    list_every: site_options.ListEvery = None,
    authorities: site_options.Authorities = None,
    host_key: site_options.HostKey = "",
    test: Annotated[bool, typer.Option("--test/--no-test", help="Send a test job.")] = True,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Add what is found without asking.")] = False,
    as_json: Json = False,
    state_dir: StateDir = None,
) -> int:
    """Add a place where jobs can run: looks what is there, asks what is needed, sends a test job.

    Passphrases and passwords are asked here, and kept in your keyring only if you say so; the broker
    has them in memory alone. Without a terminal, answers are read from standard input, one a line.
    """
    if kind and kind not in site_options.KINDS:
        raise BadRequest(f"There is no kind {kind!r}.", remedy=f"Use {', '.join(site_options.KINDS)}.")
    account, at, address = host.rpartition("@")
    place = {"url": host} if host.startswith(_WEB) else {"host": address}
    user = user or (account if at and "host" in place else None)
    way = {"user": user, "port": port, "jump": jump, "proxy": proxy, "trust": authorities}
    given: dict[str, Any] = place | {name: value for name, value in way.items() if value is not None}
    given["environment"] = site_options.environment(env or ())
    request = site_options.checked(DetectRequest, given)
    used: dict[str, Any] = {
        "queues": queue, "options": option, "directory": directory, "lease": lease, "max_jobs": max_jobs,
        "poll_interval": poll, "list_interval": list_every, "cluster": cluster, "reachable": reachable,
    }  # fmt: skip
    given |= {name: value for name, value in used.items() if value is not None}
    ask = not yes and not session().json and sys.stdin.isatty()
    wish = _Wish(kind, name, given, host_key, test, ask)
    return with_client(lambda client: _add(client, request, wish))


async def _add(client: BrokerClient, request: DetectRequest, wish: _Wish) -> int:
    asker = Asker(wish.host_key)
    found = await _look(client, request, asker)
    if not session().json:
        site_words.tell_found(found)
    spec = _spec(found, wish)
    if wish.ask and not typer.confirm(f"Add it as {spec.name}?", default=True, err=True):
        return Exit.ERROR
    view = await client.add_site(spec)
    asker.another()
    view = await connected(client, view.name, asker)
    output.say(f"{spec.name} was added and is {view.link.state}.", "green")
    row = await run_test(client, spec.name) if wish.test else None
    if session().json:
        test = {"test": row} if row is not None else {}
        output.as_json({"site": view.model_dump(), "found": found.model_dump(), **test})
    elif row is not None:
        await tell_test(client, row)
    return Exit.JOB_FAILED if row is not None and failed([row]) else Exit.OK


async def _look(client: BrokerClient, request: DetectRequest, asker: Asker) -> Detection:
    """What is at a host; raises CrossDeskError where it cannot be found out."""
    output.say(f"Looking at {request.url or request.host or 'this machine'} ...", "dim")
    found = await client.detect_site(request)
    seen = ""
    while not found.state.is_over:
        question = found.question
        if question is not None and question.id != seen:
            seen = question.id
            id_ = found.id
            await asker.answer(question, lambda one, id_=id_: client.answer_detection(id_, one))  # type: ignore[misc]
        else:
            await asyncio.sleep(_LOOK)
        found = await client.detection(found.id)
    if found.state is DetectionState.FAILED:
        raise CrossDeskError(found.reason, place=request.url or request.host, code="site_not_found")
    await asker.accepted()
    return found


def _spec(found: Detection, wish: _Wish) -> SiteSpec:
    """The settings to be added: what was found, and over it what was given."""
    usable = [one for one in found.systems if not one.trouble]
    chosen = _chosen(usable, wish)
    base = found.suggestion.model_dump() if found.suggestion is not None else {}
    kind = wish.kind or (chosen.kind if chosen is not None else "") or base.get("kind", "")
    if not kind:
        raise CrossDeskError(
            "Nothing was found there that could run jobs.",
            place=found.host,
            remedy=found.reason,
            code="no_system",
        )
    return site_options.checked(
        SiteSpec, base | wish.given | {"kind": kind, "name": wish.name or _name(found, wish)}
    )


def _chosen(usable: list[SystemFound], wish: _Wish) -> SystemFound | None:
    if wish.kind:
        return next((one for one in usable if one.kind == wish.kind), None)
    if len(usable) > 1 and wish.ask:
        kinds = [one.kind for one in usable]
        word = typer.prompt(f"Use which ({', '.join(kinds)})", default=kinds[0], err=True)
        if word not in kinds:
            raise BadRequest(f"{word!r} was not found there.", remedy=f"Use {', '.join(kinds)}.")
        return usable[kinds.index(word)]
    return usable[0] if usable else None


def _name(found: Detection, wish: _Wish) -> str:
    if found.suggestion is not None:
        return found.suggestion.name
    raise BadRequest("The site needs a name.", remedy=f"Give one by --name, e.g. --name {wish.kind}.")


async def connected(client: BrokerClient, name: str, asker: Asker) -> SiteView:
    """Wait until a site is connected, answering what is asked; returns as it is after a minute anyhow."""
    seen = ""
    for _ in range(_TRIES):
        view = next(one for one in await client.sites() if one.name == name)
        question = view.link.question
        if question is not None and question.id != seen:
            seen = question.id
            await asker.answer(question, lambda one: client.answer_site(name, one))
        elif view.link.state in (LinkState.CONNECTED, LinkState.DOWN):
            if view.link.state is LinkState.CONNECTED:
                await asker.accepted()
            return view
        else:
            await asyncio.sleep(_LOOK)
    return view
