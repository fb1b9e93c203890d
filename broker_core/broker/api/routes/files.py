"""Routes of sandbox files: uploaded once under their hash, before the submission (CB-UAM-07)."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from broker_core.broker.api.dependencies import SettingsPart, part
from broker_core.broker.api.permissions import EVERYBODY
from broker_core.errors import NotFound
from broker_core.launching.files import FileStore

FilesPart = Annotated[FileStore, part(FileStore)]
router = APIRouter(dependencies=[EVERYBODY])
Sha = Annotated[str, Path(pattern=r"^[0-9a-f]{64}$")]


class Shas(BaseModel):
    """Contents by their SHA-256 (hex)."""

    model_config = ConfigDict(extra="forbid")
    shas: list[Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]] = Field(max_length=100_000)


class MissingFiles(BaseModel):
    """Those of the asked contents that have to be uploaded."""

    missing: list[str]


@router.post("/files/missing", response_model=MissingFiles)
async def missing(asked: Shas, files: FilesPart) -> MissingFiles:
    """Which contents the broker does not have."""
    return MissingFiles(missing=[sha for sha in dict.fromkeys(asked.shas) if not files.has(sha)])


@router.head("/files/{sha256}")
async def has(sha256: Sha, files: FilesPart) -> Response:
    """200 if the content is here, else 404."""
    if not files.has(sha256):
        raise NotFound("There is no such content.", place=sha256)
    return Response()


@router.put(
    "/files/{sha256}",
    openapi_extra={"requestBody": {"content": {"application/octet-stream": {"schema": {"type": "string"}}}}},
)
async def put(sha256: Sha, request: Request, files: FilesPart, settings: SettingsPart) -> dict[str, Any]:
    """Keep a content under its hash; refused where the hash is another one, or it is too big."""
    await files.put(sha256, request.stream(), settings.sandbox_limit)
    return {}
