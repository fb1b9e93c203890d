"""The directory of an attempt: its order, its cancel mark and its end, each written whole or not at all."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import orjson
from pydantic import TypeAdapter

from broker_core.jdl.resource_request import ResourceRequest
from broker_core.jobs.attempt_events import AttemptEnded
from broker_core.jobs.placement import Component, component, computing_element
from broker_core.sites.contract import FetchedFile, InputFile, LaunchOrder
from broker_core.worker.scripts.lasting_starter import started_at

log = logging.getLogger("crossdesk.sites")
Record = TypeVar("Record")
_REQUEST = TypeAdapter(ResourceRequest)


class AttemptDirectory:
    """Paths and records of one attempt; plain system calls, because every job passes here."""

    __slots__ = ("path",)

    def __init__(self, root: Path, tag: str) -> None:
        self.path = f"{root}/{tag}"

    @property
    def job(self) -> str:
        """The job's working directory."""
        return f"{self.path}/job"

    def make(self, order: LaunchOrder) -> None:
        """Write the order down; after this the attempt is at the site for good."""
        try:
            os.mkdir(self.path, 0o700)
        except FileExistsError:
            pass  # it came before, and is written down once more
        self._write("order", orjson.dumps(_fields(order, order.attempt) | {"ce": order.ce.id}, default=str))

    def order(self) -> LaunchOrder | None:
        """The order, if the attempt ever arrived."""
        return self._decoded("order", _order)

    def claimed(self) -> bool:
        """True if a starter has taken it."""
        return os.path.lexists(f"{self.path}/claim")

    def lasting_starter(self) -> int:
        """Pid of the living lasting starter that has taken it; 0: none has, or it is gone."""
        try:
            kind, pid, started = os.readlink(f"{self.path}/claim").split(".")
        except (OSError, ValueError):
            return 0
        return int(pid) if kind == "lasting" and pid.isdigit() and started == started_at(int(pid)) else 0

    def ask_cancel(self) -> None:
        """Note that it is to be ended, so that a restart does not forget."""
        self._write("cancel", b"1")

    def cancel_asked(self) -> bool:
        """True if it is to be ended."""
        return os.path.exists(f"{self.path}/cancel")

    def note_gpus(self, ids: Sequence[str]) -> None:
        """Keep which GPUs it has, so that a restart gives them to no other."""
        self._write("gpus", "\n".join(ids).encode())

    def gpus(self) -> list[str]:
        """The GPUs kept by `note_gpus`."""
        return self._read("gpus").decode("utf-8", "replace").split()

    def write_end(self, ended: AttemptEnded) -> None:
        """Keep an end of which no starter left a marker."""
        self._write("over", orjson.dumps(_fields(ended, ended.component)))

    def end(self) -> AttemptEnded | None:
        """The end kept by `write_end`."""
        return self._decoded("over", _end)

    def over(self) -> bool:
        """True if it ended, by the starter's word or the site's."""
        return os.path.exists(f"{self.path}/ended") or os.path.exists(f"{self.path}/over")

    def clear_job(self) -> None:
        """Make the working directory, empty."""
        try:
            os.mkdir(self.job, 0o700)
        except FileExistsError:
            shutil.rmtree(self.job)
            os.mkdir(self.job, 0o700)

    def remove(self) -> None:
        """Remove everything, folders without write permission included."""
        shutil.rmtree(self.path, onerror=_unlock)

    def _write(self, name: str, data: bytes) -> None:
        part = f"{self.path}/{name}.part"
        file = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            while data:  # a disk that is nearly full takes a part, and tells so with the rest
                data = data[os.write(file, data) :]
        finally:
            os.close(file)
        os.rename(part, f"{self.path}/{name}")

    def _decoded(self, name: str, decode: Callable[[dict[str, Any]], Record]) -> Record | None:
        """A record; None too where a power cut left a part of it: what it told is found out anew."""
        raw = self._read(name)
        try:
            return decode(orjson.loads(raw)) if raw else None
        except (ValueError, TypeError, KeyError) as error:
            log.warning("%s/%s cannot be read, and counts as missing: %r", self.path, name, error)
            return None

    def _read(self, name: str) -> bytes:
        try:
            with open(f"{self.path}/{name}", "rb") as file:
                return file.read()
        except FileNotFoundError:
            return b""


def tags_in(root: Path) -> Iterator[str]:
    """Tags of all attempts that have a directory."""
    with os.scandir(root) as entries:
        yield from (entry.name for entry in entries if entry.is_dir(follow_symlinks=False))


def attempts_in(root: Path, *, files: bool = False) -> list[Component]:
    """All attempts that have a directory, or a file."""
    tags = os.listdir(root) if files else tags_in(root)
    return [one for tag in tags if (one := component(tag)) is not None]


def _fields(record: LaunchOrder | AttemptEnded, of: Component) -> dict[str, Any]:
    """The fields of a record as they are written; the component as versions before this one did."""
    found = {one.name: getattr(record, one.name) for one in fields(record) if one.name != "component"}
    found["attempt"] = {"job": of.job, "number": of.attempt} | ({"index": of.index} if of.index else {})
    return found


def _component(fields: dict[str, Any]) -> Component:
    return Component(fields["job"], fields["number"], fields.get("index", 0))


def _end(fields: dict[str, Any]) -> AttemptEnded:
    known = dict(fields)
    return AttemptEnded(_component(known.pop("attempt")), **known)


def _order(fields: dict[str, Any]) -> LaunchOrder:
    inputs = tuple(
        InputFile(file["name"], Path(file["path"]), file["executable"], file.get("sha256", ""))
        for file in fields["inputs"]
    )
    return LaunchOrder(
        **fields
        | {
            "attempt": _component(fields["attempt"]),
            "environment": tuple((name, value) for name, value in fields["environment"]),
            "inputs": inputs,
            "fetched": tuple(FetchedFile(**file) for file in fields.get("fetched", ())),
            "ce": computing_element(fields.get("ce", "")),
            "outputs": tuple(fields["outputs"]),
            "software": tuple(fields.get("software", ())),
            "request": _REQUEST.validate_python(fields.get("request", {})),
            "agent_arguments": tuple(fields.get("agent_arguments", ())),
            "agents": (),  # at this machine the broker's own interpreter runs the agent
        }
    )


def _unlock(function: Any, path: str, error: Any) -> None:
    """Give a folder that the job closed its permissions back, and try again."""
    if isinstance(error[1], FileNotFoundError):
        return
    os.chmod(os.path.dirname(path), 0o700)
    if not os.path.islink(path):
        os.chmod(path, 0o700)
    function(path) if function is not os.open else shutil.rmtree(path, ignore_errors=True)
