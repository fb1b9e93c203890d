"""Lasting starters: processes that run plain programs one after the other, for many short jobs."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from importlib.resources import files
from pathlib import Path
from typing import Any

import orjson

from broker_core.jdl.names import ALL_NEW
from broker_core.sites.contract import LaunchOrder
from broker_core.sites.local.exit_watcher import ExitWatcher
from broker_core.sites.local.processes import reap
from broker_core.sites.local.settings import LocalSettings
from broker_core.sites.starting import job_environment
from broker_core.system.priority import NICEST, group_gives_way
from broker_core.worker.encoding import encode
from broker_core.worker.script import BLOCK, use_path
from broker_core.worker.words import split_words

log = logging.getLogger("crossdesk.sites")
IDLE = 60.0
"""Seconds after which one that has nothing to do ends."""
_MOST_ORDER = 65_536
"""Bytes of an order, so that it always fits into a socket that is empty."""
_BEGIN = """import sys; sys.path.insert(0, sys.argv[1])
from broker_core.worker.scripts.lasting_starter import main; main(int(sys.argv[2]))"""
_PACKAGES = str(Path(str(files("broker_core"))).parent)
_LINES = re.compile(rb"(\w+) ([^\n]+)\n")


class Word(StrEnum):
    """What is heard of an attempt that a lasting starter has."""

    STARTED = "started"
    ENDED = "ended"
    REFUSED = "refused"
    """It was started before."""
    DECLINED = "declined"
    """Nothing was started; `job_starter.sh` knows why."""
    LOST = "lost"
    """Its starter is gone."""


@dataclass(slots=True, eq=False)
class _Lasting:
    """One of them."""

    pid: int
    channel: socket.socket
    tag: str = ""
    """Of the attempt that it has; empty: none."""
    rest: bytes = b""
    end: asyncio.TimerHandle | None = field(default=None)
    """What ends it, while it has nothing to do."""


class LastingStarters:
    """The lasting starters of one site. They outlive this process only with a program that runs."""

    def __init__(
        self, exits: ExitWatcher, settings: LocalSettings, notice: Path, notify: Callable[[Word, str], None]
    ) -> None:
        self._exits = exits
        self._settings = settings
        self._notice = str(notice)
        self._log = f"{notice.parent}/lasting.log"
        self._nice = min(os.nice(0) + settings.nice, NICEST) if settings.nice else 0
        self._notify = notify
        self._all: dict[int, _Lasting] = {}
        self._idle: list[_Lasting] = []

    @property
    def pids(self) -> set[int]:
        """Of those that are there."""
        return set(self._all)

    def grow(self, most: int) -> None:
        """Start one more, if there are fewer than `most`; without it jobs go on as before."""
        if len(self._all) >= most:
            return
        try:
            ours, theirs = socket.socketpair()
        except OSError as error:
            log.info("There are no descriptors left for a lasting starter: %s", error)
            return
        try:
            pid = self._spawn(theirs)
        except OSError as error:
            log.info("No lasting starter can be started: %s", error)
            ours.close()
            return
        finally:
            theirs.close()
        ours.setblocking(False)
        one = self._all[pid] = _Lasting(pid, ours)
        asyncio.get_running_loop().add_reader(ours, self._ready, one)
        try:
            self._exits.watch(pid, self._gone)
        except OSError:  # it is over already, or there are no descriptors left
            self._gone(pid)
            return
        self._rest(one)

    def hand(self, order: LaunchOrder, directory: str) -> int:
        """Give a plain attempt to one that has nothing to do; its pid, or 0 if there is none."""
        if not self._idle:
            return 0
        line = self._line(order, directory)
        if len(line) > _MOST_ORDER:
            return 0
        one = self._idle.pop()
        if one.end is not None:
            one.end.cancel()
        one.tag = order.attempt.tag
        try:
            whole = one.channel.send(line) == len(line)
        except OSError:  # it is gone, which is heard of in a moment
            whole = False
        if not whole:
            # Of a part of an order nothing is begun.
            one.tag = ""
            self._drop(one)
        return one.pid if whole else 0

    def close(self) -> None:
        """Give no more orders: each ends with the program that it has."""
        for one in self._all.values():
            self._drop(one)
        self._all.clear()
        self._idle.clear()

    def _line(self, order: LaunchOrder, directory: str) -> bytes:
        """An order as a lasting starter reads it."""
        fields: dict[str, Any] = {
            "tag": order.attempt.tag,
            "directory": directory,
            "program": order.executable,
            "arguments": split_words(order.arguments),
            "environment": job_environment(order, f"{directory}/job"),
            "stdin": order.stdin,
            "stdout": order.stdout or "std.out",
            "stderr": order.stderr or "std.err",
            "outputs": [(name, encode(name)) for name in order.outputs if name != ALL_NEW],
            "wall_limit": order.wall_limit,
            "kill_grace": max(1, round(self._settings.kill_grace)),
            "nice": self._nice,
            "use": str(use_path()),
            "notice": self._notice,
        }
        try:
            return orjson.dumps(fields) + b"\n"
        except TypeError:  # the broker's own variables may hold what is no UTF-8
            return json.dumps(fields).encode() + b"\n"

    def _spawn(self, channel: socket.socket) -> int:
        number = channel.fileno()
        actions = [
            (os.POSIX_SPAWN_DUP2, number, 0),
            (os.POSIX_SPAWN_DUP2, number, 1),
            (os.POSIX_SPAWN_OPEN, 2, self._log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
        ]
        limit = self._settings.file_limit
        most = max(1, limit // BLOCK) * BLOCK if limit else 0
        words = [sys.executable, "-I", "-S", "-X", "utf8", "-c", _BEGIN, _PACKAGES, str(most)]
        known = {"PATH": os.defpath, "LANG": "C.UTF-8"}
        pid = os.posix_spawn(sys.executable, words, known, file_actions=actions, setsid=True, setsigmask=[])
        if self._nice:
            group_gives_way(pid, self._nice)
        return pid

    def _ready(self, one: _Lasting) -> None:
        try:
            data = one.channel.recv(_MOST_ORDER)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._drop(one)
            return
        one.rest += data
        while found := _LINES.match(one.rest):
            one.rest = one.rest[found.end() :]
            self._take(one, Word(found[1].decode()), found[2].decode())

    def _take(self, one: _Lasting, word: Word, tag: str) -> None:
        if word is not Word.STARTED:
            one.tag = ""
            self._rest(one)
        self._notify(word, tag)

    def _rest(self, one: _Lasting) -> None:
        self._idle.append(one)
        one.end = asyncio.get_running_loop().call_later(IDLE, self._drop, one)

    def _drop(self, one: _Lasting) -> None:
        """Close its channel: with nothing more to do it ends."""
        if one in self._idle:
            self._idle.remove(one)
        if one.end is not None:
            one.end.cancel()
        if one.channel.fileno() >= 0:
            asyncio.get_running_loop().remove_reader(one.channel)
            one.channel.close()

    def _gone(self, pid: int) -> None:
        reap([pid])
        one = self._all.pop(pid, None)
        if one is None:
            return
        if one.channel.fileno() >= 0:
            self._ready(one)  # its last words may not be read yet
        self._drop(one)
        if one.tag:
            self._notify(Word.LOST, one.tag)


def is_plain(order: LaunchOrder) -> bool:
    """True for a program that needs nothing but its files, words and variables."""
    known = dict(order.environment)
    given = order.request.gpus or order.file_limit or "CROSSDESK_BATCH_SCRIPT" in known
    special = order.interactive or order.agent or order.fetched or order.software or order.mpi
    return (
        not (given or special)
        and not any("\\" in name for name in order.outputs)
        and all(name and "=" not in name for name in known)
    )
