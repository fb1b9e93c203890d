"""Options of `crossdesk site add` and `site change`: how a site is reached and used."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, TypeVar

import typer
from pydantic import BaseModel, ValidationError

from broker_core.errors import BadRequest
from broker_core.wire.sites import SITE_KINDS

Model = TypeVar("Model", bound=BaseModel)
KINDS = tuple(kind for kind in SITE_KINDS if kind != "local")
User = Annotated[str | None, typer.Option("--user", help="Account at the host.")]
Port = Annotated[int | None, typer.Option("--port", min=0, max=65535, help="Port of its SSH server.")]
Jump = Annotated[str | None, typer.Option("--jump", help="Host on the way, as user@host:port.")]
Queues = Annotated[list[str] | None, typer.Option("--queue", help="Use this queue only; may be repeated.")]
Cluster = Annotated[
    str | None,
    typer.Option("--cluster", help="Slurm: the cluster to use of several that the host serves (-M)."),
]
Options = Annotated[
    list[str] | None,
    typer.Option("--option", help="Word for each submission, e.g. --account=phys; may be repeated."),
]
Environment = Annotated[
    list[str] | None, typer.Option("--env", help="NAME=VALUE set there for commands and jobs; repeatable.")
]
Directory = Annotated[
    str | None,
    typer.Option("--directory", help="Absolute directory there that its nodes see; else ~/.crossdesk."),
]
Proxy = Annotated[str | None, typer.Option("--proxy", help="File with your X.509 credential (ARC).")]
Lease = Annotated[
    float | None,
    typer.Option("--lease", min=0, help="Seconds without contact that end a running job there; 0: none do."),
]
MostJobs = Annotated[int | None, typer.Option("--max-jobs", min=0, help="Limit of jobs there.")]
Outside = Annotated[
    bool | None,
    typer.Option("--outside/--no-outside", help="Show jobs of the account submitted outside CrossDesk."),
]
Reachable = Annotated[
    bool | None,
    typer.Option(
        "--reachable/--not-reachable",
        help="Its nodes can be called from other sites, as MPI jobs over several sites need it.",
    ),
]
Poll = Annotated[
    float | None, typer.Option("--poll", min=0.1, max=3600, help="Seconds between two looks at its jobs.")
]
ListEvery = Annotated[
    float | None,
    typer.Option(
        "--list-every",
        min=0.1,
        max=3600,
        help="Seconds between two questions to its batch system (squeue, qstat) while nobody waits for them.",
    ),
]
HostKey = Annotated[
    str,
    typer.Option("--host-key", help="Fingerprint (SHA256:...) of the host key that is trusted unasked."),
]
Authorities = Annotated[
    str | None,
    typer.Option("--authorities", help="File or directory with the authorities to trust (ARC)."),
]


def _offer_kinds(incomplete: str) -> list[tuple[str, str]]:
    return [(kind, SITE_KINDS[kind]) for kind in KINDS if kind.startswith(incomplete)]


Kind = Annotated[
    str,
    typer.Option(
        "--kind", help="What runs the jobs there; else the best that is found.", autocompletion=_offer_kinds
    ),
]


def environment(given: Iterable[str]) -> dict[str, str]:
    """Variables from `NAME=VALUE`; raises BadRequest."""
    found = {}
    for word in given:
        name, sign, value = word.partition("=")
        if not sign or not name.isidentifier():
            raise BadRequest(
                f"{word!r} is no NAME=VALUE.", code="usage", remedy="E.g. --env TMPDIR=/scratch."
            )
        found[name] = value
    return found


def checked(model: type[Model], given: dict[str, Any]) -> Model:
    """What the options amount to; raises BadRequest naming the first that is not what the broker takes."""
    try:
        return model.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        option = ".".join(str(part) for part in first["loc"])
        raise BadRequest(f"{option}: {first['msg']}.", code="usage", remedy="Correct the option.") from error
