"""One job that may be submitted: its description, and what goes with it; files that open as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from app.context import AppContext, Notice, Tone
from broker_core.client.printable import printable
from broker_core.client.programs.batch_scripts.translation import Translation
from broker_core.client.programs.describe import runnable, translation
from broker_core.client.programs.file_kind import Item, ItemKind, classify
from broker_core.client.programs.path_facts import facts_of


@dataclass(frozen=True, slots=True)
class JobDraft:
    """One description, as it was opened or dropped."""

    name: str
    """For people."""
    text: str = ""
    """The description; empty if it is still in its file."""
    path: Path | None = None
    """The description's file, if it has one."""
    files: int = 0
    """How many dropped files go with it."""
    size: int = 0
    """Bytes of them."""
    base: Path | None = None
    """The folder that relative names in `text` start from; None: absolute names only."""
    translation: Translation | None = None
    """Where the description comes from a batch script: what became of its lines."""


def batch_job(item: Item, data: Sequence[Path] = ()) -> JobDraft:
    """The job of a batch script, with the files that its description sends."""
    found = translation(item, data)
    named = [str(name) for name in found.attributes.get("InputSandbox", ()) if "://" not in name]
    there = [facts for facts in map(facts_of, map(Path, named)) if not facts.fault]
    size = sum(facts.size for facts in there)
    name = printable(item.facts.path.name)
    return JobDraft(name, found.description, None, len(there), size, translation=found)


def open_file(context: AppContext, path: Path) -> bool:
    """Open a description or a batch script in an editor; what cannot be read is told.

    False for what no editor opens: a program, a script or a notebook, which are run.
    """
    item = classify(facts_of(path))
    if item.kind is ItemKind.BATCH_SCRIPT:
        job = batch_job(item)
        context.open_editor(job.text, None, (), job.translation)
    elif runnable(item):
        return False
    else:
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            context.notify(Notice(f"{path} cannot be read: {error.strerror}.", Tone.BAD))
        else:
            context.open_editor(text, path.resolve())
    return True
