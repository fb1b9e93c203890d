"""Sites as they are added, asked about and shown."""

from __future__ import annotations

import re
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from broker_core.wire.resources import GpuCount
from broker_core.wire.site_states import DetectionState, LinkState, QuestionKind, SiteStanding
from broker_core.wire.submission import Wire

SITE_KINDS = {
    "local": "This machine",
    "slurm": "Slurm",
    "sge": "Grid Engine",
    "pbs": "PBS",
    "lsf": "LSF",
    "condor": "HTCondor",
    "shell": "Host without a batch system",
    "arc": "ARC",
}
"""Kind of a site to its name for people."""
OneLine = Annotated[str, Field(pattern=r"^[^\x00-\x1f\x7f]*$")]
"""Text without control characters: what becomes a word of a command or a part of an address."""
Port = Annotated[int, Field(ge=0, le=65535)]
Storable = Annotated[str, Field(pattern=r"^[^\x00]*$")]
"""Text that an environment can hold, or that can be a name of a directory."""


def _web_address(text: str) -> str:
    """The text, if it can be read as the address of a service; without a scheme `https://` is meant."""
    address = text.strip()
    try:
        _ = urlsplit(address if "://" in address else f"https://{address}").port
    except ValueError as error:
        raise ValueError(f"this is no URL ({str(error).lower()})") from None
    return text


def _cluster_name(text: str) -> str:
    """The text, if it names one cluster and no more."""
    if not re.fullmatch(r"[A-Za-z0-9_.-]*", text, re.ASCII) or text.startswith("-") or text == "all":
        raise ValueError("this is not the name of one cluster (letters, digits, `_`, `-` and `.`)")
    return text


ClusterName = Annotated[str, AfterValidator(_cluster_name)]
"""Name of a Slurm cluster; empty: none."""
WebAddress = Annotated[OneLine, AfterValidator(_web_address)]
"""URL of a service or its host alone; empty: none."""


class SiteSpec(Wire):
    """How a site is reached and used; what `site add` and the wizard write down. Holds no secret."""

    name: str = Field(pattern=r"^[a-z0-9]([a-z0-9.-]{0,62}[a-z0-9])?$")
    """Unique; the host part of its computing elements' ids."""
    kind: str
    """One of SITE_KINDS but `local`."""
    host: OneLine = ""
    """Host name, address, or alias of `~/.ssh/config`; empty: commands run on this machine."""
    port: Port = 0
    """0: as the SSH configuration says."""
    user: OneLine = ""
    jump: OneLine = ""
    """Jump host as `user@host:port`; empty: as the SSH configuration says."""
    url: WebAddress = ""
    """Base URL of an ARC computing element."""
    directory: Storable = ""
    """Directory at the site, seen by its nodes: absolute, or below the home directory, with or without `~/`;
    empty: `.crossdesk` there."""
    queues: list[OneLine] = []
    """Queues to use; empty: all that are open."""
    cluster: ClusterName = ""
    """Slurm: the cluster of several which one login host serves (`-M`); empty: the host's own."""
    options: list[OneLine] = []
    """Words added to each submission, e.g. `--account=phys`."""
    environment: dict[str, Storable] = {}
    """Set before each command at the site, and for its jobs."""
    proxy: OneLine = ""
    """File with the X.509 credential of the user (ARC); empty: where grid tools keep it."""
    trust: OneLine = ""
    """Directory or file with the authorities to trust (ARC); empty: as grid hosts do, or as this one does."""
    poll_interval: float = Field(default=2.0, ge=0.1, le=3600.0)
    """Seconds between two looks at the jobs there while something changes; longer when nothing does."""
    list_interval: float = Field(default=30.0, ge=0.1, le=3600.0)
    """Seconds between two questions to the batch system there after all jobs (`squeue`, `qstat`); it is asked
    sooner while somebody looks at a job that waits, or waits for a cancel. ARC and plain hosts: no effect."""
    reachable: bool = False
    """Nodes there can be called from other sites, as MPI jobs over several sites need it."""
    lease: float = Field(default=0.0, ge=0.0, allow_inf_nan=False)
    """Seconds without contact after which the site ends a running job; 0: it runs on, and is waited for."""
    max_jobs: int = Field(default=0, ge=0, le=2**31 - 1)
    """Most jobs there at the same time; 0: no limit of the broker's."""
    at_once: int = Field(default=4, ge=1, le=64)
    """Commands under way at the same time."""
    drained: bool = False
    """No new jobs are sent."""
    outside: bool = True
    """Jobs of the account that were submitted outside CrossDesk are shown."""


class DetectRequest(Wire):
    """Look what is at a host before it becomes a site."""

    host: OneLine = ""
    port: Port = 0
    user: OneLine = ""
    jump: OneLine = ""
    url: WebAddress = ""
    environment: dict[str, Storable] = {}
    proxy: OneLine = ""
    trust: OneLine = ""
    agent: str = ""
    """Socket of the ssh-agent of who asks; empty: the one that the broker knows."""


class ConnectRequest(Wire):
    """Try a connection now."""

    agent: str = ""
    """As in `DetectRequest`."""


class QueueFound(Wire):
    """One queue that was found."""

    name: str
    total_cpus: int
    free_cpus: int
    wall_limit: float | None = None
    """Seconds."""
    memory: int = 0
    """MiB of a node."""
    open: bool = True
    default: bool = False


class SystemFound(Wire):
    """One batch system that was found."""

    kind: str
    title: str
    version: str = ""
    queues: list[QueueFound] = []
    trouble: str = ""
    """Why it cannot be used, in words with the remedy; empty: it can."""


class Detection(Wire):
    """What was found at a host."""

    id: str
    """Ask again with it: detection goes on until `state.is_over`."""
    state: DetectionState
    reason: str = ""
    question: QuestionView | None = None
    host: str = ""
    """The host's own name."""
    user: str = ""
    home: str = ""
    systems: list[SystemFound] = []
    """Best first."""
    mpi: list[str] = []
    """MPI implementations, e.g. `openmpi 4.1.4`."""
    python: str = ""
    """Version of python3; empty: none."""
    shared: bool | None = None
    """The directory is seen by the nodes; None: not known before the test job."""
    outbound: bool | None = None
    """The host can open connections to the outside; None: not known."""
    modules: list[str] = []
    """Software that can be loaded; becomes run-time tags."""
    suggestion: SiteSpec | None = None
    """What to add as it is."""


class QuestionView(Wire):
    """A question that only the user can answer before a connection is made."""

    id: str
    kind: QuestionKind
    text: str
    secret: bool = True
    keep_as: str = ""
    """Name of the answer in the user's keyring; empty: never kept."""


class QuestionAnswer(Wire):
    """The answer to one question."""

    id: str
    value: str = Field(repr=False)
    """The secret, or `yes` for a host to trust; empty: the user declines."""


class LinkView(Wire):
    """How a site is connected."""

    state: LinkState
    since: float = 0.0
    """Seconds since the epoch, as all times here."""
    reason: str = ""
    retry_at: float | None = None
    heard: float | None = None
    question: QuestionView | None = None
    trouble: str = ""
    """Why the site cannot be used although it answers; empty: it can."""
    credential_until: float | None = None
    """When the credential that opens it expires; None: it does not, or is not known."""


class SiteView(Wire):
    """One site with all that its card shows."""

    spec: SiteSpec
    title: str
    """Kind for people, e.g. `Slurm`."""
    link: LinkView
    ces: list[str] = []
    total_cpus: int = 0
    free_cpus: int = 0
    free_slots: int = 0
    """Virtual slots in which an interactive job starts at once although no CPU is free."""
    total_slots: int = 0
    gpus: list[GpuCount] = []
    """By model."""
    accounts: list[str] = []
    """What jobs may name as Account there; empty: nothing is known."""
    qos: list[str] = []
    features: list[str] = []
    licenses: list[str] = []
    reservations: list[str] = []
    """What jobs may name so there; empty: nothing is known."""
    nodes_see_directory: bool | None = None
    nodes_reach_network: bool | None = None
    """As test jobs found it; None: not known."""
    speed: int | None = None
    """Benchmark of a core as a test job measured it (SpecInt2000, roughly); None: not measured."""
    queued: int = 0
    """This broker's jobs there that wait."""
    running: int = 0
    """This broker's jobs there that run."""
    done: int = 0
    failed: int = 0
    """Outcomes of the asker's jobs."""
    recent_done: int = 0
    recent_failed: int = 0
    """Outcomes of all jobs that ended there in the last hour."""
    stale: str = ""
    """What came back when the site was asked how it stands, so that its figures are old; empty: it told."""
    throttled: str = ""
    """Why fewer jobs are sent there than would fit, and until when; empty: not throttled."""
    per_hour: float = 0.0
    """Jobs that ended there in the last hour."""
    times: list[float] = []
    """History, oldest first: moments."""
    history_queued: list[int] = []
    history_running: list[int] = []
    leaving: bool = False
    """It is being removed: its jobs are ended, and what lies there is taken away."""
    removable: bool = True

    @property
    def name(self) -> str:
        """Name of the site."""
        return self.spec.name

    @property
    def standing(self) -> SiteStanding:
        """The state to show first."""
        if self.leaving:
            return SiteStanding.BEING_REMOVED
        if self.spec.drained:
            return SiteStanding.DRAINED
        if self.link.trouble and self.link.state is LinkState.CONNECTED:
            return SiteStanding.UNUSABLE
        return SiteStanding(self.link.state.value)


class SiteRemoved(Wire):
    """A site was forgotten."""

    left: str = ""
    """What may be left there, where, why, and how to be rid of it; empty: nothing is."""


class LogLine(Wire):
    """One line of a connection's log."""

    time: float
    words: str


class SiteTest(Wire):
    """A test job that was sent to a site."""

    job: str
