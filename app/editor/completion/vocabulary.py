"""What may be read and called in Requirements and Rank, in words for the completion."""

from __future__ import annotations

RESOURCE = {
    "GlueCEUniqueID": "Name of the computing element.",
    "GlueHostFreeCPUs": "CPUs that are free now.",
    "GlueCEInfoTotalCPUs": "CPUs in all.",
    "GlueCEStateFreeCPUs": "CPUs that are free now; the same as GlueHostFreeCPUs.",
    "GlueCEStateRunningJobs": "Jobs that run there.",
    "GlueCEStateWaitingJobs": "Jobs that wait there.",
    "GlueCEStateEstimatedResponseTime": "Seconds a new job would wait there, as the site estimates it.",
    "GlueCEStateStatus": "Production, Draining, Queueing or Closed.",
    "GlueCEInfoLRMSType": "Kind of batch system.",
    "GlueCEPolicyMaxWallClockTime": "Longest wall time of a job, in minutes.",
    "GlueHostBenchmarkSI00": "Speed of a CPU (SpecInt2000).",
    "GlueHostMainMemoryRAMSize": "Main memory of a node, in MBytes.",
    "GlueHostArchitecturePlatformType": "Processor architecture, for example x86_64.",
    "GlueHostOperatingSystemName": "Operating system.",
    "GlueHostApplicationRunTimeEnvironment": 'Installed software: a list; ask with Member("name", …).',
}
"""Attributes of resources, read as `other.NAME`."""

FUNCTIONS = {
    "Member": "Member(value, list): true if the list holds the value.",
    "RegExp": "RegExp(pattern, text): true if the text matches the regular expression.",
    "isUndefined": "isUndefined(x): true if the attribute is not there.",
    "ifThenElse": "ifThenElse(test, yes, no): one of two values.",
    "strcat": "strcat(a, b, …): the texts joined.",
    "size": "size(x): length of a text or a list.",
    "toLower": "toLower(text): the text in lower case.",
    "min": "min(list): the smallest number of a list.",
    "max": "max(list): the largest number of a list.",
    "floor": "floor(x): the whole number below.",
}
"""Functions of expressions."""
