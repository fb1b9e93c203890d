"""Routes of describing and submitting: check, submit (CB-CMD-01)."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Request, Response

from broker_core.broker.api.dependencies import Owner, SubmissionsPart, part
from broker_core.broker.api.fast_submission import answer_submission
from broker_core.broker.api.permissions import EVERYBODY, OWNER
from broker_core.broker.api.responses import json_response
from broker_core.broker.submission.checking import Checker
from broker_core.jdl.check import Checked, FileFact, Limits, check
from broker_core.jdl.names import base_name
from broker_core.jdl.number_of_jobs import number_of_jobs
from broker_core.wire.checks import CheckReport, CheckRequest, DiagnosticView
from broker_core.wire.submission import Receipt

CheckerPart = Annotated[Checker, part(Checker)]
router = APIRouter()

_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Submission"}}},
    }
}


@router.post("/submissions", response_model=Receipt, openapi_extra=_BODY, dependencies=[OWNER])
async def submit(request: Request, submissions: SubmissionsPart, owner: Owner) -> Response:
    """Submit jobs; answered when they are durable. The same key gives the same receipt."""
    return await answer_submission(submissions, owner, await request.body())


@router.post("/checks", response_model=CheckReport, dependencies=[EVERYBODY])
async def checks(question: CheckRequest, checker: CheckerPart) -> Response:
    """All that is wrong with a description, and what it asks for (CB-JDL-11)."""
    found = await asyncio.to_thread(_check, question, checker.limits)
    report = CheckReport(
        ok=found.description is not None,
        diagnostics=[DiagnosticView.model_validate(asdict(one)) for one in found.diagnostics],
    )
    if found.description is not None:
        report.structure = found.description.structure
        report.interactive = found.description.interactive
        report.cpus = found.description.cpus
        report.name = found.description.name
        report.jobs = number_of_jobs(found.description)
    return json_response(report)


def _check(question: CheckRequest, limits: Limits) -> Checked:
    found = check(question.description, limits=limits)
    if found.description is None or question.files is None:
        return found
    sent = {file.name: FileFact(size=file.size, readable=True) for file in question.files}
    entries = found.description.input_sandbox
    facts = {entry: sent[base_name(entry)] for entry in entries if base_name(entry) in sent}
    return check(question.description, files=facts, limits=limits)
