# ruff: noqa: E501 - one attribute a line reads best as a table
"""Attributes of CrossBroker descriptions (CB-JDL, section 4.2) and of its earlier form (SA-JDL-01)."""

from broker_core.jdl.attributes.attribute import table

JOB = table(
    "CrossBroker",
    "job",
    """
Type | string | "Job" | Job, DAG, Collection | Kind of request: a job of one or more processes, a graph of jobs, or a collection.
JobType | string, strings | "Normal" | Normal, Parallel | Structure of the job: one CPU, or several at the same time.
Executable | string | | | Program to run. An absolute path is already at the site; a simple name is sent along if it is in InputSandbox, else it must be installed there.
Arguments | string | "" | | All arguments of the program in one string. Words are split as in a shell; nothing is expanded.
StdInput | string | | | File that the program reads as standard input: in InputSandbox, or an absolute path at the site.
StdOutput | string | | | File of the job's directory that takes what the program prints.
StdError | string | | | File of the job's directory that takes its error messages; may be the same as StdOutput.
InputSandbox | string, strings | {} | | Local files to send along, wildcards allowed. Each keeps only its base name, so two may not share one.
OutputSandbox | string, strings | {} | | Files and folders of the job's directory to bring back when it ends, wildcards allowed.
Requirements | expression | true | | Condition that a resource must meet; other.X reads attribute X of the resource. Anything but true refuses it.
Rank | expression | 0.0 | | Number by which suitable resources are ordered; a higher one is better.
InputData | string, strings | {} | | Files in grid storage (lfn: or guid: names) near which the job should run.
ReplicaCatalog | string | | | Address (ldap:// or http://) of the catalogue that knows where the files of InputData are; without one that of the settings is asked.
Environment | string, strings | {} | | Variables for the program, each as NAME=value.
NodeNumber | integer | 1 | | Number of CPUs over all sites; required for a parallel job without SubJobs.
MinNumCPU | integer | 1 | | Earlier name of NodeNumber.
SubJobType | string | | openmpi, mpich, pacx-mpi, mpich-g2, plain | How the processes of a parallel job find each other; selects launcher and starter.
SubJobs | ads | | | Components of a parallel job over several sites, each with its NodeNumber and its own Requirements and Rank.
CollectiveCondition | string | "free-cpus" | | Name of the condition that all computing elements of a job over several must fulfil together; installed packages bring others.
ApplicationLauncher | string | | | Launcher, installed at the broker, for a parallel job of sub-type plain.
JobStarter | string | | | Own starter: runs in place of the program, once the input files are there. It finds program and arguments in CROSSDESK_EXECUTABLE and CROSSDESK_ARGUMENTS.
JobStarterArguments | string | "" | | Arguments of the starter.
Interactive | boolean | false | | True for a job that a person watches and feeds while it runs; it is placed at once or refused.
InteractiveAgent | string | | i2glogin, glogin, bypass, lines | Program that connects the running job with its user.
InteractiveAgentArguments | string | "" | | Arguments of the agent, for instance the address of the user's side.
InteractiveX11 | boolean | false | | True for a program that opens windows: it gets a display, and a desk that is attached shows them.
InteractiveDisplay | string | | | Size of a screen, as in "1024x768", for a program that draws in windows or by OpenGL: it gets one of its own at the node, which the View tab shows, with mouse and keyboard.
Nodes | ad, ads | | | Jobs of a graph or collection.
""",
)

NODES = table(
    "CrossBroker",
    "nodes",
    """
Dependencies | list | {} | | Pairs in which the second node waits for the first; each side is a node or a braced list of nodes.
""",
)

NODE = table(
    "CrossBroker",
    "node",
    """
description | ad | | | The node's job, written in place; either this or file.
file | string | | | Description file of the node's job; either this or description.
node_retry_count | integer | 0 | | How often a failed node is tried again.
app_exit_code | integers | | | Exit codes after which the node is not tried again.
status | word | | done | Mark of a rescue graph: a node that is done does not run again.
node_type | string | "edg_jdl" | edg_jdl | Language of the node's description.
NodeName | string | | | Name of a node in a collection.
""",
)

COMPONENT = table(
    "CrossBroker",
    "component",
    """
NodeNumber | integer | | | CPUs of this component; required.
Requirements | expression | true | | Condition for this component's resource, in addition to the job's own.
Rank | expression | | | Order of resources for this component, instead of the job's own.
""",
)
