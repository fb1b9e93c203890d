"""What computing elements have and what a user may charge there, as it is shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from broker_core.resources.node_types import NODE_TYPES, NodeType, count_in, node_types
from broker_core.wire.resources import AccountView, GpuCount, LicenseView, NodeTypeView, QosView


def equipment(values: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a `ResourceDetail` by published values under lower-case names."""
    types = node_types(values.get(NODE_TYPES.lower()))
    return {
        "nodes": [NodeTypeView(**asdict(one)) for one in types],
        "gpus": gpu_counts(types),
        "accounts": accounts(values),
        "qos": [
            QosView(name=name, limits=_text(rule, "Limits"))
            for name, rule in _named(values, "qosrules", "QOS", "qoslist").items()
        ],
        "licenses": [
            LicenseView(name=_text(one, "License"), total=count_in(one, "Total"), free=count_in(one, "Free"))
            for one in _records(values.get("licenseuse"))
        ],
    }


def gpu_counts(types: Iterable[NodeType]) -> list[GpuCount]:
    """GPUs of some nodes by model, the most frequent first."""
    found: dict[str, GpuCount] = {}
    for one in types:
        if one.gpus:
            count = found.setdefault(one.gpu_model, GpuCount(model=one.gpu_model, total=0, free=0))
            count.total += one.count * one.gpus
            count.free += one.gpus_free
    return sorted(found.values(), key=lambda count: (-count.total, count.model))


def most_of_each(counts: Iterable[GpuCount]) -> list[GpuCount]:
    """GPUs of a site by those of its queues, which share nodes: the largest figure stands for all."""
    found: dict[str, GpuCount] = {}
    for one in counts:
        known = found.get(one.model)
        if known is None or (one.total, one.free) > (known.total, known.free):
            found[one.model] = one
    return sorted(found.values(), key=lambda count: (-count.total, count.model))


def accounts(values: Mapping[str, Any]) -> list[AccountView]:
    """Accounts of the user with what goes with each."""
    default = values.get("defaultaccount", "")
    rules = _named(values, "accountrules", "Account", "accounts")
    return [
        AccountView(
            name=name,
            default=name == default,
            qos=[one for one in rule.get("QOS", ()) if isinstance(one, str)],
            default_qos=_text(rule, "DefaultQOS"),
            limits=_text(rule, "Limits"),
        )
        for name, rule in rules.items()
    ]


def _named(values: Mapping[str, Any], rules: str, key: str, names: str) -> dict[str, Mapping[str, Any]]:
    """Each name of a list with its record, which may be empty."""
    known = {_text(one, key): one for one in _records(values.get(rules))}
    listed = values.get(names, ())
    plain = listed if isinstance(listed, list | tuple) else ()
    return {name: known.get(name, {}) for name in plain if isinstance(name, str)}


def _records(value: object) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, list | tuple):
        yield from (one for one in value if isinstance(one, Mapping))


def _text(record: Mapping[str, Any], name: str) -> str:
    value = record.get(name, "")
    return value if isinstance(value, str) else ""
