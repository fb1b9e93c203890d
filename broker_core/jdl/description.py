"""What a checked description asks for, as plain values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from broker_core.jdl.resource_request import ANYWHERE, NOTHING, ResourceRequest, SiteChoice

BatchNeeds = tuple[ResourceRequest, int, float | None]
"""What a job asks for, its CPUs, and the seconds of wall time after which it is ended."""

_HOOKS = frozenset({"I2G_MPI_PRE_RUN_HOOK", "I2G_MPI_POST_RUN_HOOK"})
"""Variables that name files which run before and after the program (CB-MPI-04)."""


@dataclass(frozen=True, slots=True)
class Software:
    """What has to be at the site for the program to run."""

    modules: tuple[str, ...] = ()
    """Names of environment modules, in the order in which they are loaded."""
    container: str = ""
    """Image: an absolute path at the site, the name of an input file, or an address; empty: none."""
    python: str = ""
    """Name of the input file that lists the packages of the Python environment; empty: none."""

    @property
    def words(self) -> tuple[str, ...]:
        """As `worker/scripts/software.sh` understands them; empty for none."""
        found = [f"module={name}" for name in self.modules]
        found += [f"python={self.python}"] if self.python else []
        return (*found, f"container={self.container}") if self.container else tuple(found)

    @property
    def from_conda(self) -> bool:
        """The Python environment is one of conda."""
        return self.python.endswith((".yml", ".yaml"))


@dataclass(frozen=True, slots=True)
class UserCommand:
    """A program of the user beside the executable."""

    program: str = ""
    """A path at the site, or a file of the input sandbox; empty: there is none."""
    arguments: str = ""
    """Split as POSIX words."""


NO_COMMAND = UserCommand()


@dataclass(frozen=True, slots=True)
class JobDescription:
    """A description that passed every check; made by `broker_core.jdl.check.check`."""

    name: str
    """`JobName` if given, else the base name of the executable."""
    structure: str
    """Normal, Parallel or Workflow (CB-JOB-01)."""
    interactive: bool
    cpus: int
    executable: str
    arguments: str
    stdin: str
    stdout: str
    stderr: str
    input_sandbox: tuple[str, ...]
    """As written: paths and wildcards on the submitting side."""
    output_sandbox: tuple[str, ...]
    environment: tuple[tuple[str, str], ...]
    sub_job_type: str
    """openmpi, mpich, pacx-mpi, mpich-g2, plain; empty for Normal."""
    wall_limit: float | None
    """Seconds of wall time after which the job is ended; None: the site's own limit."""
    most_running: int = 0
    """Jobs of its sweep that may be at work at the same time; 0: as many as can."""
    starter: UserCommand = NO_COMMAND
    """`JobStarter`: runs in place of the executable, which it starts itself (CB-JS-04)."""
    prologue: UserCommand = NO_COMMAND
    """Runs before it; where that fails, nothing else does."""
    epilogue: UserCommand = NO_COMMAND
    """Runs after it, however that ended."""
    renamed: tuple[tuple[str, str], ...] = ()
    """Base name of an input file as it was sent, and its name in the job's directory."""
    needs: tuple[str, ...] = ()
    """Abilities that a site or broker must have: `mpi:openmpi`, `inter-cluster`, `interactive`, `workflow`,
    `launcher:NAME`. Empty for a plain job. Matching refuses resources that lack one, with that reason."""
    agent: str = ""
    """`InteractiveAgent`; empty: the one that the broker takes by itself."""
    agent_arguments: str = ""
    """`InteractiveAgentArguments`, split as POSIX words."""
    x11: bool = False
    """`InteractiveX11`: the program gets a display whose windows desks show."""
    display: tuple[int, int] | None = None
    """`InteractiveDisplay`: width and height of a virtual screen at the node, which desks see."""
    request: ResourceRequest = NOTHING
    """Nodes, memory, GPUs, accounts and the like."""
    choice: SiteChoice = ANYWHERE
    """Sites, computing elements and batch systems by name."""
    software: Software = Software()
    """`Modules`, `Container` and `PythonEnvironment`."""
    tags: tuple[str, ...] = ()
    """`UserTags`, see `broker_core.jdl.user_tags`."""
    ad: Any = field(default=None, compare=False)
    """The tree (broker_core.jdl.syntax.tree), for Requirements, Rank and unknown attributes."""

    @property
    def application_launcher(self) -> str:
        """Name of the launcher of one's own (CB-AL-13); empty: none."""
        return next((need.partition(":")[2] for need in self.needs if need.startswith("launcher:")), "")

    @property
    def mpi(self) -> str:
        """Kind of MPI that a launcher starts at the site; empty: the program is started once (CB-MPI-01).

        A plain program starts its own processes. It goes through that launcher where it has hooks, or several
        hosts of which it needs the list; a batch script has that list under its own system's names. A starter
        of the user does what the launcher would do, and has the list of the hosts.
        """
        if self.starter.program and self.sub_job_type:
            return "plain"
        if self.sub_job_type != "plain":
            return self.sub_job_type
        names = {name for name, _ in self.environment}
        wanted = not _HOOKS.isdisjoint(names) or self.request.hosts > 1 or self.request.scattered
        return "plain" if wanted and "CROSSDESK_BATCH_SCRIPT" not in names else ""

    @property
    def batch_needs(self) -> BatchNeeds:
        """What decides in a batch system when such a job could start."""
        return self.request, self.cpus, self.wall_limit
