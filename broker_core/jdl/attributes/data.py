# ruff: noqa: E501 - one attribute a line reads best as a table
"""Attributes about files in grid storage."""

from broker_core.jdl.attributes.attribute import table

DATA = table(
    "gLite",
    "job",
    """
DataRequirements | ads | | | Input files by catalogue, each ad with InputData, DataCatalogType and optionally DataCatalog.
DataAccessProtocol | string, strings | | | Protocols by which the program can read its input data.
DataCatalog | string | | | In DataRequirements: address of the catalogue of these files, as in ReplicaCatalog.
DataCatalogType | string | | DLI, SI, RLS | In DataRequirements: kind of that catalogue; how it is asked follows from its address.
StorageIndex | string | | | Address of the storage index that finds si-lfn: and si-guid: names.
OutputSE | string | | | Storage element near which the job should run.
OutputData | ads | | | Files to be stored when the job ends, each ad with OutputFile and optionally StorageElement and LogicalFileName.
DSUpload | string | | | Name of the file that reports on those uploads.
OutputFile | string | | | In OutputData: the file of the job's directory that is stored.
StorageElement | string | | | In OutputData: where the file is stored.
LogicalFileName | string | | | In OutputData: the lfn: name under which the file is registered.
""",
)
