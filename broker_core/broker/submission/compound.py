"""Descriptions that stand for many jobs: each becomes plain items before anything else (CB-UAM-05)."""

from __future__ import annotations

from typing import Protocol

from broker_core.errors import BadRequest
from broker_core.jdl import parametric
from broker_core.jdl.collection import children, is_collection
from broker_core.jdl.description import JobDescription
from broker_core.jdl.diagnostics import DiagnosticList
from broker_core.jdl.names import base_name
from broker_core.jdl.reading import Reading
from broker_core.jdl.syntax.parse import parse
from broker_core.jdl.syntax.tree import Ad
from broker_core.wire.submission import SandboxFile, SubmissionItem


class Compound(Protocol):
    """One kind of description that stands for many jobs. Later kinds plug in here."""

    def takes(self, description: JobDescription) -> bool:
        """True for descriptions of this kind."""
        ...

    def items(self, item: SubmissionItem, description: JobDescription) -> list[SubmissionItem]:
        """What takes the place of the item; raises BadRequest if it stands for no jobs."""
        ...


class Parametric:
    """`JobType = "Parametric"`: one job for each value of `Parameters`."""

    def takes(self, description: JobDescription) -> bool:
        """Every parametric description."""
        return description.ad is not None and parametric.is_parametric(description.ad)

    def items(self, item: SubmissionItem, description: JobDescription) -> list[SubmissionItem]:
        """The same item, with the values that its description gives."""
        values = parametric.values(description.ad)
        if not values:
            raise BadRequest(
                "Parameters stands for no value at all.",
                code="bad_values",
                remedy="Let Parameters be a list of values, or a number above ParameterStart.",
            )
        return [item.model_copy(update={"values": values})]


class Collection:
    """`Type = "Collection"`: one job for each of `Nodes`, with a description of its own."""

    def takes(self, description: JobDescription) -> bool:
        """Every collection."""
        return description.ad is not None and is_collection(description.ad)

    def items(self, item: SubmissionItem, description: JobDescription) -> list[SubmissionItem]:
        """One item for each node, with those files that it names."""
        made = []
        for name, text in children(description.ad):
            if text is None:
                raise BadRequest(
                    f"Node {name} names a file with its description, which the broker cannot read.",
                    code="node_in_a_file",
                    remedy="Write the node's attributes into the collection itself.",
                )
            made.append(SubmissionItem(description=text, name=name, files=_files_of(text, item.files)))
        return made


COMPOUNDS: list[Compound] = [Parametric(), Collection()]
"""Asked in order; the first that takes a description stands in for it."""


def items_of(item: SubmissionItem, description: JobDescription) -> list[SubmissionItem]:
    """The items that stand for `item`: itself, unless it is compound and came without values."""
    if item.values is not None:
        return [item]
    kind = next((one for one in COMPOUNDS if one.takes(description)), None)
    return [item] if kind is None else kind.items(item, description)


def _files_of(text: str, files: list[SandboxFile]) -> list[SandboxFile]:
    entries = Reading(parse(text).ad or Ad(), DiagnosticList(text)).strings("inputsandbox")
    names = {base_name(entry) for entry, _ in entries}
    return [file for file in files if file.name in names]
