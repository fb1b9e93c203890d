"""Submit files of HTCondor: commands `name = value`, and the queue statement."""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import partial

from broker_core.client.printable import printable
from broker_core.client.programs.batch_scripts import meanings as shared
from broker_core.client.programs.batch_scripts.amounts import ArrayIndices, count
from broker_core.client.programs.batch_scripts.directives import submit_lines
from broker_core.client.programs.batch_scripts.ledger import Directive, Ledger
from broker_core.client.programs.batch_scripts.meanings import Meaning, carry_out
from broker_core.jdl.limits import LIST_MAX

_LEFT_OUT = {
    "log": "The story of the job is kept by the broker; the desktop and `crossdesk job status` show it.",
    "notification": shared.NO_MAIL,
    "notify_user": shared.NO_MAIL,
    "should_transfer_files": "Files always travel with the job.",
    "when_to_transfer_output": "Output comes home when the job ends.",
    "transfer_executable": "What is named without a folder is sent along.",
    "getenv": shared.NO_LOGIN,
    "initialdir": shared.OWN_FOLDER,
    "initial_dir": shared.OWN_FOLDER,
    "stream_output": shared.NOTES["streams"],
    "stream_error": shared.NOTES["streams"],
    "leave_in_queue": "Jobs stay in the list until they are purged.",
    "max_retries": shared.NOTES["again"],
    "success_exit_code": shared.NOTES["again"],
    "retry_until": shared.NOTES["again"],
    "job_lease_duration": "It is a setting of the site.",
    "copy_to_spool": "Files always travel with the job.",
    "max_idle": "All may wait at the same time; max_materialize limits those at work.",
    "log_xml": "The story of the job is kept by the broker.",
    "userlog": "The story of the job is kept by the broker.",
    "submit_event_notes": "The story of the job is kept by the broker.",
    "dagman_log": "The story of the job is kept by the broker.",
    "skip_filechecks": "Files are looked for before anything is sent.",
    "append_files": "Each run of a job begins with empty files.",
    "transfer_input": "Files always travel with the job.",
    "transfer_output": "Output comes home when the job ends.",
    "transfer_error": "Output comes home when the job ends.",
    "max_transfer_input_mb": "How much may be sent along is a setting of the broker.",
    "max_transfer_output_mb": "How much comes home is a setting of the broker.",
    "stream_input": shared.NOTES["streams"],
    "iwd": shared.OWN_FOLDER,
    "job_iwd": shared.OWN_FOLDER,
    "remote_initialdir": shared.OWN_FOLDER,
    "get_env": shared.NO_LOGIN,
    "email_attributes": shared.NO_MAIL,
    "description": "It is for people; a note of the job takes it (`crossdesk job tag`).",
    "load_profile": shared.NO_LOGIN,
    **dict.fromkeys(("deferral_window", "deferral_prep_time"), "It goes with deferral_time."),
    **dict.fromkeys(("cron_window", "cron_prep_time"), "It goes with the times of cron."),
    **dict.fromkeys(("periodic_hold_reason", "periodic_hold_subcode"), "It goes with periodic_hold."),
    **dict.fromkeys(("on_exit_hold_reason", "on_exit_hold_subcode"), "It goes with on_exit_hold."),
    "keystore_file": "It is for jobs of other universes.",
}
_REFUSED = {
    "hold": shared.NOTES["hold"],
    "deferral_time": shared.NOTES["later"],
    "cron_minute": shared.NOTES["later"],
    "cron_hour": shared.NOTES["later"],
    "cron_day_of_month": shared.NOTES["later"],
    "cron_month": shared.NOTES["later"],
    "cron_day_of_week": shared.NOTES["later"],
    "noop_job": "It would end without having run; leave the submission out.",
    "fetch_files": shared.NOTES["files"],
    "public_input_files": "List them in transfer_input_files.",
    "output_destination": "Output comes home; write OutputSandboxDestURI in a description for another place.",
    "transfer_plugins": "Files come from addresses that the broker itself knows: file, http and https.",
    "use_oauth_services": "No tokens of other services are kept here.",
    "checkpoint_exit_code": shared.NOTES["again"],
    "transfer_checkpoint_files": shared.NOTES["again"],
    "interactive": shared.NOTES["interactive"],
    "run_as_owner": shared.NOTES["user"],
    "transfer_output_remaps": "Files come home under their own names; rename them in the program.",
    "on_exit_remove": shared.NOTES["again"],
    "on_exit_hold": shared.NOTES["hold"],
    "periodic_remove": "A job ends by its WallTime, or by hand.",
    "periodic_hold": shared.NOTES["hold"],
    "periodic_release": shared.NOTES["hold"],
    "include": "The other file stays here; write its lines into this one.",
    "if": "Conditions are worked out by HTCondor alone; write down the lines that hold.",
    "elif": "Conditions are worked out by HTCondor alone; write down the lines that hold.",
    "else": "Conditions are worked out by HTCondor alone; write down the lines that hold.",
    "endif": "Conditions are worked out by HTCondor alone; write down the lines that hold.",
    "use": "It stands for lines of another file; write them into this one.",
}
_CONDOR_ONLY = frozenset(
    [
        *("requirements", "rank", "priority", "nice_user", "accounting_group_user", "docker_image"),
        *("container_image", "require_gpus", "gpus_minimum_capability", "gpus_minimum_memory"),
        *(
            "want_graceful_removal",
            "kill_sig",
            "coresize",
            "preserve_relative_paths",
            "encrypt_execute_directory",
        ),
        *("use_x509userproxy", "x509userproxy", "request_machines", "machine_count", "job_max_vacate_time"),
        *("kill_sig_timeout", "concurrency_limits_expr", "core_size", "job_ad_information_attrs", "prio"),
        *("cuda_version", "match_list_length", "container_target_dir", "dont_encrypt_output_files"),
        *("encrypt_input_files", "encrypt_output_files", "want_io_proxy", "retry_request_memory"),
        *("next_job_start_delay", "gpus_minimum_runtime", "gpus_maximum_capability", "allow_startup_script"),
        *("ulog_execute_attrs", "keep_claim_idle", "stack_size", "image_size", "dont_encrypt_input_files"),
    ]
)
_MACRO = re.compile(r"\$\((\w+)(?::[^)]*)?\)")
_PROCESS = frozenset({"process", "procid", "step", "itemindex"})
_JOB = frozenset({"cluster", "clusterid", "jobid"})
_QUEUE = re.compile(r"queue\b\s*(.*)", re.IGNORECASE | re.DOTALL)
_FROM = re.compile(
    r"(?:(\d+)\s+)?(\w+(?:\s*,\s*\w+)*)?\s*\b(in|from|matching)\b\s*(.*)", re.IGNORECASE | re.DOTALL
)


def _executable(ledger: Ledger, at: Directive, value: str) -> None:
    ledger.attribute(at, "Executable", value if value.startswith("/") else value.rpartition("/")[2])
    if not value.startswith("/"):
        ledger.files.insert(0, value)


def _arguments(ledger: Ledger, at: Directive, value: str) -> None:
    """In the new form all is in double quotes, in which single ones hold words together."""
    if len(value) > 1 and value[0] == value[-1] == '"':
        ledger.attribute(at, "Arguments", value[1:-1].replace('""', '"'))
    else:
        ledger.attribute(at, "Arguments", " ".join(map(_as_word, value.split())))


def _as_word(word: str) -> str:
    return word if not re.search(r"[\"'\\]", word) else shlex.quote(word)


def _environment(ledger: Ledger, at: Directive, value: str) -> None:
    """In double quotes divided by spaces; in the old form by semicolons."""
    if len(value) > 1 and value[0] == value[-1] == '"':
        parts = shlex.split(value[1:-1].replace('""', '"'))
    else:
        parts = [part for part in value.split(";") if part.strip()]
    shared.assignments(ledger, at, parts)


def _universe(ledger: Ledger, at: Directive, value: str) -> None:
    if value.lower() in ("vanilla", "container", "docker", "5"):
        ledger.leave_out(at, "It is a job of the usual kind.")
    else:
        raise ValueError(f"Jobs of the universe {value} are run by HTCondor alone.")


def _inputs(ledger: Ledger, at: Directive, value: str) -> None:
    files = [part.strip() for part in value.split(",") if part.strip()]
    ledger.files += files
    ledger.more(at, "InputSandbox", files)


def _outputs(ledger: Ledger, at: Directive, value: str) -> None:
    names = [part.strip() for part in value.strip('"').split(",") if part.strip()]
    if names:
        ledger.more(at, "OutputSandbox", names, "Standard output and error come home too.")
    else:
        ledger.attribute(at, "OutputSandbox", [])


def _run_time(ledger: Ledger, at: Directive, value: str) -> None:
    shared.wall_time(ledger, at, value)


MEANINGS: dict[str, Meaning] = {
    "accounting_group": shared.text_attribute("Account"),
    "allowed_execute_duration": _run_time,
    "allowed_job_duration": _run_time,
    "args": _arguments,
    "batch_name": shared.job_name,
    "cmd": _executable,
    "err": shared.output("StdError"),
    "in": shared.input_file,
    "out": shared.output("StdOutput"),
    "arguments": _arguments,
    "concurrency_limits": shared.licenses,
    "env": _environment,
    "environment": _environment,
    "error": shared.output("StdError"),
    "executable": _executable,
    "input": shared.input_file,
    "output": shared.output("StdOutput"),
    "request_cpu": shared.figure("cpus", "NodeNumber"),
    "request_cpus": shared.figure("cpus", "NodeNumber"),
    "request_disk": shared.scratch("k"),
    "request_gpus": shared.figure("gpus_per_node", "GPUNumber", owner="gpus"),
    "request_memory": shared.memory("memory_node", "m", "MemoryPerNode"),
    "jobbatchname": shared.job_name,
    "max_materialize": shared.figure("at_once", "MaxRunningJobs"),
    "maxruntime": _run_time,
    "transfer_input_files": _inputs,
    "transfer_output_files": _outputs,
    "universe": _universe,
}
"""What commands mean, by their lower-case names; `+MaxRuntime` and `MY.MaxRuntime` are one of them."""


@dataclass(frozen=True, slots=True)
class SubmitFolder:
    """What the folder of a submit file has."""

    names: frozenset[str] = frozenset()
    """Of its files."""
    lists: Mapping[str, str] = field(default_factory=dict)
    """Name to content, of the files of values that were read."""


def list_files(text: str) -> set[str]:
    """Files of values that queue statements name; those of the submit file's folder alone count."""
    found = (_FROM.fullmatch(at[1].strip()) for line in submit_lines(text) if (at := _is_queue(line)))
    return {one[4].strip() for one in found if one and one[3].lower() == "from" and "(" not in one[4]}


def read_submit_file(ledger: Ledger, lines: list[Directive], folder: SubmitFolder) -> None:
    """Take all commands into the ledger; macros of the file itself are put in."""
    macros, queued = _macros(lines), False
    named = {found.lower() for at in lines for found in _MACRO.findall(at.option)}
    items = {word.lower() for at in lines if _is_queue(at) for word in re.findall(r"\w+", at.option)}
    for at in lines:
        if (statement := _is_queue(at)) is not None:
            if queued:
                ledger.refuse(at, "A second queue statement is a submission of its own.")
            else:
                queue = partial(_queue, macros=macros, folder=folder)
                carry_out(ledger, at, statement[1].strip(), queue)
            queued = True
        else:
            _command(ledger, at, macros, named, items)


def _is_queue(at: Directive) -> re.Match[str] | None:
    return None if re.match(r"queue\s*=", at.option, re.IGNORECASE) else _QUEUE.fullmatch(at.option)


def _macros(lines: list[Directive]) -> dict[str, str]:
    """Names and values of all lines, later ones counting; what stands for the job's numbers is marked."""
    found = {}
    for at in lines:
        name, equals, value = at.option.partition("=")
        if equals and re.fullmatch(r"\s*\w+\s*", name):
            found[name.strip().lower()] = value.strip()
    return found


def _command(ledger: Ledger, at: Directive, macros: dict[str, str], named: set[str], items: set[str]) -> None:
    """Take one command into the ledger; `named`: macros that are put in, `items`: variables of the queue."""
    name, equals, value = (part.strip() for part in at.option.partition("="))
    own = name.startswith("+") or name.lower().startswith("my.")
    key = name.lower().removeprefix("+").removeprefix("my.")
    first = re.split(r"[\s:]", key, maxsplit=1)[0]
    if first in _REFUSED:
        ledger.refuse(at, _REFUSED[first])
    elif not equals:
        ledger.refuse(at, "This is neither a command “name = value” nor a queue statement.")
    elif key in MEANINGS:
        text = expanded(value, macros).strip()
        unknown = [found for found in _MACRO.findall(text) if found.lower() not in items]
        if unknown:
            ledger.refuse(at, f"Nothing says what $({unknown[0]}) is.")
        else:
            carry_out(ledger, at, text.strip('"') if own else text, MEANINGS[key])
    elif key in _LEFT_OUT:
        ledger.leave_out(at, _LEFT_OUT[key])
    elif own or key in _CONDOR_ONLY:
        ledger.system_only(at, at.option)
    elif key in named:
        ledger.leave_out(at, "Its value is put in where the file names it.")
    else:
        ledger.refuse(at, f"There is no command {name}{_likely(key)}.")


def _likely(key: str) -> str:
    close = difflib.get_close_matches(key, [*MEANINGS, *_LEFT_OUT, *_CONDOR_ONLY], 1, 0.75)
    return f"; {close[0]} is meant, perhaps" if close and len(key) < 40 else ""


def expanded(text: str, macros: dict[str, str], depth: int = 8) -> str:
    """The text with macros in place; the number of a process is `_PARAM_`, that of a cluster a number."""

    def put(found: re.Match[str]) -> str:
        key = found[1].lower()
        if key in _PROCESS:
            return shared.TASK
        if key in _JOB:
            return shared.NUMBER
        value = macros.get(key)
        return (
            found[0]
            if value is None or depth == 0 or len(value) > 10_000
            else expanded(value, macros, depth - 1)
        )

    return _MACRO.sub(put, text)


def _queue(
    ledger: Ledger, at: Directive, text: str, macros: dict[str, str], folder: SubmitFolder
) -> None:
    listed = _FROM.fullmatch(text)
    if listed is None:
        number = 1 if not text else count(expanded(text, macros))
        if number is None:
            raise ValueError(f"“{text}” is no number of jobs, and no list.")
        if number == 1 and shared.TASK not in str(ledger.values.values()):
            ledger.leave_out(at, "It is one job.")
        else:
            ledger.array(at, ArrayIndices(range(number)))
        return
    names = [name.strip().lower() for name in (listed[2] or "item").split(",")]
    if len(names) > 1 or (listed[1] or "1") != "1":
        raise ValueError("One value for each job can be had; write them into Parameters of the description.")
    _listed(ledger, at, names[0], _values(listed[3].lower(), listed[4].strip(), folder))


def _values(word: str, text: str, folder: SubmitFolder) -> list[str]:
    """Those of a list in the statement, lines of a file, or names of files; raises ValueError in words."""
    if word == "from" and not text.startswith("("):
        if text not in folder.lists:
            raise ValueError(f"There is no file of values {printable(text)} beside the submit file.")
        lines = [line.strip() for line in folder.lists[text].splitlines()]
        return [line for line in lines if line and not line.startswith("#")]
    words = [one for one in re.split(r"[\s,()]+", text) if one]
    if word != "matching":
        return words
    patterns = words[1:] if words[:1] == ["files"] else words
    if words[:1] in (["dirs"], ["any"]) or any("/" in one for one in patterns):
        raise ValueError("Files beside the submit file can be matched; write other names in brackets.")
    return sorted(name for name in folder.names if any(fnmatchcase(name, one) for one in patterns))


def _listed(ledger: Ledger, at: Directive, name: str, values: list[str]) -> None:
    """One job for each value: where the file names the variable stands the value of the job."""
    if not values:
        raise ValueError("The list has no values.")
    if len(values) > LIST_MAX:
        raise ValueError(f"The list has {len(values):,} values; at most {LIST_MAX:,} can be had.")
    used = [*map(str, ledger.values.values()), *ledger.environment.values()]
    if any(shared.TASK in text for text in used):
        raise ValueError(
            "Each job has one value: the number of the process and that of the list cannot both be had."
        )
    ledger.attribute(at, "Parameters", values, "One job for each value.")

    def put(text: str) -> str:
        return re.sub(rf"\$\({re.escape(name)}\)", shared.TASK, text, flags=re.IGNORECASE)

    for key, value in ledger.values.items():
        if key != "Parameters" and isinstance(value, str | list):
            ledger.values[key] = put(value) if isinstance(value, str) else [put(one) for one in value]
    ledger.environment = {key: put(value) for key, value in ledger.environment.items()}
    ledger.files = [put(one) for one in ledger.files]
