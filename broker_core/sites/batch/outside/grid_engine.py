"""Jobs outside CrossDesk at Grid Engine: qstat, and qacct for ends."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

from broker_core.sites.batch.commands import count_in, task_of
from broker_core.sites.batch.grid_engine_lists import read_entries
from broker_core.sites.batch.outside.reader import (
    ZONE,
    OutsideFacts,
    moment,
    outside_job,
    with_zone,
)
from broker_core.sites.batch.system import BatchSystem
from broker_core.sites.outside import OutsideEnd
from broker_core.wire.outside import OutsideJob

_TIME = "%Y-%m-%dT%H:%M:%S"
_ACCOUNTED = "%a %b %d %H:%M:%S %Y"
_SECONDS = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")
_LINE = re.compile(r"([a-z_]+)(?: +\d+)?: +(.*)")
_SHOWN = (
    *(
        "owner",
        "account",
        "project",
        "department",
        "hard resource_list",
        "hard_resource_list",
        "parallel_env",
    ),
    *(
        "submission_time",
        "start_time",
        "cwd",
        "script_file",
        "job_args",
        "stdout_path_list",
        "stderr_path_list",
    ),
    *("merge", "usage", "jid_predecessor_list", "error reason", "scheduling info"),
)
_WORDS = {"qw": "waiting", "hqw": "on hold", "r": "running", "t": "starting"}


class GridEngineOutside:
    """See `OutsideReader`."""

    def status(self, system: BatchSystem, mark: str) -> str:
        """The same qstat, which lists all jobs of the account, behind the zone of its times."""
        return f"{ZONE} && {system.status(mark)}"

    def split(self, out: str, mark: str) -> tuple[str, list[OutsideJob]]:
        """Waiting tasks of one array come as one entry."""
        zone, rest = with_zone(out)
        return rest, list(_jobs(rest.partition("\n")[2], zone))

    def details(self, id: str) -> str:
        """qstat, with the home directory ahead: what has no path of its own is written there."""
        return shlex.join(["qstat", "-j", task_of(id)[0]])

    def described(self, out: str) -> OutsideFacts:
        """Paths of output that the job did not choose are those of the manual."""
        values: dict[str, str] = {}
        last = ""
        for line in out.splitlines():
            name, colon, value = line.partition(":")
            if colon and not line.startswith(" "):
                last = re.sub(r" +\d+$", "", name.strip())
                values.setdefault(last, value.strip())
            elif last and line.strip():
                values[last] += f"\n{line.strip()}"
        merged = values.get("merge", "") == "y"
        stdout, stderr = _path(values, "stdout_path_list", "o"), _path(values, "stderr_path_list", "e")
        facts = [(name, values[name]) for name in _SHOWN if values.get(name)]
        return OutsideFacts(facts, stdout, stdout if merged else stderr)

    def ends(self, ids: Sequence[str]) -> str:
        """qacct, once for each job; it reads a file that is written some seconds after an end."""
        each = "; ".join(
            shlex.join(["qacct", "-j", job]) for job in dict.fromkeys(task_of(id)[0] for id in ids)
        )
        return f"{ZONE}; {{ {each}; }} 2>/dev/null || :"

    def ended(self, out: str) -> dict[str, OutsideEnd]:
        """Blocks of names and values between lines of equal signs."""
        zone, rest = with_zone(out)
        return dict(_ends(rest, zone))


def _jobs(text: str, zone: str) -> Iterator[OutsideJob]:
    for values, listed in read_entries(text):
        word = values.get("state", "")
        yield outside_job(
            listed,
            word,
            reason=listed.reason or ("waits for its turn" if word == "qw" else _WORDS.get(word, "")),
            queue=values.get("queue_name", "").partition("@")[0],
            cpus=count_in(values.get("slots", "")) or 1,
            submitted=_time(values.get("JB_submission_time", ""), zone),
            started=_time(values.get("JAT_start_time", ""), zone),
        )


def _time(text: str, zone: str) -> float | None:
    found = _SECONDS.match(text)
    return moment(found[0], _TIME, zone) if found else None


def _path(values: dict[str, str], name: str, letter: str) -> str:
    """`NONE:NONE:/path`, where the job names one; else beside its working directory or at home."""
    given = values.get(name, "").split(",")[0].rpartition(":")[2]
    if given.startswith("/"):
        return "" if "$" in given else given
    folder = values.get("cwd") or values.get("sge_o_home", "")
    number, title = values.get("job_number", ""), values.get("job_name", "")
    usable = folder.startswith("/") and number.isdigit() and title and "/" not in title
    return f"{folder}/{title}.{letter}{number}" if usable and "job-array tasks" not in values else ""


def _ends(text: str, zone: str) -> Iterator[tuple[str, OutsideEnd]]:
    for block in re.split(r"^=+$", text, flags=re.MULTILINE):
        pairs = (line.partition(" ") for line in block.splitlines())
        values = {name: value.strip() for name, _, value in pairs}
        if "jobnumber" not in values:
            continue
        task = values.get("taskid", "undefined")
        id = values["jobnumber"] if not task.isdigit() else f"{values['jobnumber']}_{task}"
        code, failed = values.get("exit_status", "").split(" ")[0], values.get("failed", "0")
        deleted = bool(values.get("deleted_by", "NONE") not in ("NONE", "")) or failed.startswith("100")
        state = "Canceled" if deleted else "Done" if failed.split(" ")[0] == "0" else "Aborted"
        word = f"failed {failed}" if failed != "0" else f"exit_status {code}"
        times = [
            moment(values.get(key, "").partition(".")[0], _ACCOUNTED, zone)
            for key in ("end_time", "start_time")
        ]
        yield id, OutsideEnd(state, word, int(code) if code.isdigit() else None, times[0], times[1])
