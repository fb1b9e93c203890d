# ruff: noqa: E501 - one reason a line reads best as a table
"""Which words of `BatchOptions` a batch system may be given, and why others are refused.

The broker names its jobs, holds them, gives them their files and learns of their ends; a word that changes any of
this is refused in every spelling. What has an attribute of its own is asked for by that, so that matching sees it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

Refusal = tuple[int, str]
"""Number of a word, and why it is refused."""
Reasons = Mapping[str, str]
"""Why options are refused, and their names with blanks between them."""

_NAME = "the broker finds its jobs again by their names"
_FILES = "the broker chooses the script, its directory and its files"
_HOLD = "the broker holds jobs, and lets them go itself"
_AGAIN = "the broker alone decides whether a job is run again"
_ARRAY = "the broker makes arrays itself; write Parameters"
_ANSWER = "the broker reads the answer of the submission command"
_MAIL = "the broker tells of ends itself"
_ORDER = "the broker knows nothing of such dependencies; submit the job once the other has ended"
_ENVIRONMENT = "the starter needs its environment; write Environment"
_WHO = "the job belongs to the site's account"
_SIGNAL = "the signal would end the starter of the job"
_ELSEWHERE = "the broker would not find the job in another cluster"
_INTERACTIVE = "it is no batch job then; write Interactive = true"
_SLURM_REFUSED: Reasons = {
    _NAME: "job-name",
    _FILES: "output error input open-mode chdir wrap container container-id",
    _HOLD: "hold",
    _AGAIN: "requeue no-requeue",
    _ARRAY: "array",
    _ANSWER: "parsable test-only quiet verbose help usage version wait",
    _MAIL: "mail-type mail-user",
    _ORDER: "dependency kill-on-invalid-dep",
    _ENVIRONMENT: "export export-file get-user-env",
    _WHO: "uid gid",
    _SIGNAL: "signal",
    _ELSEWHERE: "clusters cluster-constraint",
    "write Account": "account",
    "write QOS": "qos",
    "write QueueName": "partition",
    "write Reservation": "reservation",
    "write Licenses": "licenses",
    "write WallTime": "time time-min",
    "write HostNumber": "nodes",
    "write CpuNumber": "ntasks cpus-per-task",
    "write SMPGranularity": "ntasks-per-node",
    "write MemoryPerNode or MemoryPerCPU": "mem mem-per-cpu mem-per-gpu",
    "write GPUNumber and GPUModel": "gpus gpus-per-node gpus-per-socket gpus-per-task",
    "write ScratchSize": "tmp",
}
_SLURM_VALUED = (
    "acctg-freq batch bb bbf begin comment constraint core-spec cores-per-socket cpu-freq cpus-per-gpu deadline "
    "delay-boot distribution exclude extra extra-node-info gpu-bind gpu-freq gres gres-flags hint mcs-label mem-bind "
    "mincpus network nodefile nodelist ntasks-per-core ntasks-per-gpu ntasks-per-socket power prefer priority profile "
    "sockets-per-node switches thread-spec threads-per-core wait-all-nodes wckey"
)
_SLURM_FLAGS = (
    "contiguous exclusive ignore-pbs nice no-kill overcommit oversubscribe propagate reboot share spread-job "
    "stepmgr use-min-nodes"
)
"""Those of which some take a value behind `=`."""
_SLURM_SHORT: Mapping[str, str] = {
    "A": "account", "a": "array", "b": "begin", "B": "extra-node-info", "c": "cpus-per-task", "C": "constraint",
    "d": "dependency", "D": "chdir", "e": "error", "F": "nodefile", "G": "gpus", "h": "help", "H": "hold",
    "i": "input", "J": "job-name", "k": "no-kill", "L": "licenses", "M": "clusters", "m": "distribution",
    "n": "ntasks", "N": "nodes", "o": "output", "O": "overcommit", "p": "partition", "q": "qos", "Q": "quiet",
    "s": "oversubscribe", "S": "core-spec", "t": "time", "u": "usage", "v": "verbose", "V": "version",
    "w": "nodelist", "W": "wait", "x": "exclude",
}  # fmt: skip
_NO_VALUES = "hold quiet verbose version usage help wait"
"""Those that take none, besides the flags."""


_VALUES: Mapping[str, Mapping[str, int]] = {
    "pbs": dict.fromkeys(("a", "l", "p", "P", "W"), 1),
    "sge": dict.fromkeys(("a", "ac", "A", "binding", "dl", "js", "l", "masterq", "p", "pe", "R", "tc"), 1)
    | dict.fromkeys(("hard", "soft"), 0),
    "lsf": dict.fromkeys(
        (
            "a",
            "app",
            "b",
            "c",
            "C",
            "D",
            "F",
            "G",
            "g",
            "Jd",
            "m",
            "M",
            "p",
            "Q",
            "R",
            "S",
            "sla",
            "sp",
            "t",
            "T",
            "v",
        ),
        1,
    ),
}
"""Options that are allowed, and how many of the words behind each are its values."""
_REFUSED: Mapping[str, Reasons] = {
    "pbs": {
        _NAME: "N",
        _FILES: "o e j k d D w S C R",
        _HOLD: "h",
        _AGAIN: "r c",
        _ARRAY: "J t",
        _ANSWER: "z f",
        _MAIL: "m M",
        _ENVIRONMENT: "v V",
        _WHO: "u",
        _INTERACTIVE: "I X G x",
        "write QueueName": "q",
        "write Account": "A",
        "write WholeNodes": "n",
    },
    "sge": {
        _NAME: "N",
        _FILES: "o e i j wd cwd S b C shell @ jsv",
        _HOLD: "h",
        _AGAIN: "r ckpt c",
        _ARRAY: "t",
        _ANSWER: "terse verify sync w help clear now",
        _MAIL: "m M",
        _ORDER: "hold_jid hold_jid_ad",
        _ENVIRONMENT: "v V",
        _WHO: "u",
        _SIGNAL: "notify",
        "write QueueName": "q",
        "write Account": "P",
        "write Reservation": "ar",
    },
    "lsf": {
        _NAME: "J",
        _FILES: "o oo e eo i is cwd outdir env f Zs E Ep L",
        _HOLD: "H",
        _AGAIN: "r rn k",
        _ANSWER: "K h V json",
        _MAIL: "B N u notify",
        _ORDER: "w ti",
        _SIGNAL: "s wa wt",
        _INTERACTIVE: "I Ip Is IS ISp ISs IX XF tty",
        _ELSEWHERE: "clusters",
        "write QueueName": "q",
        "write CpuNumber": "n",
        "write WholeNodes": "x",
        "write WallTime": "W We",
        "write GPUNumber and GPUModel": "gpu",
        "write Account": "P",
        "write Reservation": "U",
    },
}
_IN_VALUES: Mapping[tuple[str, str], Mapping[str, str]] = {
    ("pbs", "l"): {
        "write CpuNumber and HostNumber": r"(?:^|,)\s*(?:select|nodes|ncpus|procs|place)\s*=",
        "write WallTime": r"(?:^|,)\s*walltime\s*=",
        "write MemoryPerNode or MemoryPerCPU": r"(?:^|,)\s*p?mem\s*=",
    },
    ("pbs", "W"): {"only -W group_list=NAME is passed on": r"^(?!group_list=[\w.@,-]+$)"},
    ("sge", "l"): {
        "write WallTime": r"(?:^|,)\s*[hs]_rt\s*=",
        "write GPUNumber": r"(?:^|,)\s*(?:gpus?|ngpus)\s*=",
    },
    ("lsf", "R"): {
        "write HostNumber": r"span\s*\[",
        "write MemoryPerNode or MemoryPerCPU": r"rusage\s*\[[^]]*\bmem\b",
    },
}
"""What may not stand in the values of these options: the reason, and how it is recognized."""
_CONDOR_ALLOWED = (
    "accounting_group_user concurrency_limits_expr nice_user prio priority rank requirements "
    "require_gpus gpus_minimum_capability gpus_minimum_memory gpus_minimum_runtime cron_window stack_size core_size "
    "job_ad_information_attrs want_graceful_removal kill_sig_timeout"
)
_CONDOR_REFUSED: Reasons = {
    _NAME: "batch_name jobbatchname",
    _FILES: "executable arguments args universe initialdir initial_dir iwd input output error log cmd in out err userlog",
    _HOLD: "hold hold_kill_sig periodic_hold on_exit_hold periodic_release",
    _AGAIN: "periodic_remove on_exit_remove max_retries retry_until success_exit_code job_max_vacate_time",
    _ARRAY: "queue",
    _MAIL: "notification notify_user",
    _ENVIRONMENT: "environment env getenv",
    "write CpuNumber": "request_cpus",
    "write MemoryPerNode or MemoryPerCPU": "request_memory",
    "write ScratchSize": "request_disk",
    "write GPUNumber": "request_gpus",
    "write Account": "accounting_group",
    "write Licenses": "concurrency_limits",
}
_OF_HTCONDOR = re.compile(
    r"(?:cmd|args|arguments|env|environment|iwd|in|out|err|userlog|owner|user|job|last|num|cluster|proc|crossdesk"
    r"|periodic|onexit|hold|release|remove|leave|transfer|should|when|stream|want|request|min|max|q|server|global"
    r"|entered|remote|allremote|image|disk|memory|cpus|exit|root|tdp|x509|universe|notify|kill)\w*",
    re.IGNORECASE,
)
_CUSTOM = re.compile(r"(?:\+|my\.)([A-Za-z_]\w*)", re.IGNORECASE)


def refusals(kind: str, words: Sequence[str]) -> Iterator[Refusal]:
    """The words that the submission command of a batch system may not be given, each with the reason.

    `kind` is one of `resource_request.BATCH_SYSTEMS`.
    """
    for at, word in enumerate(words):
        if not word.strip() or not word.isprintable():
            yield at, "it is empty or has control characters"
            return
    if kind == "slurm":
        yield from _slurm(words)
    elif kind == "condor":
        yield from ((at, reason) for at, line in enumerate(words) if (reason := _condor(line)))
    else:
        yield from _short(kind, words)


@cache
def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


@cache
def _by_name(kind: str) -> Mapping[str, str]:
    """Option to the reason for which a batch system may not be given it."""
    reasons = {"slurm": _SLURM_REFUSED, "condor": _CONDOR_REFUSED, **_REFUSED}[kind]
    return {name: reason for reason, names in reasons.items() for name in names.split()}


@cache
def _slurm_allowed() -> frozenset[str]:
    return _names(_SLURM_VALUED) | _names(_SLURM_FLAGS)


def _takes_value(name: str) -> bool:
    return name not in _names(_NO_VALUES) | _names(_SLURM_FLAGS)


def _slurm(words: Sequence[str]) -> Iterator[Refusal]:
    """As getopt_long reads them: long names may be cut, short ones joined, values stand behind or after."""
    at = 0
    while at < len(words):
        word = words[at]
        if word.startswith("--") and len(word) > 2:
            name, reason, takes = _slurm_long(word)
        elif word.startswith("-") and len(word) > 1:
            name, reason, takes = _slurm_short(word[1:])
        else:
            name, reason, takes = "", "it is no option, and would be run as the script", False
        if not reason and takes and at + 1 == len(words):
            reason = "its value is missing"
        value = word.partition("=")[2] or (words[at + 1] if takes and at + 1 < len(words) else "")
        if not reason and name == "gres" and "gpu" in value.lower():
            reason = "write GPUNumber and GPUModel"
        if reason:
            yield at, reason
        at += 2 if takes else 1


def _slurm_long(word: str) -> tuple[str, str, bool]:
    """Name, the reason to refuse it or nothing, and whether its value is the next word."""
    name, equals, _ = word[2:].partition("=")
    refused = _by_name("slurm")
    if name not in refused and name not in _slurm_allowed():
        meant = [one for one in (*refused, *sorted(_slurm_allowed())) if one.startswith(name)]
        if not meant and equals:
            return name, "", False
        if not meant:
            return name, "it is not known; where it has a value write --name=value", False
        name = meant[0]
    return name, refused.get(name, ""), not equals and _takes_value(name)


def _slurm_short(letters: str) -> tuple[str, str, bool]:
    name = ""
    for at, letter in enumerate(letters, 1):
        name = _SLURM_SHORT.get(letter, "")
        if not name:
            return letter, f"-{letter} is not known", False
        last = at == len(letters)
        if reason := _by_name("slurm").get(name):
            return name, f"-{letter} is --{name}: {reason}", last and _takes_value(name)
        if _takes_value(name):
            return name, "", last
    return name, "", False


def _short(kind: str, words: Sequence[str]) -> Iterator[Refusal]:
    """Options with one dash, whose values are the next words; PBS takes a value in the same word too."""
    at = 0
    while at < len(words):
        name, joined = words[at].removeprefix("-"), ""
        if kind == "pbs":
            name, joined = name[:1], name[1:]
        count = 0 if joined else _VALUES[kind].get(name, 0)
        values = [joined] if joined else list(words[at + 1 : at + 1 + count])
        if reason := _short_reason(kind, words[at], name, values, count):
            yield at, reason
        at += 1 + (1 if name in _by_name(kind) and _is_value(words, at + 1) and not joined else count)


def _is_value(words: Sequence[str], at: int) -> bool:
    return at < len(words) and not words[at].startswith("-")


def _short_reason(kind: str, word: str, name: str, values: Sequence[str], count: int) -> str:
    if not word.startswith("-"):
        return "it is no option"
    if reason := _by_name(kind).get(name):
        return reason
    if name not in _VALUES[kind]:
        return "it is not known; it can be given in the options of the site"
    if len(values) < count:
        return "its value is missing"
    for reason, pattern in _IN_VALUES.get((kind, name), {}).items():
        if any(re.search(pattern, value) for value in values):
            return reason
    return ""


def _condor(line: str) -> str:
    """Why a line of a submit description is refused; empty if it is not."""
    name, equals, _ = line.partition("=")
    name = name.strip().lower()
    if not equals or line.rstrip().endswith("\\"):
        return "it is no line of the form name = value"
    if reason := _by_name("condor").get(name):
        return reason
    if custom := _CUSTOM.fullmatch(name):
        return f"{custom[1]} is HTCondor's or the broker's own" if _OF_HTCONDOR.fullmatch(custom[1]) else ""
    return (
        ""
        if name in _names(_CONDOR_ALLOWED)
        else "it is not known; it can be given in the options of the site"
    )
