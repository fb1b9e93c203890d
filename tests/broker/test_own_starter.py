"""Beside a program: a starter of the user in its place, a prologue before it, an epilogue after it."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.client.client import BrokerClient
from tests.broker.jobs import reach, submit, upload

_STARTER = r"""#!/bin/sh
echo "$1 starts $CROSSDESK_EXECUTABLE with $CROSSDESK_ARGUMENTS on $CROSSDESK_CPUS"
[ -z "${I2G_MPI_MACHINEFILE:-}" ] || cut -d' ' -f2 "$I2G_MPI_MACHINEFILE"
eval "\"$CROSSDESK_EXECUTABLE\" $CROSSDESK_ARGUMENTS"
status=$?
echo "it ended with $status"
exit $status
"""
_PROGRAM = "#!/bin/sh\necho \"$# words: $1\"\nexit 7\n"


@pytest.mark.parametrize(
    ("kind", "cpus", "hosts"),
    [("", 1, ""), ('JobType = "Parallel"; SubJobType = "plain"; NodeNumber = 2;', 2, "2\n")],
)
async def test_it_starts_the_program_and_its_exit_code_is_that_of_the_job(
    client: BrokerClient, isolated: Path, kind: str, cpus: int, hosts: str
) -> None:
    files = [
        await upload(client, _STARTER.encode(), "my starter"),
        await upload(client, _PROGRAM.encode(), "my program"),
    ]
    text = (
        'Executable = "my program"; Arguments = "\'a b\' c"; JobStarter = "my starter";'
        f'JobStarterArguments = "\'-x y\'"; InputSandbox = {{"my starter", "my program"}}; {kind}'
    )
    job = (await submit(client, text, files=files)).ids[0]
    assert (await reach(client, job, "Done", "Aborted"))["exit_code"] == 7
    content = (await client.read_file(job, "std.out")).content.decode()
    assert content == (
        f"-x y starts ./my program with 'a b' c on {cpus}\n{hosts}2 words: a b\nit ended with 7\n"
    )


@pytest.mark.parametrize(
    ("before", "status", "after", "code", "said"),
    [
        ("exit 0", 0, "exit 0", 0, "before $HOME;program;after;"),
        ("exit 3", 0, "exit 0", 3, "before $HOME;"),
        ("exit 0", 4, "exit 5", 4, "before $HOME;program;after;"),
        ("exit 0", 0, "exit 5", 1, "before $HOME;program;after;"),
    ],
)
async def test_a_prologue_runs_before_it_and_an_epilogue_after_it(
    client: BrokerClient, before: str, status: int, after: str, code: int, said: str
) -> None:
    files = [
        await upload(client, f"#!/bin/sh\ncat\nprintf '%s;' \"before $1\"\n{before}\n".encode(), "go in.sh"),
        await upload(client, f"#!/bin/sh\nprintf 'program;'\nexit {status}\n".encode(), "program"),
        await upload(client, f"#!/bin/sh\nprintf 'after;'\n{after}\n".encode(), "out.sh"),
    ]
    text = (
        'Executable = "program"; StdInput = "program"; InputSandbox = {"go in.sh", "program", "out.sh"};'
        'Prologue = "go in.sh"; PrologueArguments = "$HOME"; Epilogue = "out.sh";'
    )
    job = (await submit(client, text, files=files)).ids[0]
    assert (await reach(client, job, "Done", "Aborted"))["exit_code"] == code
    assert (await client.read_file(job, "std.out")).content.decode() == said
