"""The condition on all computing elements of a job together (SA-SEL-05)."""

from __future__ import annotations

from broker_core.jdl.reading import Reading

_KEY = "collectivecondition"


def check(reading: Reading) -> None:
    """Complain about a condition that the broker does not have, or that is not asked."""
    if not reading.has(_KEY):
        return
    name, known = reading.string(_KEY), reading.limits.collective_conditions
    if known is not None and name not in known:
        message = f"There is no collective condition {name!r} here. Use {', '.join(known)}."
        reading.error("collective-condition-unknown", message, _KEY, reading.node(_KEY))
    if reading.has("subjobs"):
        message = (
            "CollectiveCondition is not asked of a job with SubJobs: these say what each place must have."
        )
        reading.warning("collective-condition-not-asked", message, _KEY, reading.node(_KEY))
