"""What a site gets to run a job: made from its description, its record and its sandbox files."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from broker_core.jdl.description import JobDescription, UserCommand
from broker_core.jdl.names import base_name, input_name, is_fetched
from broker_core.jobs.placement import Component, Placement
from broker_core.jobs.record import JobRecord
from broker_core.launching.files import FileStore
from broker_core.launching.spreading import Proxies, nodes_asked
from broker_core.sites.contract import FetchedFile, InputFile, LaunchOrder
from broker_core.worker.scripts.overlay_link import VARIABLE

OVER_SITES = "mpich-g2"
"""Kind of MPI whose processes call each other over the borders of sites; within one it is MPICH."""
OVERLAY = "pacx-mpi"
"""The same, where all that passes a border goes by way of a hub at the broker's machine."""
STDOUT, STDERR = "std.out", "std.err"
"""Where output goes of a job whose description names no StdOutput or StdError: always readable."""


class NamedContent(Protocol):
    """One file of an input sandbox, as `wire.submission.SandboxFile`."""

    name: str
    sha256: str
    executable: bool


def order_for(
    description: JobDescription, record: JobRecord, files: Sequence[NamedContent], filestore: FileStore
) -> LaunchOrder:
    """The launch order of the record's current attempt.

    An Executable that is in the input sandbox is run from the job's directory and made executable;
    any other is taken as it stands: an absolute path, or a name looked up in PATH at the site.
    """
    renamed = dict(description.renamed)
    addresses = {
        renamed.get(own, own): entry
        for entry in description.input_sandbox
        if is_fetched(entry)
        for own in [input_name(entry)]
    }
    names = {renamed.get(file.name, file.name) for file in files} | addresses.keys()
    beside = (description.starter, description.prologue, description.epilogue)
    programs = {base_name(one) for one in (description.executable, *(one.program for one in beside))} & names
    called = _called(description, programs)
    return LaunchOrder(
        attempt=record.component,
        cpus=description.cpus,
        executable=called.program,
        arguments=called.arguments,
        environment=description.environment + _for_starter(description, programs),
        stdin=_inside(description.stdin, names),
        stdout=description.stdout or STDOUT,
        stderr=description.stderr or STDERR,
        inputs=_inputs(files, renamed, programs, filestore),
        fetched=tuple(FetchedFile(name, url, name in programs) for name, url in addresses.items()),
        outputs=description.output_sandbox,
        wall_limit=description.wall_limit,
        interactive=description.interactive,
        software=description.software.words,
        mpi="mpich" if description.mpi in (OVER_SITES, OVERLAY) else description.mpi,
        owner=record.owner,
        ce=record.ce,
        name=description.name,
        request=description.request,
    )


def _inputs(
    files: Sequence[NamedContent], renamed: Mapping[str, str], programs: Collection[str], filestore: FileStore
) -> tuple[InputFile, ...]:
    named = ((file, renamed.get(file.name, file.name)) for file in files)
    return tuple(
        InputFile(name, filestore.path(file.sha256), file.executable or name in programs, file.sha256)
        for file, name in named
    )


def _called(description: JobDescription, sent: Collection[str]) -> UserCommand:
    """What the site starts: the starter of the user if there is one, within prologue and epilogue."""
    main = description.starter
    if not main.program:
        main = UserCommand(description.executable, description.arguments)
    main = replace(main, program=_path(main.program, sent))
    before, after = description.prologue, description.epilogue
    if not before.program and not after.program:
        return main
    parts = [f"{_words(main, sent)}; status=$?"]
    if before.program:
        parts.insert(0, f"{_words(before, sent)} </dev/null || exit")
    if after.program:
        parts.append(f'{_words(after, sent)} </dev/null || [ "$status" -ne 0 ] || status=1')
    return UserCommand("/bin/sh", shlex.join(["-c", "; ".join([*parts, 'exit "$status"'])]))


def _words(call: UserCommand, sent: Collection[str]) -> str:
    return shlex.join([_path(call.program, sent), *shlex.split(call.arguments)])


def _path(program: str, sent: Collection[str]) -> str:
    return f"./{base_name(program)}" if base_name(program) in sent else program


def _for_starter(description: JobDescription, sent: Collection[str]) -> tuple[tuple[str, str], ...]:
    """What a starter of the user is to start, and how many processes of it (CB-JS-04)."""
    if not description.starter.program:
        return ()
    program = _path(description.executable, sent)
    return (
        ("CROSSDESK_EXECUTABLE", program),
        ("CROSSDESK_ARGUMENTS", description.arguments),
        ("CROSSDESK_CPUS", str(description.cpus)),
    )


def component_order(
    order: LaunchOrder, component: Component, placement: Placement, proxies: Proxies
) -> LaunchOrder:
    """The order of one component of several; `proxies`: by which it calls the launcher, and the hub if
    there is one. With a launcher of one's own the program is started once, as it would be alone."""
    if proxies.variables is not None:
        mine = (("CROSSDESK_COMPONENT", str(component.index)), ("CROSSDESK_CPUS", str(placement.cpus)))
        environment = (*order.environment, *mine, *proxies.variables)
        return replace(
            order, attempt=component, ce=placement.ce, cpus=placement.cpus, environment=environment
        )
    several = (("CROSSDESK_MPI_LAYOUT", proxies.layout),) if len(proxies.chunks) > 1 else ()
    by_hub = ((VARIABLE, proxies.hub),) if proxies.hub else ()
    nodes = 1 if by_hub else nodes_asked(order.request, order.cpus, placement.cpus) or proxies.nodes
    return replace(
        order,
        attempt=component,
        ce=placement.ce,
        cpus=placement.cpus,
        environment=(*order.environment, *several, *by_hub, ("CROSSDESK_MPI_PROXY", proxies.words)),
        mpi=OVERLAY if by_hub else OVER_SITES,
        request=replace(order.request, hosts=nodes),
    )


def _inside(stdin: str, names: set[str]) -> str:
    """StdInput by its name in the job's directory, if it came with the sandbox."""
    return base_name(stdin) if base_name(stdin) in names else stdin
