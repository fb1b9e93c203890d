"""What was found at a host, and how a site stands, for people."""

from __future__ import annotations

from rich.text import Text

from broker_core.command_line import output, tables, words
from broker_core.wire.resources import AccountView, NodeTypeView, ResourceDetail, gpu_words
from broker_core.wire.site_states import SiteStanding
from broker_core.wire.sites import Detection, SiteSpec, SiteView, SystemFound

LINKS = {
    SiteStanding.CONNECTED: "green",
    SiteStanding.CONNECTING: "yellow",
    SiteStanding.RETRYING: "yellow",
    SiteStanding.NEEDS_CREDENTIALS: "yellow",
    SiteStanding.DRAINED: "yellow",
    SiteStanding.BEING_REMOVED: "yellow",
    SiteStanding.UNUSABLE: "red",
    SiteStanding.DOWN: "red",
}
_KNOWN = {True: "yes", False: "no", None: ""}


def tell_found(found: Detection) -> None:
    """What is at a host."""
    tables.facts(
        [
            ("Host", found.host),
            ("Account", found.user),
            ("Home", found.home),
            *(("Runs jobs by", _system(one)) for one in found.systems),
            ("MPI", ", ".join(found.mpi)),
            ("Python", found.python),
            ("Nodes see the directory", _KNOWN[found.shared]),
            ("Reaches the outside", _KNOWN[found.outbound]),
            ("Modules", f"{len(found.modules)}: {', '.join(found.modules[:8])}" if found.modules else ""),
        ]
    )


def _system(one: SystemFound) -> Text:
    head = f"{one.title} {one.version}".rstrip()
    if one.trouble:
        return Text(output.printable(f"{head}: {one.trouble}"), style="yellow")
    queues = ", ".join(
        f"{queue.name} ({queue.free_cpus} of {queue.total_cpus} CPUs free)" for queue in one.queues
    )
    return Text(output.printable(f"{head}; queues: {queues}" if queues else head))


def standing(view: SiteView, *, short: bool = False) -> Text:
    """State of a site with its reason; `short`: only the first sentence, for a line of a table."""
    link = view.link
    told = link.reason or link.trouble or view.stale or view.throttled
    if short and ". " in told:
        told = told.partition(". ")[0] + "."
    tries = [words.until(link.retry_at)] if link.retry_at is not None else []
    said = "; ".join([output.printable(told), *tries] if told else tries)
    return Text(f"{view.standing} ({said})" if said else view.standing, style=_style(view))


def _style(view: SiteView) -> str:
    style = LINKS[view.standing]
    return "yellow" if (view.stale or view.throttled) and style == "green" else style


def show(view: SiteView) -> None:
    """All that is known of a site as such."""
    spec, link = view.spec, view.link
    tables.facts(
        [
            ("Site", Text(view.name, style="bold")),
            ("Kind", view.title),
            ("State", standing(view)),
            ("Since", words.ago(link.since)),
            ("Heard from", words.ago(link.heard)),
            ("Asks", link.question.text if link.question else ""),
            ("GPUs", gpu_words(view.gpus)),
            ("Jobs there", f"{view.running} running, {view.queued} waiting"),
            ("Last hour", f"{view.per_hour:.0f} job{'' if round(view.per_hour) == 1 else 's'} ended"),
            ("Your jobs", f"{view.done} ended well, {view.failed} failed"),
            *_settings(spec),
        ]
    )


def show_equipment(detail: ResourceDetail) -> None:
    """Nodes by what they have, accounts and qualities of service, as far as they are known."""
    if detail.nodes:
        output.line("")
        heads = ("NODES", "CPUS", "MEMORY", "GPUS", "GPU MODEL", "GPUS FREE", "FEATURES")
        rows = [_nodes(one) for one in detail.nodes]
        tables.table(heads, rows, right=("NODES", "CPUS", "MEMORY", "GPUS", "GPUS FREE"))
    if detail.accounts:
        output.line("")
        accounts = [
            (f"{one.name} (default)" if one.default else one.name, _qos(one), one.limits)
            for one in detail.accounts
        ]
        tables.table(("ACCOUNT", "QOS", "LIMITS"), accounts)
    if detail.qos:
        output.line("")
        tables.table(("QOS", "LIMITS"), [(one.name, one.limits or "none") for one in detail.qos])


def _nodes(one: NodeTypeView) -> tuple[str, ...]:
    return (
        str(one.count),
        str(one.cpus),
        f"{one.memory / 1024:.0f} GiB" if one.memory >= 10_240 else f"{one.memory} MiB" if one.memory else "",
        str(one.gpus or ""),
        one.gpu_model,
        str(one.gpus_free) if one.gpus else "",
        ", ".join(one.features),
    )


def _qos(one: AccountView) -> str:
    return ", ".join(f"{name} (default)" if name == one.default_qos else name for name in one.qos)


def _settings(spec: SiteSpec) -> list[tuple[str, str]]:
    port = f":{spec.port}" if spec.port else ""
    user = f"{spec.user}@" if spec.user else ""
    address = spec.url or (f"{user}{spec.host}{port}" if spec.host else "this machine")
    return [
        ("Address", address + (f" by {spec.jump}" if spec.jump else "")),
        ("Directory", spec.directory),
        ("Cluster", spec.cluster),
        ("Queues", ", ".join(spec.queues)),
        ("Options", " ".join(spec.options)),
        ("Environment", ", ".join(f"{name}={value}" for name, value in spec.environment.items())),
        ("Credential", spec.proxy),
        ("Trusts", spec.trust),
        ("Lease", words.duration(spec.lease) if spec.lease else ""),
        ("Most jobs", str(spec.max_jobs or "")),
        ("Jobs outside", "" if spec.outside else "not shown"),
    ]
