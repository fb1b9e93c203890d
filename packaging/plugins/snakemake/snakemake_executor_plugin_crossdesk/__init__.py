"""The executor `crossdesk` of Snakemake: rules go to the broker of CrossDesk, and so to its sites."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from snakemake_interface_common.exceptions import WorkflowError
from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo
from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor
from snakemake_interface_executor_plugins.jobs import JobExecutorInterface
from snakemake_interface_executor_plugins.settings import CommonSettings, ExecutorSettingsBase

from broker_core.client.blocking import BlockingClient, JobReport
from broker_core.errors import Conflict, CrossDeskError
from broker_core.jdl.syntax.write import value_text
from broker_core.jobs.outcome import Outcome

LOG = "snakemake.log"
"""File in the job's directory that takes all that the rule prints."""
_SIZES = {
    "gpu": "GPUNumber",
    "mem_mb": "MemoryPerNode",
    "mem_mb_per_cpu": "MemoryPerCPU",
    "scratch_mb": "ScratchSize",
}
_NAMES = {
    "gpu_model": "GPUModel",
    "slurm_account": "Account",
    "slurm_partition": "QueueName",
    "qos": "QOS",
    "reservation": "Reservation",
}
"""Resources, as Snakemake's executor for Slurm calls them, to attributes of the description."""


@dataclass
class ExecutorSettings(ExecutorSettingsBase):
    """What the command line of Snakemake offers as `--crossdesk-NAME`."""

    site: str | None = field(
        default=None,
        metadata={"help": "The only site that rules may go to.", "env_var": False, "required": False},
    )


common_settings = CommonSettings(
    non_local_exec=True,
    implies_no_shared_fs=False,
    job_deploy_sources=False,
    pass_default_storage_provider_args=True,
    pass_default_resources_args=True,
    pass_envvar_declarations_to_cmd=True,
    auto_deploy_default_storage_provider=False,
    init_seconds_before_status_checks=1,
)


class Executor(RemoteExecutor):
    """Submits rules and hears of their ends; the folder of the workflow must be seen by the sites."""

    def __post_init__(self) -> None:
        """Connect to the broker; raises WorkflowError."""
        try:
            self._client = BlockingClient()
        except CrossDeskError as error:
            raise WorkflowError(str(error)) from error

    def run_job(self, job: JobExecutorInterface) -> None:
        """Submit one rule, or a group of them; raises WorkflowError."""
        script = Path(self.get_jobscript(job)).absolute()
        self.write_jobscript(job, str(script))
        settings = self.workflow.executor_settings
        site = job.resources.get("crossdesk_site") or (settings.site if settings else None) or ""
        try:
            (native,) = self._client.submit(description_of(job, script), name=job.name, site=site)
        except CrossDeskError as error:
            raise WorkflowError(f"{job.name}: {_reasons(error)}") from error
        self.report_job_submission(SubmittedJobInfo(job, external_jobid=native))

    async def check_active_jobs(self, active_jobs: list[SubmittedJobInfo]) -> AsyncIterator[SubmittedJobInfo]:
        """Report those that have ended, and yield the others."""
        for info in active_jobs:
            async with self.status_rate_limiter:
                try:
                    (report,) = await asyncio.to_thread(self._client.status, info.external_jobid)
                except CrossDeskError as error:
                    self.report_job_error(info, msg=f"{_reasons(error)} ")
                    continue
            if not report.ended:
                yield info
            elif report.outcome is Outcome.DONE:
                self.report_job_success(info)
            else:
                log = await asyncio.to_thread(self._saved_log, report)
                self.report_job_error(info, msg=f"{report.outcome}: {report.cause}. ", aux_logs=log)

    def get_job_exec_prefix(self, job: JobExecutorInterface) -> str:
        """Rules begin in the folder of the workflow, not in the job's own."""
        return f"cd {shlex.quote(str(Path.cwd()))}"

    def cancel_jobs(self, active_jobs: list[SubmittedJobInfo]) -> None:
        """Stop what runs."""
        for info in active_jobs:
            with suppress(Conflict):  # it has ended by itself
                self._client.cancel(info.external_jobid)

    def shutdown(self) -> None:
        """End the connection."""
        super().shutdown()
        self._client.close()

    def _saved_log(self, report: JobReport) -> list[str]:
        """What a failed rule printed, in a file of this machine; none if it printed nothing."""
        try:
            text = self._client.output(report.id, LOG)
        except CrossDeskError:
            return []  # it never began
        if not text:
            return []
        folder = Path(self.workflow.persistence.path, "crossdesk")
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{report.id}.log"
        file.write_text(text)
        return [str(file)]


def description_of(job: JobExecutorInterface, script: Path) -> str:
    """The description that sends the script of a rule along and runs it."""
    wanted: dict[str, object] = {
        "Executable": script.name,
        "InputSandbox": [str(script)],
        "StdOutput": LOG,
        "StdError": LOG,
        "OutputSandbox": [LOG],
    }
    if job.threads > 1:
        wanted |= {"JobType": "Parallel", "SubJobType": "plain", "CpuNumber": job.threads, "HostNumber": 1}
    if minutes := _number(job, "runtime"):
        wanted["WallTime"] = minutes * 60
    wanted |= {attribute: size for name, attribute in _SIZES.items() if (size := _number(job, name))}
    wanted |= {attribute: text for name, attribute in _NAMES.items() if (text := _text(job, name))}
    if "MemoryPerCPU" in wanted:
        wanted.pop("MemoryPerNode", None)  # which Snakemake gives to every rule by itself
    if wanted.keys() & {"Account", "QueueName", "QOS", "Reservation"}:
        wanted["NamesOf"] = "slurm"
    lines = [f"{name} = {value_text(value)};" for name, value in wanted.items()]
    if own := job.resources.get("crossdesk_jdl"):
        lines.append(str(own))
    return "\n".join(lines) + "\n"


def _number(job: JobExecutorInterface, name: str) -> int:
    """A resource that is a number already; 0 for one that is not known yet."""
    value = job.resources.get(name)
    return int(value) if isinstance(value, int | float) else 0


def _text(job: JobExecutorInterface, name: str) -> str:
    """A resource that is a text already; empty for one that is not known yet."""
    value = job.resources.get(name)
    return value if isinstance(value, str) and value != "<TBD>" else ""


def _reasons(error: CrossDeskError) -> str:
    found = [one.message for one in getattr(error, "diagnostics", ()) if one.severity == "error"]
    return " ".join([str(error), *found])
