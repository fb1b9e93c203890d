"""What a drop will do, worked out before the mouse button is let go. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from app.description.sandbox_files import printable
from app.submission.draft import JobDraft, batch_job
from app.units import counted, size
from broker_core.client.programs.describe import describe, describe_data, runnable, script_from_text
from broker_core.client.programs.file_kind import Item, ItemKind, looks_like_description


class DropAction(StrEnum):
    """What letting go will do."""

    CONFIRM = "confirm"
    """A sheet shows the jobs that would be submitted."""
    EDIT = "edit"
    """An editor opens; nothing can be submitted yet."""
    JOIN = "join"
    """Files join the input sandbox of the editor under the pointer."""
    PROGRAM = "program"
    """The first file becomes the program of the editor under the pointer, the others join it."""
    CHOOSE = "choose"
    """A sheet lists the descriptions of a folder."""
    SCRIPT = "script"
    """A sheet offers to run the text as a script."""
    REFUSE = "refuse"
    """Nothing; `why` says why."""


@dataclass(frozen=True, slots=True)
class DropPlan:
    """What a drop will do."""

    action: DropAction
    jobs: tuple[JobDraft, ...] = ()
    files: tuple[Path, ...] = ()
    """For PROGRAM, JOIN and EDIT: the files that join the sandbox."""
    folder: Path | None = None
    text: str = ""
    """For SCRIPT: the script; for EDIT: the description."""
    size: int = 0
    """Bytes that would be sent, as far as is known before the descriptions are read."""
    why: str = ""
    warnings: tuple[str, ...] = ()


def plan_for_text(text: str) -> DropPlan:
    """What dropping a text does."""
    if not text.strip():
        return DropPlan(DropAction.REFUSE, why="The dropped text is empty.")
    if "\0" in text:
        return DropPlan(DropAction.REFUSE, why="What was dropped is not text.")
    if looks_like_description(text):
        return DropPlan(DropAction.CONFIRM, (JobDraft("dropped description", text),), text=text)
    script = script_from_text(text)
    return DropPlan(DropAction.SCRIPT, text=script, size=len(script.encode("utf-8", "replace")))


def plan_for(items: Sequence[Item], on_editor: bool = False, wants_program: bool = False) -> DropPlan:
    """What dropping these files does; `on_editor`: the pointer is over a job's editor, `wants_program`: in
    which it is not said yet what to run."""
    usable = [item for item in items if item.kind is not ItemKind.UNUSABLE]
    warnings = tuple(_complaint(item) for item in items if item.kind is ItemKind.UNUSABLE)
    if not usable:
        return DropPlan(
            DropAction.REFUSE, why=" ".join(warnings[:3]) or "Nothing was dropped.", warnings=warnings
        )
    folders = [item for item in usable if item.kind is ItemKind.FOLDER]
    if folders:
        return _plan_with_folder(folders, usable, warnings)
    if on_editor and all(item.kind is not ItemKind.DESCRIPTION for item in usable):
        programs = [item for item in usable if runnable(item)]
        if wants_program and len(programs) == 1:
            ordered = _paths(programs + [item for item in usable if item not in programs])
            return DropPlan(DropAction.PROGRAM, files=ordered, size=_size(usable), warnings=warnings)
        return DropPlan(DropAction.JOIN, files=_paths(usable), size=_size(usable), warnings=warnings)
    return _plan_for_files(usable, warnings)


def _plan_with_folder(folders: list[Item], usable: list[Item], warnings: tuple[str, ...]) -> DropPlan:
    if len(folders) == 1 and len(usable) == 1:
        return DropPlan(DropAction.CHOOSE, folder=folders[0].facts.path, warnings=warnings)
    why = "Drop one folder by itself, or files without folders."
    return DropPlan(DropAction.REFUSE, why=why, warnings=warnings)


def _plan_for_files(usable: list[Item], warnings: tuple[str, ...]) -> DropPlan:
    data = [item for item in usable if item.kind is ItemKind.DATA]
    programs = [item for item in usable if runnable(item)]
    if not programs and len(data) == len(usable):
        return DropPlan(
            DropAction.EDIT,
            files=_paths(data),
            text=describe_data(_paths(data)),
            size=_size(data),
            warnings=warnings,
        )
    if data and not programs:
        left_out = (
            f"{counted(len(data), 'data file', 'data files')} left out: a description names its own files."
        )
        warnings = (*warnings, left_out)
    jobs = tuple(_job(item, data) for item in usable if item.kind is not ItemKind.DATA)
    return DropPlan(DropAction.CONFIRM, jobs, size=sum(job.size for job in jobs), warnings=warnings)


def _job(item: Item, data: list[Item]) -> JobDraft:
    path = item.facts.path
    if item.kind is ItemKind.DESCRIPTION:
        return JobDraft(printable(path.name), path=path)
    if item.kind is ItemKind.BATCH_SCRIPT:
        return batch_job(item, _paths(data))
    sent = [item, *data]
    return JobDraft(printable(path.name), describe(item, _paths(data)), None, len(sent), _size(sent))


def _paths(items: Sequence[Item]) -> tuple[Path, ...]:
    return tuple(item.facts.path for item in items)


def _size(items: Sequence[Item]) -> int:
    return sum(item.facts.size for item in items)


def _complaint(item: Item) -> str:
    return f"{printable(item.facts.path.name)} {item.why}."


def sentence(plan: DropPlan, place: str = "", site: str = "") -> tuple[str, str]:
    """What the overlay says while the pointer is over the window: a headline, and a line below it.

    `place` is where jobs go, such as `on this machine`; empty if the scheduler has a choice. `site` is the
    site under the pointer.
    """
    place = f"on {site}" if site else place
    match plan.action:
        case DropAction.REFUSE:
            return "This cannot be dropped here", plan.why
        case DropAction.JOIN:
            files = counted(len(plan.files), "file", "files")
            return (
                "Drop to send with this job",
                f"{files}, {size(plan.size)} will join its input sandbox",
            )
        case DropAction.PROGRAM:
            return f"Drop to run {printable(plan.files[0].name)}", "It becomes the program of this job"
        case DropAction.EDIT:
            files = counted(len(plan.files), "data file", "data files")
            return (
                f"Drop to describe a job for this {place if site else ''}".strip(),
                f"{files}, {size(plan.size)}; you say what runs on them",
            )
        case DropAction.CHOOSE:
            name = printable(plan.folder.name) if plan.folder else ""
            return "Drop to choose from this folder", f"The descriptions in {name} will be listed"
        case DropAction.SCRIPT:
            return (
                f"Drop to run this text as a script {place}".strip(),
                "You will see it before anything is sent",
            )
    return _sentence_for_jobs(plan, place, site)


def _sentence_for_jobs(plan: DropPlan, place: str, site: str) -> tuple[str, str]:
    files = sum(job.files for job in plan.jobs)
    sent = f"{counted(files, 'file', 'files')}, {size(plan.size)} will be sent" if files else ""
    if len(plan.jobs) > 1:
        return (
            f"Drop to make a batch of {len(plan.jobs)} jobs {place if site else ''}".strip(),
            sent or "You will see each before anything is sent",
        )
    if plan.jobs[0].translation is not None:
        title = plan.jobs[0].translation.dialect.system
        return " ".join(filter(None, [f"Drop to run this {title} script", place])), sent
    if sent:
        return " ".join(filter(None, ["Drop to run", place, "with 1 CPU"])), sent
    if site:
        return f"Drop to submit {plan.jobs[0].name} to {site}", "You will see what will be sent"
    return f"Drop to open {plan.jobs[0].name}", "You will see what will be sent where"
