"""Settings of the broker as a whole: its mode and dialect, whom it obeys, how large things may be."""

from __future__ import annotations

from dataclasses import dataclass

from broker_core.jdl.limits import DESCRIPTION_MAX, DIALECTS
from broker_core.settings.field import setting

MB = 1_000_000
SANDBOX_LIMITS = {"embedded": 1000 * MB, "shared": 10 * MB, "compatible": MB}
"""`input_sandbox_max` of each mode in bytes (CB-UAM-08; `compatible` is the published default)."""


@dataclass(frozen=True)
class LimitSettings:
    """Sizes in bytes."""

    mode: str = setting(
        "embedded",
        "embedded, shared or compatible: chooses the sandbox limit",
        choices=tuple(SANDBOX_LIMITS),
    )
    administrators: tuple[str, ...] = setting(
        (), "users who may change sites, policies, replicas of a shared broker"
    )
    input_sandbox_max: int = setting(0, "bytes of a job's input sandbox; 0: as the mode says")
    description_max: int = setting(DESCRIPTION_MAX, "bytes of one description's text")
    dialect: str = setting(
        "crossdesk", "crossdesk, glite or cream: whose rules of descriptions hold", choices=DIALECTS
    )
    backlog_max: int = setting(
        100_000, "submitted jobs that the scheduler has not looked at; more are refused for the moment"
    )
    request_max: int = setting(256 * MB, "bytes of one request's body, uploads of files apart")
    output_max: int = setting(2000 * MB, "bytes that one output file of a local job may grow to")
    results_max: int = setting(
        100 * MB,
        "bytes that a job which names no OutputSandbox has brought home, in one file and in all; 0: no limit",
    )
    left_age: float = setting(
        30 * 86_400.0, "seconds that what did not come home stays at a site; 0: until the job is removed"
    )
    left_max: int = setting(
        10_000 * MB, "bytes that all jobs may leave at one site; the oldest goes first, told a day before"
    )
    inputs_age: float = setting(
        7 * 86_400.0, "seconds that a site keeps an input file after its last job there; 0: for ever"
    )
    inputs_max: int = setting(
        20_000 * MB, "bytes of input files that one site keeps; those that no job needs go first; 0: no limit"
    )
    jobs_age: float = setting(
        0.0,
        "seconds after its end at which a job is removed, but for one whose output was not fetched, or of"
        " which something is still at a site; 0: never",
    )
    cpus: int = setting(0, "processors that the local site offers; 0: as many as the machine has")
    job_nice: int = setting(
        10, "how much nicer than the broker, as in nice(1), local jobs are that are not interactive"
    )
    log_bytes: int = setting(5 * MB, "size at which the log file is turned over; three old ones are kept")

    @property
    def sandbox_limit(self) -> int:
        """Bytes that the input sandbox of one job may have in all."""
        return self.input_sandbox_max or SANDBOX_LIMITS[self.mode]
