"""What is asked of an information system: bases, filters and attributes of both vocabularies."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from broker_core.jdl.glue.attributes import GLUE

SCHEMAS = ("1.3", "2.0")
BASES: Mapping[str, str] = {"1.3": "o=grid", "2.0": "o=glue"}
"""Vocabulary to the base of its tree."""
_CLASSES = {
    "1.3": "GlueCE GlueCluster GlueSubCluster GlueSite GlueCESEBindGroup GlueCESEBind GlueSE GlueSA"
    " GlueSEAccessProtocol",
    "2.0": "GLUE2ComputingService GLUE2Endpoint GLUE2ComputingManager GLUE2ComputingShare"
    " GLUE2ExecutionEnvironment GLUE2ApplicationEnvironment GLUE2MappingPolicy GLUE2AccessPolicy"
    " GLUE2Location GLUE2AdminDomain GLUE2ToStorageService",
}
_LISTED = {
    "1.3": "GlueCE GlueCluster GlueSite",
    "2.0": "GLUE2ComputingService GLUE2Endpoint GLUE2ComputingManager GLUE2ComputingShare GLUE2AdminDomain",
}
_WANTED = {
    "1.3": re.compile(r"Glue(?:CE|Cluster|SubCluster|Host|Site|SE|SA|ForeignKey|ChunkKey)"),
    "2.0": re.compile(
        r"GLUE2(?:Computing|Execution|Application|Service|Endpoint|Share|Manager|Resource|Policy|Location|Domain"
        r"|EntityName|EntityOtherInfo|AdminDomain|ToStorageService)"
    ),
}
_UNWANTED = re.compile(
    r"GlueCEJob|GlueHost(?:File|StorageDevice|RemoteFile)|GLUE2(?:ComputingActivity|ApplicationHandle)"
    r"|GlueSite(?:Sponsor|OtherInfo|.*Contact|Description)"
    r"|GlueSE(?:ControlProtocol|AccessProtocol(?!Type|LocalID))"
    r"|GLUE2(?:EndpointWSDL|EndpointTrustedCA|EndpointSemantics|EndpointSupportedProfile|ServiceStatusInfo)"
)
_LINKS = (
    "GLUE2ServiceAdminDomainForeignKey GLUE2EndpointServiceForeignKey GLUE2ManagerServiceForeignKey"
    " GLUE2ShareServiceForeignKey GLUE2ShareEndpointForeignKey GLUE2ShareResourceForeignKey"
    " GLUE2ComputingShareComputingServiceForeignKey GLUE2ComputingShareComputingEndpointForeignKey"
    " GLUE2ComputingShareExecutionEnvironmentForeignKey GLUE2ResourceManagerForeignKey"
    " GLUE2ApplicationEnvironmentComputingManagerForeignKey GLUE2MappingPolicyShareForeignKey"
    " GLUE2AccessPolicyEndpointForeignKey GLUE2LocationDomainForeignKey"
    " GLUE2ToStorageServiceComputingServiceForeignKey GLUE2ToStorageServiceStorageServiceForeignKey"
)


_LINK_NAMES = {
    "1.3": "GlueCEUniqueID GlueCEName GlueCEHostingCluster GlueClusterUniqueID GlueForeignKey"
    " GlueSiteUniqueID GlueSiteName GlueInformationServiceURL",
    "2.0": "GLUE2ShareID GLUE2ComputingShareMappingQueue GLUE2ComputingShareServingState GLUE2EntityOtherInfo"
    " GLUE2EntityName GLUE2ServiceID GLUE2EndpointID GLUE2EndpointURL GLUE2EndpointInterfaceName"
    " GLUE2ManagerID GLUE2ManagerProductName GLUE2DomainID GLUE2ServiceAdminDomainForeignKey"
    " GLUE2EndpointServiceForeignKey GLUE2ManagerServiceForeignKey GLUE2ShareServiceForeignKey"
    " GLUE2ShareEndpointForeignKey GLUE2ComputingShareComputingServiceForeignKey"
    " GLUE2ComputingShareComputingEndpointForeignKey",
}


def _filter(classes: str) -> str:
    return f"(|{''.join(f'(objectClass={name})' for name in classes.split())})"


def _names(schema: str) -> tuple[str, ...]:
    names = [one.name for one in GLUE.values()]
    found = [name for name in names if _WANTED[schema].match(name) and not _UNWANTED.match(name)]
    return (*found, *_LINKS.split()) if schema == "2.0" else tuple(found)


FILTERS: Mapping[str, str] = {schema: _filter(classes) for schema, classes in _CLASSES.items()}
"""All entries that tell of computing elements."""
DETAILS: Mapping[str, Sequence[str]] = {schema: _names(schema) for schema in SCHEMAS}
"""All attributes that the cache may want."""
LISTED: Mapping[str, str] = {schema: _filter(classes) for schema, classes in _LISTED.items()}
"""The entries that say which computing elements there are, and who answers for them."""
LINKS: Mapping[str, Sequence[str]] = {schema: names.split() for schema, names in _LINK_NAMES.items()}
"""The attributes of those entries."""
