"""`crossdesk site change | remove | drain | resume | connect | log`."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from broker_core.client.client import BrokerClient
from broker_core.command_line import output, tables, words
from broker_core.command_line.exits import Exit
from broker_core.command_line.invocation import Json, StateDir, session, with_client
from broker_core.command_line.job.change import Yes
from broker_core.command_line.job.ids import SiteName
from broker_core.command_line.questions import Asker
from broker_core.command_line.sites import options as site_options
from broker_core.command_line.sites import words as site_words
from broker_core.command_line.sites.add import connected
from broker_core.errors import BadRequest, NotFound
from broker_core.wire.site_states import LinkState
from broker_core.wire.sites import SiteSpec, SiteView


def change(
    name: SiteName,
    user: site_options.User = None,
    port: site_options.Port = None,
    jump: site_options.Jump = None,
    cluster: site_options.Cluster = None,
    queue: site_options.Queues = None,
    option: site_options.Options = None,
    env: site_options.Environment = None,
    directory: site_options.Directory = None,
    proxy: site_options.Proxy = None,
    authorities: site_options.Authorities = None,
    lease: site_options.Lease = None,
    max_jobs: site_options.MostJobs = None,
    reachable: site_options.Reachable = None,
    poll: site_options.Poll = None,
    outside: site_options.Outside = None,
    list_every: site_options.ListEvery = None,
    as_json: Json = False,
    state_dir: StateDir = None,
) -> int:
    """Use other settings for a site; what is not named stays as it is, and jobs there are found again.

    A list (--queue, --option, --env) replaces the old one; one empty word empties it.
    """
    given: dict[str, Any] = {
        "user": user, "port": port, "jump": jump, "queues": _listed(queue), "options": _listed(option),
        "directory": directory, "proxy": proxy, "trust": authorities, "lease": lease, "max_jobs": max_jobs,
        "poll_interval": poll, "list_interval": list_every, "cluster": cluster, "outside": outside,
        "reachable": reachable,
        "environment": None if env is None else site_options.environment(_listed(env) or ()),
    }  # fmt: skip
    changed = {field: value for field, value in given.items() if value is not None}
    if not changed:
        raise BadRequest("Nothing is to be changed.", code="usage", remedy="Name at least one option.")

    async def work(client: BrokerClient) -> SiteView:
        spec = (await view_of(client, name)).spec.model_dump() | changed
        return await client.change_site(site_options.checked(SiteSpec, spec))

    return _shown(with_client(work), "was changed")


def _listed(given: list[str] | None) -> list[str] | None:
    return None if given is None else [word for word in given if word]


def remove(
    name: SiteName,
    force: Annotated[
        bool, typer.Option("--force", help="Also while jobs are there: they are canceled.")
    ] = False,
    yes: Yes = False,
    as_json: Json = False,
    state_dir: StateDir = None,
) -> int:
    """Forget a site. Refused while jobs are there, unless forced.

    With --force its jobs are canceled. What a site that cannot be reached keeps is told.
    """
    if not yes and not session().json and sys.stdin.isatty():
        typer.confirm(f"Remove the site {name}?", abort=True, err=True)
    answer = with_client(lambda client: client.remove_site(name, force))
    if session().json:
        output.as_json({"removed": name, "left": answer.left})
    else:
        output.say(f"{name} was removed.", "green")
        if answer.left:
            output.say(answer.left, "yellow")
    return Exit.OK


def drain(name: SiteName, as_json: Json = False, state_dir: StateDir = None) -> int:
    """Send no new jobs to a site; those that are there go on."""
    return _shown(with_client(lambda client: client.drain_site(name)), "takes no new jobs")


def resume(name: SiteName, as_json: Json = False, state_dir: StateDir = None) -> int:
    """Send new jobs to a site again."""
    return _shown(with_client(lambda client: client.resume_site(name)), "takes new jobs again")


def connect(
    name: SiteName, host_key: site_options.HostKey = "", as_json: Json = False, state_dir: StateDir = None
) -> int:
    """Connect a site now, and answer what it asks; exit code 1 if that does not succeed."""

    async def work(client: BrokerClient) -> SiteView:
        await client.connect_site(name)
        return await connected(client, name, Asker(host_key))

    view = with_client(work)
    well = view.link.state is LinkState.CONNECTED and not view.link.trouble
    _shown(view, f"is {view.link.state}")
    if not well and (view.link.reason or view.link.trouble):
        output.say(view.link.reason or view.link.trouble, "yellow")
    return Exit.OK if well else Exit.ERROR


def log(name: SiteName, as_json: Json = False, state_dir: StateDir = None) -> int:
    """Show what happened to the connection of a site, oldest first."""
    lines = with_client(lambda client: client.site_log(name))
    if session().json:
        output.as_json({"log": [line.model_dump() for line in lines]})
    else:
        tables.table(("TIME", "WHAT"), [(words.moment(line.time), line.words) for line in lines])
    return Exit.OK


async def view_of(client: BrokerClient, name: str) -> SiteView:
    """The view of a site; raises NotFound."""
    views = await client.sites()
    found = next((view for view in views if view.name == name), None)
    if found is None:
        known = ", ".join(view.name for view in views)
        raise NotFound("There is no site of this name.", place=name, remedy=f"There are: {known}.")
    return found


def _shown(view: SiteView, said: str) -> int:
    if session().json:
        output.as_json({"site": view.model_dump()})
    else:
        output.say(f"{view.name} {said}.", "green" if view.link.state is LinkState.CONNECTED else "yellow")
        site_words.show(view)
    return Exit.OK
