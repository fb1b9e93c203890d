"""Submit files of HTCondor: commands `name = value`, and the queue statement."""

from __future__ import annotations

import difflib
import re
import shlex

from broker_core.client.programs.batch_scripts import meanings as shared
from broker_core.client.programs.batch_scripts.amounts import ArrayIndices, count
from broker_core.client.programs.batch_scripts.ledger import Directive, Ledger
from broker_core.client.programs.batch_scripts.meanings import Meaning, carry_out

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
    "batch_name": "The jobs of one submission are a batch, which bears the name of the job.",
    "max_materialize": "All may run at the same time; there is no limit for one sweep.",
    "max_idle": "All may wait at the same time; there is no limit for one sweep.",
    "log_xml": "The story of the job is kept by the broker.",
}
_REFUSED = {
    "hold": shared.NOTES["hold"],
    "deferral_time": shared.NOTES["later"],
    "cron_minute": shared.NOTES["later"],
    "cron_hour": shared.NOTES["later"],
    "interactive": shared.NOTES["interactive"],
    "run_as_owner": shared.NOTES["user"],
    "transfer_output_remaps": "Files come home under their own names.",
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
    "maxruntime": _run_time,
    "transfer_input_files": _inputs,
    "transfer_output_files": _outputs,
    "universe": _universe,
}
"""What commands mean, by their lower-case names; `+MaxRuntime` and `MY.MaxRuntime` are one of them."""


def read_submit_file(ledger: Ledger, lines: list[Directive]) -> None:
    """Take all commands into the ledger; macros of the file itself are put in."""
    macros, queued = _macros(lines), False
    named = {found.lower() for at in lines for found in _MACRO.findall(at.option)}
    items = {word.lower() for at in lines if _is_queue(at) for word in re.findall(r"\w+", at.option)}
    for at in lines:
        if (statement := _is_queue(at)) is not None:
            if queued:
                ledger.refuse(at, "A second queue statement is a submission of its own.")
            else:
                carry_out(
                    ledger, at, statement[1].strip(), lambda one, at, text: _queue(one, at, text, macros)
                )
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


def _queue(ledger: Ledger, at: Directive, text: str, macros: dict[str, str]) -> None:
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
    if len(names) > 1 or (listed[1] or "1") != "1" or listed[3].lower() == "matching":
        raise ValueError("One value for each job can be had; write them into Parameters of the description.")
    values = [word for word in re.split(r"[\s,]+", listed[4].strip().strip("()")) if word]
    if "(" not in listed[4] and listed[3].lower() == "from":
        raise ValueError("The file of values is not read here; write them into the submit file in brackets.")
    _listed(ledger, at, names[0], values)


def _listed(ledger: Ledger, at: Directive, name: str, values: list[str]) -> None:
    """One job for each value: where the file names the variable stands the value of the job."""
    if not values:
        raise ValueError("The list has no values.")
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
