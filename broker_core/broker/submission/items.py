"""The items of a submission: each is checked, and expanded where it stands for several."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import asdict

from broker_core.broker.matchmaking.data_locality import DataLocality
from broker_core.broker.submission.checking import Checker
from broker_core.broker.submission.compound import items_of
from broker_core.broker.submission.expansion import helped, helper_for, installed
from broker_core.broker.submission.input_sandbox import check_sandbox
from broker_core.broker.submission.new_jobs import CheckedItem
from broker_core.errors import BadRequest, DescriptionRefused
from broker_core.interactive.sessions.desks import Desks
from broker_core.interactive.sessions.sessions import is_foreign
from broker_core.jdl.description import JobDescription
from broker_core.launching.application_launchers import NONE_OF_OWN, NoApplicationLauncher
from broker_core.launching.files import FileStore
from broker_core.launching.orders import OVER_SITES, OVERLAY
from broker_core.scheduling.demand import PARAMETER, significant
from broker_core.wire.checks import DiagnosticView
from broker_core.wire.submission import Caution, Submission, SubmissionItem


class ItemChecker:
    """Checks what is submitted before anything of it is kept."""

    def __init__(
        self,
        checker: Checker,
        files: FileStore,
        data: DataLocality,
        desks: Desks,
        sandbox_limit: int,
    ) -> None:
        """`sandbox_limit`: bytes of an input sandbox."""
        self.launchers = NONE_OF_OWN
        """Those that a description may name."""
        self._desks = desks
        self._checker = checker
        self._files = files
        self._data = data
        self._sandbox_limit = sandbox_limit

    async def checked(
        self, owner: str, submission: Submission, *, repeated: bool = False
    ) -> list[CheckedItem]:
        """All items of an owner in order; raises DescriptionRefused and BadRequest. `repeated`: they are jobs
        that were made before, so that no helper is asked about them."""
        items = [
            await self._checked(part, submission, number)
            for number, item in enumerate(submission.items, 1)
            for part in await self._parts(item, submission, number, helpers=not repeated)
        ]
        for number, one in enumerate(items, 1):
            await self._reachable(owner, one, _location(submission, number))
        await self._data.asked(one for item in items for one in (item.description, *item.own.values()))
        return items

    async def _parts(
        self, item: SubmissionItem, submission: Submission, number: int, *, helpers: bool
    ) -> list[SubmissionItem]:
        """The items that a compound description stands for; the item itself where it is plain."""
        if item.values is not None:
            return [item]
        checked = await self._checker.check(item.description)
        if checked.description is None:
            raise refused(checked.diagnostics, _location(submission, number))
        if helpers and installed():
            made = await asyncio.to_thread(helped, item, checked.description)
            if made is not None:
                return made
        items = items_of(item, checked.description)
        if items[0] is item and "workflow" in checked.description.needs:
            raise BadRequest(
                "Graphs of jobs are not run yet: this one would wait for ever.",
                code="graphs_not_run",
                place=_location(submission, number),
                remedy="Submit its nodes one by one, or those that wait for none as a Collection.",
            )
        return items

    async def _checked(self, item: SubmissionItem, submission: Submission, number: int) -> CheckedItem:
        location = _location(submission, number)
        checked = await self._checker.check(item.description, (item.values or [""])[0])
        if checked.description is None:
            raise refused(checked.diagnostics, location)
        await self._check_launcher(checked.description, location)
        _refuse_several_sites(checked.description, location)
        helper_for(item, checked.description).inspect(item)
        check_sandbox(checked.description, item.files, self._files, self._sandbox_limit, location)
        own: dict[str, JobDescription] = {}
        if item.values and PARAMETER in significant(checked.description.ad, item.description):
            own = await self._each(item, location)
        warnings = tuple(
            Caution(code=one.code, message=one.message, line=one.line)
            for one in checked.diagnostics
            if one.severity == "warning"
        )
        sha = hashlib.sha256(item.description.encode("utf-8", "surrogatepass")).hexdigest()
        return CheckedItem(item, checked.description, sha, warnings, own)

    async def _reachable(self, owner: str, item: CheckedItem, location: str) -> None:
        """An interactive job without a desk would run with nobody at it (CB-JDL-11); one that brings an agent
        of its own knows its user's side by itself."""
        job = item.description
        brought = {file.name for file in item.item.files}
        if not job.interactive or is_foreign(job.agent, brought) or await self._desks.of(owner):
            return
        raise BadRequest(
            "No desk of yours is registered, so nobody could reach this interactive job.",
            code="no_desk",
            place=", ".join(part for part in (location, "InteractiveAgent") if part),
            remedy="Submit it with the desktop or `crossdesk job submit`, which register one, or name your"
            " own agent in InteractiveAgent.",
        )

    async def _check_launcher(self, job: JobDescription, location: str) -> None:
        """A launcher that is named has to be installed at the broker, and signed (CB-AL-20)."""
        named = job.application_launcher
        if not named:
            return
        where = ", ".join(part for part in (location, "ApplicationLauncher") if part)
        if "inter-cluster" not in job.needs:
            raise BadRequest(
                f"The launcher {named} starts several components together, and the job names none.",
                code="launcher_without_components",
                place=where,
                remedy="Name two or more in SubJobs, or leave ApplicationLauncher out: a job of SubJobType"
                " plain is started once, at one site.",
            )
        try:
            await asyncio.to_thread(self.launchers.source, named)
        except NoApplicationLauncher as error:
            error.place = where
            raise

    async def _each(self, item: SubmissionItem, location: str) -> dict[str, JobDescription]:
        found: dict[str, JobDescription] = {}
        for value in item.values or ():
            checked = await self._checker.check(item.description, value)
            if checked.description is None:
                raise refused(checked.diagnostics, f"{location} value {value!r}".strip())
            found[value] = checked.description
        return found


def _refuse_several_sites(job: JobDescription, location: str) -> None:
    """No launcher joins the parts of such a parallel job at several sites: it would wait for ever."""
    if "inter-cluster" not in job.needs:
        return
    joined = job.sub_job_type in (OVER_SITES, OVERLAY) or job.application_launcher
    if joined and not job.interactive:
        return
    raise BadRequest(
        f"A job of SubJobType {job.sub_job_type} runs over several sites, which is not done yet"
        f"{' for interactive jobs' * job.interactive}: it would wait for ever.",
        code="several_sites_not_run",
        place=", ".join(part for part in (location, "SubJobType") if part),
        remedy='Write SubJobType = "openmpi" or "mpich", for one site, or leave Interactive out.',
    )


def _location(submission: Submission, number: int) -> str:
    return f"item {number}" if len(submission.items) > 1 else ""


def refused(diagnostics: Sequence[object], location: str = "") -> DescriptionRefused:
    """The error for a description with errors; all of them are in it (CB-JDL-11)."""
    wire = tuple(DiagnosticView.model_validate(asdict(one)) for one in diagnostics)  # type: ignore[call-overload]
    errors = [one for one in wire if one.severity == "error"]
    first = errors[0].message if errors else "The description was refused."
    more = f" ({len(errors) - 1} more errors)" if len(errors) > 1 else ""
    line = f"line {errors[0].line}" if errors and errors[0].line else ""
    return DescriptionRefused(first + more, wire, place=", ".join(part for part in (location, line) if part))
