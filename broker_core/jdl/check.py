"""The one place where a description is accepted or refused (CB-JDL-11)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from broker_core.jdl import parametric
from broker_core.jdl.checks import (
    collective,
    conflicts,
    data,
    dialect,
    display,
    executable,
    resources,
    sandboxes,
    terms,
    types,
    workflow,
)
from broker_core.jdl.checks.kind import DescriptionKind
from broker_core.jdl.checks.kind import kind as kind_of
from broker_core.jdl.checks.tags import described_tags
from broker_core.jdl.description import JobDescription
from broker_core.jdl.diagnostics import Diagnostic, DiagnosticList
from broker_core.jdl.limits import DEFAULT, Limits
from broker_core.jdl.names import ALL_NEW, base_name
from broker_core.jdl.reading import FileFact, Reading
from broker_core.jdl.syntax.parse import parse_expression, parse_into
from broker_core.jdl.syntax.tree import Ad, Binary, Entry, Expression

__all__ = ["DEFAULT", "Checked", "FileFact", "Limits", "check"]
_PRODUCTION = 'other.GlueCEStateStatus == "Production"'
_SHORTEST = "-other.GlueCEStateEstimatedResponseTime"
_FREEST = "other.GlueCEStateFreeCPUs"
_SHORT_DEADLINE = 'RegExp(".*sdj$", other.GlueCEUniqueID)'


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of a check: a description, or errors; warnings and hints in both cases."""

    description: JobDescription | None
    """None if there is an error."""
    diagnostics: tuple[Diagnostic, ...]

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """What refuses it."""
        return tuple(item for item in self.diagnostics if item.severity == "error")


def check(
    text: str,
    *,
    files: Mapping[str, FileFact] | None = None,
    limits: Limits = DEFAULT,
    parameter: str = "",
) -> Checked:
    """Parse and check a description; every error at once, never an exception (CB-JDL-11).

    `files` is what the client found for the entries of InputSandbox, as written; None: nobody has looked.
    `parameter` replaces `_PARAM_` wherever it stands.
    """
    findings = DiagnosticList(text)
    ad = parse_into(findings, limits.description_max)
    if ad is None:
        return Checked(None, findings.in_order())
    if parameter and parametric.MARK in text:
        ad = parametric.substituted(ad, parameter)
    description = _described(Reading(ad, findings, files, limits))
    if description is not None and (more := parametric.value_in_environment(ad, parameter)):
        description = replace(description, environment=description.environment + more)
    if not findings.found:
        return Checked(description, ())
    return Checked(None if findings.failed else description, findings.in_order())


def _described(reading: Reading) -> JobDescription | None:
    if not reading.ad.entries:
        if not reading.findings.failed:
            reading.findings.error("empty", "There is no description here; write at least Executable.")
        return None
    types.check(reading)
    kind = kind_of(reading)
    terms.check(reading)
    conflicts.check(reading, kind)
    data.check(reading)
    collective.check(reading)
    dialect.check(reading)
    if kind.structure == "Workflow":
        workflow.check(reading, _described)
        return _workflow(reading, kind)
    return _job(reading, kind)


def _job(reading: Reading, kind: DescriptionKind) -> JobDescription:
    inputs = sandboxes.inputs(reading)
    outputs = sandboxes.outputs(reading)
    program = executable.program(reading, inputs)
    streams = executable.streams(reading, inputs)
    return JobDescription(
        name=reading.string("jobname") or base_name(program.executable),
        structure=kind.structure,
        interactive=kind.interactive,
        cpus=kind.cpus,
        executable=program.executable,
        arguments=program.arguments,
        stdin=streams.stdin,
        stdout=streams.stdout,
        stderr=streams.stderr,
        input_sandbox=inputs.entries,
        renamed=tuple(inputs.renamed.items()),
        output_sandbox=_brought_back(reading, outputs.entries),
        environment=program.environment,
        starter=program.starter,
        prologue=program.prologue,
        epilogue=program.epilogue,
        sub_job_type=kind.sub_job_type,
        wall_limit=executable.wall_limit(reading),
        most_running=reading.integer("maxrunningjobs") or 0,
        needs=kind.needs + inputs.needs + outputs.needs,
        agent=reading.string("interactiveagent") or "",
        agent_arguments=reading.string("interactiveagentarguments") or "",
        x11=reading.true("interactivex11"),
        display=display.size(reading, kind),
        request=resources.request(reading, kind),
        choice=resources.choice(reading),
        software=executable.software(reading, inputs, kind.sub_job_type),
        tags=described_tags(reading),
        ad=with_terms(reading, kind),
    )


def _brought_back(reading: Reading, entries: tuple[str, ...]) -> tuple[str, ...]:
    """What comes home: what the description names; where it names nothing, all that the job made.

    In the dialects of others, and on a broker that keeps to what was published, nothing named is nothing
    brought (section 4.2).
    """
    limits = reading.limits
    named = reading.has("outputsandbox") or limits.dialect != "crossdesk" or not limits.brings_new
    return entries if named else (ALL_NEW,)


def _workflow(reading: Reading, kind: DescriptionKind) -> JobDescription:
    return JobDescription(
        name=reading.string("jobname") or "workflow",
        structure="Workflow",
        interactive=False,
        cpus=1,
        executable="",
        arguments="",
        stdin="",
        stdout="",
        stderr="",
        input_sandbox=sandboxes.inputs(reading).entries,
        output_sandbox=(),
        environment=(),
        sub_job_type="",
        wall_limit=None,
        needs=kind.needs,
        ad=reading.ad,
    )


def with_terms(reading: Reading, kind: DescriptionKind) -> Ad:
    """The description with its Requirements and Rank as matching has to see them."""
    dialect = reading.limits.dialect
    wanted, rank = reading.node("requirements"), reading.node("rank")
    if dialect == "glite":
        wanted = wanted or _tree(_PRODUCTION)
        rank = rank or _tree(_FREEST if kind.structure == "Parallel" else _SHORTEST)
    elif dialect == "cream":
        wanted, rank = reading.node("cerequirements"), None
    terms = [_tree(text) for text in _terms(reading, kind, dialect)]
    if dialect != "cream" and (of_element := reading.node("cerequirements")) is not None:
        terms.append(of_element)
    for term in terms:
        wanted = term if wanted is None else Binary("&&", wanted, term, start=wanted.start, end=wanted.end)
    if wanted is reading.node("requirements") and rank is reading.node("rank"):
        return reading.ad
    return _replaced(reading.ad, {"Requirements": wanted, "Rank": rank})


def _terms(reading: Reading, kind: DescriptionKind, dialect: str) -> list[str]:
    found = []
    cores = reading.integer("smpgranularity") or 0
    hosts = reading.integer("hostnumber") or 0
    if hosts > 0 and not reading.true("wholenodes"):
        cores = max(cores, -(-kind.cpus // hosts))
    if cores > 1 and "inter-cluster" not in kind.needs:
        found.append(f"other.GlueHostArchitectureSMPSize >= {cores}")
    if dialect == "glite" and kind.interactive:
        # Where nothing is known of it, the session may come about all the same.
        found.append("other.GlueHostNetworkAdapterOutboundIP =!= false")
    if dialect == "glite" and reading.true("shortdeadlinejob"):
        found.append(_SHORT_DEADLINE)
    return found


def _replaced(ad: Ad, values: dict[str, Expression | None]) -> Ad:
    entries = dict(ad.entries)
    for name, value in values.items():
        old = entries.pop(name.lower(), None)
        if value is not None:
            places = (old.start, old.name_end, old.value_start, old.value_end, old.end) if old else ()
            entries[name.lower()] = Entry(old.name if old else name, value, *places)
    return Ad(entries, start=ad.start, end=ad.end)


@lru_cache(maxsize=256)
def _tree(text: str) -> Expression:
    tree, _ = parse_expression(text)
    assert tree is not None, text
    return tree
