# ruff: noqa: E501 - one attribute a line reads best as a table
"""Attributes about the software that a program runs with."""

from broker_core.jdl.attributes.attribute import table

SOFTWARE = table(
    "CrossDesk",
    "job",
    """
Modules | string, strings | {} | | Environment modules to load at the site before the program starts, in their order, such as "gcc/14".
Container | string | | | Image in which the program runs: a path at the site, a file of InputSandbox, or an address such as docker://debian:12.
PythonEnvironment | string | | | File of InputSandbox that lists Python packages (requirements.txt, pylock.toml), or a conda environment (.yml). It is built once for each site and content.
""",
)
