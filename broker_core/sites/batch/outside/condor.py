"""Jobs outside CrossDesk at HTCondor. Tested against simulated commands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from broker_core.sites.batch.commands import count_in
from broker_core.sites.batch.condor_lists import JOBS, NAME, QUEUE, read_jobs
from broker_core.sites.batch.outside.reader import OutsideFacts, WithoutAccounting, outside_job
from broker_core.sites.batch.system import BatchSystem
from broker_core.wire.outside import OutsideJob

_MORE = ("JobBatchName", "Cmd", "RequestCpus", "QDate", "JobCurrentStartDate")
_SHOWN = (
    *("Cmd", "Args", "Arguments", "Iwd", "Requirements", "RequestCpus", "RequestMemory", "HoldReason"),
    *("AccountingGroup", "RemoteHost", "Out", "Err", "UserLog"),
)
_FACT = re.compile(r'(\w+) = "?(.*?)"?')
_NAMES = ("Idle", "Running", "Removed", "Completed", "Held", "Transferring Output", "Suspended")
_WORDS = dict(enumerate(_NAMES, 1))


class CondorOutside(WithoutAccounting):
    """See `OutsideReader`."""

    def status(self, system: BatchSystem, mark: str) -> str:
        """condor_q without a constraint, with more attributes."""
        return f'condor_q "$(id -un)" {shlex.join(["-autoformat:t", *_MORE, *JOBS])} && echo .'

    def split(self, out: str, mark: str) -> tuple[str, list[OutsideJob]]:
        """Lines of five more attributes and what `read_jobs` takes, and a dot."""
        lines = [line.split("\t", len(_MORE)) for line in out.splitlines() if line != "."]
        if any(len(parts) != len(_MORE) + 1 for parts in lines):
            raise ValueError(f"condor_q printed something else than its table: {out[:200]!r}")
        at = JOBS.index(NAME)
        own = [parts[-1] for parts in lines if parts[-1].split("\t")[at].startswith(mark)]
        end = ".\n" if out.endswith(".\n") else ""
        return "".join(f"{line}\n" for line in own) + end, list(_jobs(lines))

    def details(self, id: str) -> str:
        """condor_q."""
        return shlex.join(["condor_q", "-long", id.replace("_", ".")])

    def described(self, out: str) -> OutsideFacts:
        """Relative paths begin at the job's own directory."""
        pairs = filter(None, map(_FACT.fullmatch, out.splitlines()))
        values = {found[1]: found[2] for found in pairs}
        facts = [(name, values[name]) for name in _SHOWN if values.get(name)]
        paths = []
        for name in ("Out", "Err"):
            path = values.get(name, "")
            if path and not path.startswith("/"):
                path = f"{values.get('Iwd', '')}/{path}"
            paths.append(path if path.startswith("/") and path != "/dev/null" else "")
        return OutsideFacts(facts, *paths)


def _jobs(lines: list[list[str]]) -> Iterator[OutsideJob]:
    for batch, command, cpus, submitted, started, own in lines:
        for listed in read_jobs(f"{own}\n.\n"):
            word = own.split("\t")[JOBS.index("JobStatus")]
            named = [listed.name, batch, command.rpartition("/")[2]]
            yield outside_job(
                listed,
                _WORDS.get(count_in(word), word),
                # One on hold may be released: that is no end.
                state={"5": "Waiting", "4": "Done", "3": "Canceled"}.get(word) or _state(word),
                reason=listed.reason.removeprefix("held by HTCondor: "),
                name=next((name for name in named if name not in ("", "undefined")), ""),
                queue=QUEUE,
                cpus=count_in(cpus) or 1,
                submitted=_time(submitted),
                started=_time(started),
            )


def _state(word: str) -> str:
    return "Waiting" if word == "1" else "Running"


def _time(text: str) -> float | None:
    return float(text) if text.isascii() and text.isdigit() else None
