"""The program's commands, noun and verb; errors and exit codes."""

from __future__ import annotations

import asyncio
import inspect
import os
import sys
from collections.abc import Sequence

import typer
from typer.exceptions import TyperException
from typer.rich_utils import rich_format_error

from broker_core.command_line import (
    config,
    desks,
    jdl,
    jdl_eval,
    output,
    policy,
    queue,
    replica,
    sample,
)
from broker_core.command_line.broker import control as broker
from broker_core.command_line.broker import repair as broker_repair
from broker_core.command_line.exits import Exit, TimedOut
from broker_core.command_line.groups import NounGroup, UnknownCommand, Verb
from broker_core.command_line.invocation import Json, Start, StateDir, begin, session
from broker_core.command_line.job import (
    attach as job_attach,
)
from broker_core.command_line.job import (
    change as job_change,
)
from broker_core.command_line.job import (
    forward as job_beside,
)
from broker_core.command_line.job import (
    list as job_list,
)
from broker_core.command_line.job import (
    network as job_network,
)
from broker_core.command_line.job import (
    output as job_output,
)
from broker_core.command_line.job import (
    resubmit as job_resubmit,
)
from broker_core.command_line.job import (
    sftp as job_sftp,
)
from broker_core.command_line.job import (
    ssh as job_ssh,
)
from broker_core.command_line.job import (
    status as job_look,
)
from broker_core.command_line.job import (
    stayed as job_stayed,
)
from broker_core.command_line.job import (
    submit as job_submit,
)
from broker_core.command_line.job import (
    tag as job_tag,
)
from broker_core.command_line.job import (
    top as job_top,
)
from broker_core.command_line.job import (
    wait as job_wait,
)
from broker_core.command_line.job.beside import parameters as job_parameters
from broker_core.command_line.job.beside import services as job_services
from broker_core.command_line.job.ids import shielded
from broker_core.command_line.match import list_match
from broker_core.command_line.simulation import replay as sim
from broker_core.command_line.sites import (
    add as site_add,
)
from broker_core.command_line.sites import (
    change as site_change,
)
from broker_core.command_line.sites import (
    list as site,
)
from broker_core.command_line.sites import (
    show as site_show,
)
from broker_core.command_line.sites import (
    slots,
)
from broker_core.command_line.sites import (
    test as site_trial,
)
from broker_core.errors import BadRequest, CrossDeskError
from broker_core.system.process_limits import shortage
from broker_core.version import VERSION

app = typer.Typer(
    name="crossdesk",
    cls=NounGroup,
    help="Run jobs on this machine and on grids and clusters. Without arguments the desktop opens; the name"
    " of a job description (JDL) opens it there.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _flowing(text: str) -> str:
    """A help text whose paragraphs are one line each: only who shows it knows where lines end."""
    return "\n\n".join(" ".join(part.split()) for part in inspect.cleandoc(text).split("\n\n"))


def _group(about: str) -> typer.Typer:
    return typer.Typer(help=about, cls=NounGroup, no_args_is_help=True, pretty_exceptions_enable=False)


_jobs = _group("Submit jobs and look after them.")
_jobs.command("submit")(job_submit.submit)
_jobs.command("list")(job_list.list_jobs)
_jobs.command("status")(job_look.status)
_jobs.command("top")(job_top.top)
_jobs.command("wait")(job_wait.wait)
_jobs.command("cancel")(job_change.cancel)
_jobs.command("get-output")(job_output.get_output)
_jobs.command("stayed")(job_stayed.stayed)
_jobs.command("logging-info")(job_look.logging_info)
_jobs.command("log")(job_output.log)
_jobs.command("list-match")(list_match.list_match)
_jobs.command("purge")(job_change.purge)
_jobs.command("hold")(job_change.hold)
_jobs.command("release")(job_change.release)
_jobs.command("tag")(job_tag.tag)
_jobs.command("resubmit")(job_resubmit.resubmit)
_jobs.command("attach")(job_attach.attach)
_jobs.command("forward")(job_beside.forward)
_jobs.command("sftp", context_settings={"ignore_unknown_options": True})(job_sftp.sftp)
_jobs.command("exec", context_settings={"allow_interspersed_args": False})(job_beside.execute)
_jobs.command("ssh", context_settings={"allow_interspersed_args": False})(job_ssh.ssh)
_jobs.command("ssh-config")(job_ssh.ssh_config)
_jobs.command("ssh-proxy", hidden=True)(job_ssh.ssh_proxy)
_jobs.command("services")(job_services.services)
_jobs.command("parameters")(job_parameters.parameters)
_jobs.command("set")(job_parameters.set_parameters)
_jobs.command("network")(job_network.network)
_jobs.command("rematch")(job_change.rematch)
_jobs.command("elsewhere", hidden=True)(job_change.rematch)
_sites = _group("The places where jobs run.")
_sites.command("list")(site.list_sites)
_sites.command("show")(site_show.show)
_sites.command("refresh")(site.refresh)
_sites.command("add")(site_add.add)
_sites.command("change")(site_change.change)
_sites.command("remove")(site_change.remove)
_sites.command("drain")(site_change.drain)
_sites.command("resume")(site_change.resume)
_sites.command("connect")(site_change.connect)
_sites.command("test")(site_trial.try_site)
_sites.command("log")(site_change.log)
_policies = _group("Who decides: the policies of the scheduler.")
_policies.command("list")(policy.list_policies)
_policies.command("choose")(policy.choose)
_replicas = _group("Where files in grid storage are.")
_replicas.command("list")(replica.list_replicas)
_replicas.command("add")(replica.add)
_replicas.command("remove")(replica.remove)
_jdl = _group("Job descriptions.")
_jdl.command("check")(jdl.check)
_jdl.command("from")(jdl.from_script)
_jdl.command("eval")(jdl_eval.evaluate)
_brokers = _group("The broker, which runs in the background.")
_brokers.command("start")(broker.start)
_brokers.command("stop")(broker.stop)
_brokers.command("status")(broker.status)
_brokers.command("serve")(broker.serve)
_brokers.command("logs")(broker.logs)
_brokers.command("desks", hidden=True)(desks.list_desks)
_brokers.command("add-desk", hidden=True)(desks.add)
_brokers.command("forget-desk", hidden=True)(desks.remove)
_brokers.command("repair")(broker_repair.repair)
_desks = _group("Your desks: whose keys the agents of interactive jobs accept.")
_desks.command("list")(desks.list_desks)
_desks.command("add")(desks.add)
_desks.command("remove")(desks.remove)
_samples = _group("Sample jobs that come with the program.")
_samples.command("list")(sample.list_samples)
_samples.command("run")(sample.run)
_simulations = _group("The scheduler in virtual time.")
_simulations.command("replay")(sim.replay)
_simulations.command("policies")(sim.policies)
for _name, _nouns in (
    ("job", _jobs),
    ("site", _sites),
    ("policy", _policies),
    ("replica", _replicas),
    ("jdl", _jdl),
    ("broker", _brokers),
    ("desk", _desks),
    ("sample", _samples),
    ("sim", _simulations),
):
    for _verb in _nouns.registered_commands:
        _verb.cls = Verb
        _verb.help = _flowing((_verb.callback and _verb.callback.__doc__) or "")
    app.add_typer(_nouns, name=_name)
app.command("queue", cls=Verb)(queue.queue)
app.command("slots", cls=Verb, help=_flowing(slots.slots.__doc__ or ""))(slots.slots)
app.command("config", cls=Verb)(config.config)


def _show_version(wanted: bool) -> None:
    if wanted:
        output.line(f"crossdesk {VERSION}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Show the version."
    ),
    start: Start = False,
    as_json: Json = False,
    state_dir: StateDir = None,
) -> None:
    """Options before the noun."""


def run(words: Sequence[str]) -> int:
    """Run one command and return its exit code; nothing but the code leaves this function."""
    given = jdl_eval.shielded(shielded(words))
    begin(given)
    try:
        code = app(args=given, prog_name="crossdesk", standalone_mode=False)
        sys.stdout.flush()
        return int(code or 0)
    except BrokenPipeError:
        # The reader of a pipe has gone; nothing more can be written, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.ERROR
    except (KeyboardInterrupt, asyncio.CancelledError, typer.Abort):
        return Exit.INTERRUPTED
    except (TimedOut, CrossDeskError, TyperException) as problem:
        return _told(problem)
    except (RuntimeError, BlockingIOError) as problem:
        full = shortage(problem)
        if full is None:
            raise
        return _told(full)


def _told(problem: TimedOut | CrossDeskError | TyperException) -> int:
    """Say what went wrong; returns the exit code."""
    if isinstance(problem, TimedOut):
        output.say("Timed out.", "yellow")
        return Exit.TIMED_OUT
    if isinstance(problem, CrossDeskError):
        output.error(problem)
        return Exit.USAGE if isinstance(problem, UnknownCommand) else Exit.ERROR
    return _usage(problem)


def _usage(problem: TyperException) -> int:
    message = getattr(problem, "format_message", lambda: str(problem))()
    if session().json:
        output.as_json({"error": output.error_value(BadRequest(message, code="usage"))})
    else:
        rich_format_error(problem)  # type: ignore[arg-type]
    return int(getattr(problem, "exit_code", Exit.USAGE))
