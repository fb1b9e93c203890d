"""The program's commands, noun and verb; errors and exit codes."""

from __future__ import annotations

import asyncio
import inspect
import os
import sys
from collections.abc import Sequence
from importlib import import_module

import typer
from typer.exceptions import TyperException

from broker_core.command_line import output
from broker_core.command_line.exits import Exit, TimedOut
from broker_core.command_line.groups import NounGroup, UnknownCommand, Verb
from broker_core.command_line.invocation import Json, Start, StateDir, begin, session
from broker_core.command_line.nouns import NOUNS, Command
from broker_core.command_line.shielding import shielded
from broker_core.errors import BadRequest, CrossDeskError
from broker_core.system.gc_tuning import loading
from broker_core.system.process_limits import shortage
from broker_core.version import VERSION

_BEFORE_NOUN = frozenset({"--json", "--start"})

def _flowing(text: str) -> str:
    """A help text whose paragraphs are one line each: only who shows it knows where lines end."""
    return "\n\n".join(" ".join(part.split()) for part in inspect.cleandoc(text).split("\n\n"))


def _group(about: str) -> typer.Typer:
    return typer.Typer(help=about, cls=NounGroup, no_args_is_help=True, pretty_exceptions_enable=False)


def _show_version(wanted: bool) -> None:
    if wanted:
        output.line(f"crossdesk {VERSION}")
        raise typer.Exit


def _options(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Show the version."
    ),
    start: Start = False,
    as_json: Json = False,
    state_dir: StateDir = None,
) -> None:
    """Options before the noun."""


def application(words: Sequence[str] = ()) -> typer.Typer:
    """The program, with the one command that `words` begin with, or else with all of them."""
    app = typer.Typer(
        name="crossdesk",
        cls=NounGroup,
        help="Run jobs on this machine and on grids and clusters. Without arguments the desktop opens; the"
        " name of a job description (JDL) opens it there.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    only = _named(words)
    for noun, what in NOUNS.items():
        if only and noun != only[0]:
            continue
        if isinstance(what, Command):
            _add(app, noun, what)
            continue
        group = _group(what.about)
        for verb, command in what.verbs.items():
            if not only or verb == only[1]:
                _add(group, verb, command)
        app.add_typer(group, name=noun)
    return app


def _named(words: Sequence[str]) -> tuple[str, str] | None:
    """The noun and verb of a command; None where it is for the whole program to tell: help, or a mistake."""
    if "_CROSSDESK_COMPLETE" in os.environ:
        return None
    rest = list(words)
    while rest[:1] == ["--state-dir"] or (rest[:1] and rest[0] in _BEFORE_NOUN):
        del rest[: 2 if rest[0] == "--state-dir" else 1]
    noun, verb = [*rest, "", ""][:2]
    what = NOUNS.get(noun)
    if isinstance(what, Command):
        return noun, ""
    return (noun, verb) if what is not None and verb in what.verbs else None


def _add(group: typer.Typer, name: str, command: Command) -> None:
    function = getattr(import_module(f"broker_core.command_line.{command.module}"), command.function)
    group.command(
        name,
        cls=Verb,
        help=_flowing(function.__doc__ or ""),
        hidden=command.hidden,
        context_settings=dict(command.settings),
    )(function)


def run(words: Sequence[str]) -> int:
    """Run one command and return its exit code; nothing but the code leaves this function."""
    given = shielded(words)
    begin(given)
    try:
        with loading():
            app = application(given)
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
        from typer.rich_utils import rich_format_error

        rich_format_error(problem)  # type: ignore[arg-type]
    return int(getattr(problem, "exit_code", Exit.USAGE))
