"""The first words of commands; light, since the start of the desktop asks for them too."""

from __future__ import annotations

NOUNS = (
    "job",
    "site",
    "policy",
    "replica",
    "jdl",
    "broker",
    "desk",
    "sample",
    "sim",
    "queue",
    "slots",
    "config",
)
"""First words that belong to the command line; `packaging/run.sh` has the same."""
