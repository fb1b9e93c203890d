"""What A-REX answers, read: lists of jobs, names, and folders of a session."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from xml.etree import ElementTree

import orjson

from broker_core.sites.contract import RunFile

_DAV = "{DAV:}"


def jobs(body: bytes) -> list[dict[str, Any]]:
    """The jobs of an answer, one or many; none for an empty body. Raises ValueError."""
    if not body.strip():
        return []
    found = orjson.loads(body)
    if not isinstance(found, dict):
        raise ValueError("no list of jobs")
    listed = found.get("job", [])
    listed = listed if isinstance(listed, list) else [listed]
    if not all(isinstance(one, dict) for one in listed):
        raise ValueError("no list of jobs")
    return listed


def name_of(job: Mapping[str, Any]) -> str:
    """The name in a job's information; empty where it is not there (yet)."""
    activity = (job.get("info_document") or {}).get("ComputingActivity") or {}
    name = activity.get("Name", "") if isinstance(activity, dict) else ""
    return name if isinstance(name, str) else ""


def kept_name(body: bytes) -> str:
    """The name in A-REX's own record of a job; empty where it is not there (yet)."""
    lines = body.decode("utf-8", "replace").splitlines()
    return next((line.partition("=")[2] for line in lines if line.startswith("jobname=")), "")


def folder(body: bytes, root: str) -> list[RunFile]:
    """Files in an answer to PROPFIND, with paths below `root` (a path of the URL, with a slash at its end).

    Raises ValueError.
    """
    if b"<!" in body:
        raise ValueError("the list of a folder declares entities")
    try:
        tree = ElementTree.fromstring(body.decode("utf-8", "replace"))  # noqa: S314 - no entities, see above
    except ElementTree.ParseError as error:
        raise ValueError(f"the list of a folder cannot be read: {error}") from error
    found = []
    for one in tree.iter(f"{_DAV}response"):
        href = one.findtext(f"{_DAV}href", "").removeprefix("file:").replace("//", "/")
        _, _, path = href.partition(root)
        properties = one.find(f"{_DAV}propstat/{_DAV}prop")
        if (
            not path
            or properties is None
            or properties.find(f"{_DAV}resourcetype/{_DAV}collection") is not None
        ):
            continue
        size = properties.findtext(f"{_DAV}getcontentlength", "0")
        time = properties.findtext(f"{_DAV}getlastmodified", "")
        found.append(RunFile(path, int(size), _moment(time)))
    return sorted(found, key=lambda file: file.path)


def _moment(text: str) -> float:
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        return 0.0
