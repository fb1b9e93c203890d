"""Attributes that brokers and computing elements set; users read them and need not write them."""

from broker_core.jdl.attributes.attribute import table

SYSTEM = table(
    "gLite",
    "system",
    """
edg_jobid | string | | | Identifier of the job.
edg_dagid | string | | | Identifier of the graph that the job belongs to.
ce_id | string | | | Computing element that was chosen.
CE_Rank | real | | | Rank of the chosen computing element.
CeMatch | expression | | | Result of the match.
Ces | list | | | Computing elements that matched.
CertificateSubject | string | | | Name in the owner's certificate.
LB_sequence_code | string | | | Place of the job's last event in the bookkeeping.
lrms_type | string | | | Batch system of the chosen computing element.
GlobusResourceContactString | string | | | Address of the chosen gatekeeper.
JDL_Original | string | | | Description as the user wrote it.
Delegation_ID | string | | | Name of the delegated credential.
WMPInputSandboxBaseURI | string | | | Where the broker keeps the input sandbox.
InputSandboxPath | string | | | Folder of the input sandbox at the broker.
OutputSandboxPath | string | | | Folder of the output sandbox at the broker.
X509UserProxy | string | | | File of the owner's credential.
VOMS_FQAN | string | | | Group and role of the owner.
PerusalListFileURI | string | | | List of the files that may be read while the job runs.
ZippedISB | string, strings | | | Packed input sandbox.
edg_previous_matches | list | | | Computing elements that were tried before.
ReallyRunningToken | string | | | File that shows that the program has started.
ReplansCount | integer | | | How often the job was placed anew.
DefaultNodeRetryCount | integer | | | Retries of nodes that give no number.
DefaultNodeShallowRetryCount | integer | | | Retries, before the start, of nodes that give no number.
CeApplicationDir | string | | | Software folder of the chosen computing element.
CeRequirements | expression | | | Condition handed to the computing element.
CEInfoHostName | string | | | Host of the chosen computing element.
CreationTime | integer, real | | | When the job was created, in seconds since 1970.
ValidityTime | integer, real | | | How long its credential is valid.
JobStatus | integer, string | | | State of the job.
AbortedReason | string | | | Why it was aborted.
MatchStatus | string | | | Result of matching.
CancelStatus | string | | | Result of a cancel.
FailureReason | string | | | Why it failed.
TransferStatus | string | | | Result of a transfer.
SandboxFile | string, strings | | | A file of the sandbox.
ExitCode | integer | | | Exit code of the program.
glite_wl_ui_DagNodeName | string | | | Name of the node in its graph.
grid_resource | string | | | Address of the resource for the submission engine.
grid_type | string | | | Kind of that resource.
nordugrid_rsl | string | | | Additional terms for a NorduGrid resource.
""",
)
