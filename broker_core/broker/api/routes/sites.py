"""Routes of the sites: what they are, how they are connected, and what their owner does with them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from broker_core.broker.api.dependencies import Owner, RegistryPart, part
from broker_core.broker.api.permissions import OWNER, administrators
from broker_core.broker.api.responses import json_response
from broker_core.broker.api.views.sites import SiteViews
from broker_core.broker.site_management.site_discovery import SiteDiscovery
from broker_core.broker.site_management.site_tester import SiteTester
from broker_core.errors import BadRequest
from broker_core.sites.transport.login_agent import use_agent
from broker_core.wire.sites import (
    ConnectRequest,
    Detection,
    DetectRequest,
    LogLine,
    QuestionAnswer,
    SiteRemoved,
    SiteSpec,
    SiteTest,
    SiteView,
)

ViewsPart = Annotated[SiteViews, part(SiteViews)]
DiscoveryPart = Annotated[SiteDiscovery, part(SiteDiscovery)]
router = APIRouter()
CHANGES = administrators("change the sites")


TesterPart = Annotated[SiteTester, part(SiteTester)]


@router.get("/sites", response_model=list[SiteView], dependencies=[OWNER])
async def sites(views: ViewsPart, owner: Owner) -> Response:
    """The sites with all that their cards show."""
    return json_response([view.model_dump() for view in await views.all(owner)])


@router.post("/sites", response_model=SiteView, dependencies=[CHANGES])
async def add(spec: SiteSpec, registry: RegistryPart, views: ViewsPart, owner: Owner) -> Response:
    """Add a site; answered at once, while the connection is made."""
    await registry.add(spec)
    return json_response(await views.one(owner, spec.name))


@router.post("/sites/detect", response_model=Detection, dependencies=[CHANGES])
async def detect(request: DetectRequest, discovery: DiscoveryPart) -> Response:
    """Begin to look what is at a host; ask for the answer by its id."""
    use_agent(request.agent)
    return json_response(discovery.begin(request))


@router.get("/sites/detect/{id_}", response_model=Detection, dependencies=[CHANGES])
async def detection(id_: str, discovery: DiscoveryPart) -> Response:
    """What was found at a host so far."""
    return json_response(discovery.found(id_))


@router.post("/sites/detect/{id_}/answer", response_model=Detection, dependencies=[CHANGES])
async def answer_detection(id_: str, answer: QuestionAnswer, discovery: DiscoveryPart) -> Response:
    """Answer what had to be asked before the host could be looked at."""
    discovery.answer(id_, answer)
    return json_response(discovery.found(id_))


@router.put("/sites/{name}", response_model=SiteView, dependencies=[CHANGES])
async def change(
    name: str, spec: SiteSpec, registry: RegistryPart, views: ViewsPart, owner: Owner
) -> Response:
    """Use other settings for a site; jobs there are found again."""
    if spec.name != name:
        raise BadRequest(
            "A site keeps its name.", place=name, remedy="Remove it and add it by the other name."
        )
    await registry.change(spec)
    return json_response(await views.one(owner, name))


@router.delete("/sites/{name}", response_model=SiteRemoved, dependencies=[CHANGES])
async def remove(name: str, registry: RegistryPart, force: Annotated[bool, Query()] = False) -> Response:
    """Forget a site; refused while jobs are there, unless forced: they are canceled. Tells what is left."""
    return json_response(SiteRemoved(left=await registry.remove(name, force=force)).model_dump())


@router.post("/sites/{name}/answer", response_model=SiteView, dependencies=[CHANGES])
async def answer(
    name: str, given: QuestionAnswer, registry: RegistryPart, views: ViewsPart, owner: Owner
) -> Response:
    """Answer the question without which the site cannot be connected; kept in memory only."""
    registry.answer(name, given.id, given.value)
    return json_response(await views.one(owner, name))


@router.post("/sites/{name}/test", response_model=SiteTest, dependencies=[OWNER])
async def send_test(
    name: str, tester: TesterPart, owner: Owner, speed: Annotated[bool, Query()] = False
) -> Response:
    """Send a small job to the site that proves that jobs run there, and tells what its nodes are like; follow
    it like any other. `speed`: it measures how fast the node is, too."""
    return json_response(await tester.send(owner, name, speed=speed))


@router.post("/sites/{name}/drain", response_model=SiteView, dependencies=[CHANGES])
async def drain(name: str, registry: RegistryPart, views: ViewsPart, owner: Owner) -> Response:
    """Send no new jobs to the site; those that are there go on."""
    await registry.drain(name, True)
    return json_response(await views.one(owner, name))


@router.post("/sites/{name}/resume", response_model=SiteView, dependencies=[CHANGES])
async def resume(name: str, registry: RegistryPart, views: ViewsPart, owner: Owner) -> Response:
    """Send new jobs to the site again."""
    await registry.drain(name, False)
    return json_response(await views.one(owner, name))


@router.post("/sites/{name}/connect", response_model=SiteView, dependencies=[CHANGES])
async def connect(
    name: str,
    registry: RegistryPart,
    views: ViewsPart,
    owner: Owner,
    request: ConnectRequest | None = None,
) -> Response:
    """Try to connect now instead of later."""
    if request is not None:
        use_agent(request.agent)
    registry.retry(name)
    return json_response(await views.one(owner, name))


@router.get(
    "/sites/{name}/log",
    response_model=list[LogLine],
    dependencies=[administrators("read the log of a connection")],
)
async def log(name: str, registry: RegistryPart) -> Response:
    """What happened to the connection, oldest first."""
    return json_response([{"time": time, "words": words} for time, words in registry.link(name).log])
