"""Where a description can run, in which order, and exactly why not elsewhere (CB-CMD-03, CB-UI-05)."""

from __future__ import annotations

from pydantic import AliasChoices, Field

from broker_core.wire.submission import SandboxFile, Wire


class MatchRequest(Wire):
    """A description to be matched; the answer is a page of the resources."""

    description: str
    files: list[SandboxFile] | None = None
    site: str = ""
    """Only this site (its name or computing element); empty: any."""
    policy: str = ""
    """Order of the candidates by this policy instead of the broker's."""
    assume_access: bool = False
    """Also count resources to which this broker has no way to send jobs yet."""
    only: str = Field(default="all", pattern="^(all|matching|rejected)$")
    text: str = ""
    """Only resources whose id, site or reason contains this."""
    fails: str = ""
    """Only resources at which the clause of this text (as in MatchReport.clauses) does not hold."""
    offset: int = Field(default=0, ge=0, le=2**31)
    limit: int = Field(default=200, ge=0, le=10_000)
    explain: bool = True
    """With the clauses of each resource of the page; else only the counts and reasons."""
    ces: list[str] = []
    """Only these computing elements, in this order; offset and limit are then ignored."""
    part: str = ""
    """Name of the part that is told (MatchReport.parts), or of one of its jobs; empty: the first."""


class ClauseView(Wire):
    """One clause of Requirements (or one of the broker's own conditions) at one resource."""

    text: str
    value: str
    """true, false, undefined or error."""
    origin: str = "requirements"
    """requirements, cpus, status, authorisation, software, policy, tag, kind, lock, stale, access,
    nodes."""
    explanation: str = ""
    """In words, with the values met there."""


class ClauseCountView(Wire):
    """One clause over all known resources."""

    text: str
    origin: str
    satisfied: int
    """Resources at which it holds."""
    alone: int = 0
    """Resources that would match if this clause alone were dropped."""
    start: int = 0
    """Offsets of the clause in the description's text; both 0 for a condition of the broker."""
    end: int = 0


class MatchedResource(Wire):
    """One resource as the scheduler sees it for this description."""

    ce: str
    """Computing element id."""
    site: str
    matches: bool
    rank: float | None = None
    total_cpus: int = 0
    free_cpus: int = 0
    waiting: int = 0
    expected_wait: float | None = None
    """Seconds until a job would start there, as far as somebody says so; None: nobody does."""
    reason: str = ""
    """Why not, in one sentence; empty if it matches."""
    now_only: bool = False
    """It does not match now, but would when idle."""
    close_files: int = 0
    """Files of InputData with a replica near to it."""
    order: str = ""
    """Why it stands where it stands in the order, in words."""
    clauses: list[ClauseView] = []


class MatchedComponent(Wire):
    """One of the components that a description fixes."""

    member: int
    """Place among the members of the group."""
    cpus: int


class MatchedGroup(Wire):
    """One set of computing elements for a job over several (CB-SET)."""

    size: int
    rank: float | None
    calculation: str
    """How the rank was made, e.g. `(4 x 400 + 8 x 460) / 12 = 440` (CB-SET-05)."""
    total_cpus: int
    free_cpus: int
    members: list[MatchedResource]
    """Without clauses."""
    cpus: list[int] = []
    """CPUs that the job would use at each member (CB-SET-12)."""
    components: list[MatchedComponent] = []
    """Where each of SubJobs would be, in their order (CB-SET-11); empty for a job without."""


class ForecastRequest(Wire):
    """When would a job of this description start at some computing elements?"""

    description: str
    ces: list[str] = Field(max_length=5)


class StartForecast(Wire):
    """What the batch system of one computing element says of a job that nobody submitted."""

    ce: str
    wait: float | None = None
    """Seconds until it would start; None: it says nothing."""
    source: str = ""
    """Who says so, for people: `Slurm`."""
    trouble: str = ""
    """Why there is no answer, in words; empty: there is one, or such a system tells nothing."""


class MatchPart(Wire):
    """Jobs of equal demand, of a description that stands for many jobs (CB-UAM-05)."""

    name: str
    """`value` and the value, or the name of the node; of several jobs that of the first."""
    jobs: int
    """Jobs that it stands for."""
    matching: int
    """Resources that match them."""
    known: int


class MatchReport(Wire):
    """Counts and analysis first, then a page: candidates in the scheduler's order, then the others, those
    nearest to matching first."""

    resources: list[MatchedResource]
    advice: str = ""
    """The smallest change that would make it match anything, in words; empty if it does."""
    analysis: str = ""
    """The whole in one sentence: how many match, and what keeps the rest out."""
    known: int = 0
    matching: int = 0
    selected: int = 0
    """Resources that `only` and `text` leave, of which this is a page."""
    clauses: list[ClauseCountView] = []
    groups: list[MatchedGroup] = []
    """Only for a job that may use several computing elements; the one taken first is the first."""
    groups_total: int = 0
    trace: list[str] = []
    """Steps of the selection (SA-UI-02), only for such a job."""
    parts: list[MatchPart] = []
    """Of a description that stands for many jobs, the first 200; all else here is about one of them. Only
    with the first page."""
    policy: str = ""
    notes: str = Field("", validation_alias=AliasChoices("notes", "policy_note"))
    """That the policy, or the collective condition of the job, failed and the built-in one counts; empty
    otherwise. Older brokers call it `policy_note`."""
    offset: int = 0
