"""Starting the Job Starter of an attempt on this machine."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

from broker_core.sites.contract import KeptProgram, LaunchOrder, SiteRefused
from broker_core.sites.settings import LocalSettings
from broker_core.worker.script import starter_path
from broker_core.worker.variables import StarterOrder, variables
from broker_core.worker.words import split_words

_INHERITED = ("HOME", "USER", "LOGNAME", "SHELL", "PATH", "LANG", "LC_ALL", "TZ", "TMPDIR")
"""What a job gets of the broker's own environment; nothing else leaks into it."""
_RESET = (signal.SIGPIPE, signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGXFSZ)
_BEAT = 2
"""Seconds between two looks of a session's starter for its cancellation, which it ends without us too."""
_MOST_VALUE = 131_000
"""Bytes that the kernel takes in one variable, a little less."""


def starter_variables(
    order: LaunchOrder, directory: str, notice: Path, settings: LocalSettings
) -> dict[str, str]:
    """The variables of an order; raises SiteRefused for what cannot be given to a program."""
    try:
        plain = _local_order(order, directory, notice, settings)
    except ValueError as error:
        raise SiteRefused(str(error), place=order.attempt.job, remedy="Correct the description.") from error
    return checked_variables(plain)


def spawn(given: dict[str, str], directory: str, shell: str) -> int:
    """Start a starter in a session of its own; returns its pid. Raises OSError as posix_spawn does."""
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 2, f"{directory}/starter.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
    ]
    return os.posix_spawn(
        shell,
        [shell, _script()],
        _base() | given,
        file_actions=actions,
        setsid=True,
        setsigmask=[],
        setsigdef=_RESET,
    )


def starter_order(
    order: LaunchOrder, directory: str, kept: Callable[[KeptProgram], str] | None = None
) -> StarterOrder:
    """An order in the starter's terms; raises ValueError for a quote in Arguments that is not closed.

    `kept`: path at the site of a program that it keeps.
    """
    agents = [(order.agent, "")] if order.agent else []
    if kept is not None:
        agents += [(kept(program), program.sha256) for program in order.agents]
    return StarterOrder(
        job=order.attempt.job,
        tag=order.attempt.tag,
        directory=Path(directory),
        program=order.executable,
        arguments=split_words(order.arguments),
        environment=order.environment,
        inputs=[file.name for file in order.inputs],
        outputs=order.outputs,
        stdin=order.stdin,
        stdout=order.stdout,
        stderr=order.stderr,
        wall_limit=order.wall_limit,
        file_limit=order.file_limit,
        interactive=order.interactive,
        agents=agents,
        agent_arguments=order.agent_arguments,
    )


def checked_variables(order: StarterOrder) -> dict[str, str]:
    """The variables of an order; raises SiteRefused for what cannot be given to a program."""
    try:
        found = variables(order)
    except ValueError as error:
        raise SiteRefused(str(error), place=order.job, remedy="Correct the description.") from error
    for name, value in found.items():
        if len(value) > _MOST_VALUE:
            raise SiteRefused(
                f"The variable {name} is too long: {len(value):,} bytes when encoded.",
                place=order.job,
                remedy="Put long values into a file of the input sandbox.",
            )
    return found


def _local_order(order: LaunchOrder, directory: str, notice: Path, settings: LocalSettings) -> StarterOrder:
    return replace(
        starter_order(order, directory),
        file_limit=order.file_limit or settings.file_limit,
        kill_grace=max(1, round(settings.kill_grace)),
        beat=_BEAT if order.interactive else 0,
        notice=str(notice),
    )


@cache
def _script() -> str:
    return str(starter_path())


@cache
def _base() -> dict[str, str]:
    kept = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    return {"PATH": os.defpath, "LANG": "C.UTF-8"} | kept
