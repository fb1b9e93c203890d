"""One stable code for every kind of diagnostic (CB-JDL-11); programs may rely on them."""

from __future__ import annotations

_TABLE = """
address-form: An address has no protocol.
argument-in-folder: Arguments names a file by its folder here, without which it is sent along.
argument-count: A function is given too few or too many arguments.
arguments-unbalanced: Arguments has a quote or backslash without its partner.
attribute-without: An attribute has no meaning without another one.
attributes-exclude: Two attributes cannot be given together.
back-quote: A string holds a back-quote.
bad-encoding: The text is not Unicode.
batch-option: A word for the batch system is not passed on.
bits-not-conditions: `&` or `|` stands between two conditions.
comma-not-semicolon: A `;` stands between the items of a list.
catalogue-not-asked: A catalogue that the description names is not asked.
collective-condition-not-asked: The condition on a set is not asked of a job with SubJobs.
collective-condition-unknown: The broker has no condition on sets of this name.
commas-in-name: A file name of a sandbox looks like several.
contact-form: A mail address is none.
container-image: Container names no image, or one that is not sent.
control-character: A file name holds a line break or control character.
count-too-small: A number is below the smallest that makes sense.
counts-differ: Attributes for the number of CPUs contradict each other.
cpus-make-parallel: A job with several CPUs is taken as a parallel one.
cream-ignores: An attribute is given that CREAM does not look at.
cream-needs: Something is missing that CREAM needs.
cream-one-job: CREAM is given something other than one plain job.
curly-quotes: A string stands in typographic quotes.
cycle: A graph of jobs has a cycle.
data-access-cost: Rank by the cost of data access cannot be computed.
data-ad: An ad about data lacks something.
data-not-sent: Files in grid storage are not sent along.
dependency: A dependency is not a pair of known nodes.
display-size: InteractiveDisplay is no size of a screen.
double-equals: `==` stands where an attribute gets its value.
duplicate-attribute: An attribute is given twice.
duplicate-node: Two nodes have the same name.
duplicate-sandbox-name: Two input files have the same base name, or an output is listed twice.
empty-name: A path names no file.
empty: No attribute is given.
environment-format: An item of Environment is not NAME=value.
environment-twice: A variable is set twice.
executable-not-sent: The program is not in the input sandbox.
executable-path: The program is neither at the site nor in the input sandbox.
executable-wildcard: The program is given with wildcards.
expected-equals: An attribute's name is not followed by `=`.
expected-name: A name is missing.
expected-value: A value is missing.
extra-comma: A comma is too many in a list.
foreign-sign: A sign of printed text or another language stands for one of this language.
gpu-number-implied: A model of GPUs is named without their number.
hook-of-processes: A prologue or epilogue is given for a program that is started many times.
input-data-form: A file in grid storage has no name that its catalogue knows.
interactive-implied: An agent is given, so the job counts as interactive.
interactive-workflow: A workflow or its node is interactive.
items-differ: Two lists that belong together do not fit.
job-type-deprecated: Checkpointable and partitionable jobs are no longer run.
job-type-mapped: A job type of another dialect is carried over.
launcher-not-plain: ApplicationLauncher is given for another sub-type than plain.
leading-dash: A file name begins with a dash.
line-continuation: A line ends with a backslash.
list-brackets: A list stands in brackets of another kind.
list-compared: A list is compared as if it were one value.
listener-not-interactive: ListenerPort is given for a job that is not interactive.
missing-comma: A comma is missing in a list.
missing-executable: The program is missing.
missing-node-number: The number of CPUs of a parallel job is missing.
missing-nodes: The nodes of a graph are missing.
missing-other: An attribute of the resource is read without `other.`.
missing-parameters: The values of a parametric job are missing.
missing-semicolon: A statement is not ended.
missing-sub-job-type: The sub-type of a parallel job is missing.
misspelt-attribute: An unknown attribute is nearly a known one.
misspelt-resource-attribute: An unknown attribute of resources is nearly a known one.
more-hosts-than-cpus: More hosts than CPUs are asked for.
name-too-long: A file name is longer than file systems allow.
nested-workflow: A node is a graph or collection itself.
module-name: Modules holds what is no name of a module.
no-interpreter-line: A script has no first line that says what runs it.
node-count: A graph has no node, or too many.
node-description: A node has not exactly one of description and file.
node-file-alone: A node with a file has attributes besides.
node-not-ad: A node is not an ad.
normal-with-nodes: A Normal job asks for several CPUs.
not-carried-out: An attribute is understood, but nothing is done about it.
not-for-nodes: An attribute of a graph or collection is not one that its nodes have from it.
not-text: The text holds control characters.
nul-in-string: A string holds the character 0.
number-too-big: A whole number has more than 64 bits.
one-node: What counts for each node keeps a job on one.
parallel-implied: SubJobType is given, so the job counts as parallel.
parameter-not-here: An attribute that is the same for all jobs of a sweep holds its parameter.
parameters-format: The values of a parametric job cannot be understood.
parametric-node: A node is a sweep.
path-escapes: A file lies outside the job's directory.
protocol-missing: Data is named without a protocol to read it by.
python-environment: PythonEnvironment names no list of packages, or one that is not sent.
quoted-expression: An expression is written as a string.
rank-sign: Rank prefers long waits.
resource-name: An account, feature or the like has no name.
root-reference: `root.` names nothing that the whole description has.
sandbox-file-missing: A file of the input sandbox does not exist.
sandbox-file-unreadable: A file of the input sandbox cannot be read.
sandbox-too-big: The input sandbox is larger than allowed.
scalar-as-list: A single value is used as if it were a list.
semicolon-not-comma: A statement is ended by a comma.
shell-sign: Arguments holds a sign that only a shell would understand.
single-equals: `=` stands where `==` is meant.
single-quotes: A text in an expression stands in single quotes.
starter-over-sites: A starter of the user is given for a job whose processes the broker's launcher starts.
stdin-not-in-sandbox: The standard input is not sent along.
stream-names-clash: StdOutput and StdError have one name in two folders.
stream-wildcard: A standard stream is given with wildcards.
sub-job-attribute: A component has an attribute that only the whole job can have.
sub-job-node-number: A component has no number of CPUs.
sub-jobs-count: There is no component, or there are too many.
sub-jobs-need-launcher: Components of a plain job need a launcher.
sub-jobs-of-normal: A job with components is not parallel.
sub-jobs-one-cluster: Components are given for a library that runs on one cluster.
sub-jobs-sum: The components do not add up to the number of CPUs.
sub-type-of-normal: A Normal job has a sub-type.
submit-to-form: SubmitTo names no computing element.
tag-form: A tag in UserTags cannot be one.
text-after-end: Something follows the end of the description.
too-deep: Brackets are nested too deeply.
too-large: The text is larger than allowed.
too-long-list: A list has too many items.
too-many-errors: Only the first errors are listed.
too-much-inherited: The nodes of a graph have too much from the whole.
trailing-comma: A comma has nothing behind it.
unclosed: A bracket is never closed.
unexpected: Something stands where it cannot.
unknown-attribute: An attribute is not known, and no expression reads it.
unknown-batch-system: BatchSystem names none that is known.
unknown-function: A function is not known.
unknown-job-type: JobType is not known.
unknown-sub-job-type: SubJobType is not known.
unknown-type: Type is not known.
unquoted-value: A value should stand in quotes.
unterminated-comment: A comment has no end.
unterminated-string: A string has no end.
wall-time-format: A wall time cannot be understood.
wall-times-differ: Two wall times contradict each other.
word-operator: A word stands where an operator is meant.
wrong-type: An attribute has a value of the wrong type.
"""

CODES: dict[str, str] = dict(line.split(": ", 1) for line in _TABLE.strip().splitlines())
"""Code to its meaning in one sentence."""
