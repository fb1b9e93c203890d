"""All entries of an answer to facts: both vocabularies, one record for each computing element."""

from __future__ import annotations

from broker_core.information.glue.entries import Entries
from broker_core.information.glue.join_glue1 import Elements
from broker_core.information.glue.join_glue2 import GlueShares
from broker_core.information.glue.plausible import plausible
from broker_core.information.glue.static_names import STATIC
from broker_core.resources.facts import Facts


def joined(entries: Entries) -> list[Facts]:
    """Facts of all computing elements; what is refused is noted in the remarks of `entries`."""
    older = plausible(Elements(entries).facts(), entries.remarks)
    newer = plausible(GlueShares(entries, older).facts(), entries.remarks)
    both = {one.ce: one for one in newer}
    for one in older:
        other = both.get(one.ce)
        both[one.ce] = (
            one if other is None else Facts(one.ce, one.site, {**other.attributes, **one.attributes})
        )
    return [Facts(one.ce, one.site, one.attributes, STATIC) for one in both.values()]
