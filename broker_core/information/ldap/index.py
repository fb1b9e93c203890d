"""The two-level question to an information system: the index, then each site directly (CB-UPD-02).

Blocks; runs in a worker process. The index says which information services answer for which computing
elements; all are asked at the same time, and one that is silent leaves only its own elements unheard.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field

from broker_core.information.glue.entries import Entries
from broker_core.information.glue.join import joined
from broker_core.information.glue.join_storage import StorageElements, storage_elements
from broker_core.information.glue.plausible import TWICE
from broker_core.information.glue.refusals import Refusals
from broker_core.information.ldap.address import LdapAddress, address_of
from broker_core.information.ldap.names import DETAILS, FILTERS, LINKS, LISTED, SCHEMAS
from broker_core.information.ldap.search import LdapSearch
from broker_core.information.ldap.services import InformationService, Listing, listing
from broker_core.information.updater import SourceFailed
from broker_core.resources.facts import Facts

AT_ONCE = 64
"""Services that are asked at the same time."""
MARGIN = 0.8
"""Share of the deadline after which services that have not answered are called silent."""
Emit = Callable[[Sequence[Facts]], None]


@dataclass(frozen=True, slots=True)
class IndexQuery:
    """What is asked of which index."""

    address: str
    schemas: tuple[str, ...] = SCHEMAS
    levels: int = 2
    """2: ask the services that the index names; 1: believe the index."""
    patience: float = 10.0
    """Seconds for each connection and each piece of an answer."""
    deadline: float = 60.0
    """Seconds for everything."""
    ca_file: str = ""


@dataclass(slots=True)
class IndexOutcome:
    """What is known at the end, besides the facts."""

    complete: bool = True
    silent: list[str] = field(default_factory=list)
    remarks: Refusals = field(default_factory=Refusals)
    storage: StorageElements = field(default_factory=dict)


def ask(question: IndexQuery, emit: Emit) -> IndexOutcome:
    """Ask an index and its services; facts are emitted as soon as a part has answered.

    Raises SourceFailed if the index itself does not answer.
    """
    end = time.monotonic() + question.deadline * MARGIN
    index, outcome = address_of(question.address), IndexOutcome()
    if question.levels == 1:
        alone = InformationService(index.server)
        emit(_taken(alone, _details(alone, question), outcome, {}, set()))
        return outcome
    listed = _listed(index, question, outcome)
    owners = {ce: service for service in listed.services for ce in service.elements}
    seen: set[str] = set()
    for service, heard in _answers(listed, index, question, end):
        if isinstance(heard, SourceFailed):
            _missed(service, heard, listed, outcome)
        else:
            emit(_taken(service, heard, outcome, owners, seen))
    return outcome


@dataclass(frozen=True, slots=True)
class _Heard:
    entries: Entries
    complete: bool


def _listed(index: LdapAddress, question: IndexQuery, outcome: IndexOutcome) -> Listing:
    """What the index lists, from its short answer."""
    entries = Entries()
    with LdapSearch(index, question.patience, question.ca_file) as search:
        for schema in question.schemas:
            base = InformationService(index.server).base(schema)
            for name, values in search.entries(base, LISTED[schema], LINKS[schema]):
                entries.add(name, values)
    found = listing(entries, index)
    _note(_Heard(entries, search.complete), outcome)
    return found


def _details(service: InformationService, question: IndexQuery) -> _Heard:
    """Everything that one service tells; raises SourceFailed."""
    entries = Entries()
    with LdapSearch(address_of(service.server), question.patience, question.ca_file) as search:
        for schema in question.schemas:
            for name, values in search.entries(service.base(schema), FILTERS[schema], DETAILS[schema]):
                entries.add(name, values)
    return _Heard(entries, search.complete)


def _answers(
    listed: Listing, index: LdapAddress, question: IndexQuery, end: float
) -> Iterator[tuple[InformationService, _Heard | SourceFailed]]:
    """What each service said, in the order in which they answer; then those that did not in time."""
    wanted = list(listed.services)
    if listed.alone:
        wanted.append(InformationService(index.server, elements=listed.alone))
    if not wanted:
        return
    pool = ThreadPoolExecutor(min(AT_ONCE, len(wanted)))
    asked: Mapping[Future[_Heard], InformationService] = {
        pool.submit(_details, service, question): service for service in wanted
    }
    left = set(asked)
    try:
        for future in as_completed(asked, max(0.0, end - time.monotonic())):
            left.discard(future)
            yield asked[future], _result(future)
    except TimeoutError:
        late = SourceFailed(f"No answer within {question.deadline * MARGIN:g} s")
        for future in left:
            yield asked[future], late
    finally:
        # Threads that still wait end with the process, or with their own patience.
        pool.shutdown(wait=False, cancel_futures=True)


def _result(future: Future[_Heard]) -> _Heard | SourceFailed:
    try:
        return future.result()
    except SourceFailed as failed:
        return failed


def _missed(
    service: InformationService, failed: SourceFailed, listed: Listing, outcome: IndexOutcome
) -> None:
    """Others were heard: what this one would have said is as it was, and its elements alone grow old."""
    if not listed.services:
        raise failed
    if not service.addresses:  # the index itself, after its list
        outcome.complete = False
    outcome.silent.extend(sorted(service.sites - set(outcome.silent)))
    outcome.remarks.note(service.server, f"not heard: {failed.message.rstrip('.')}")


def _taken(
    service: InformationService,
    heard: _Heard,
    outcome: IndexOutcome,
    owners: Mapping[str, InformationService],
    seen: set[str],
) -> list[Facts]:
    """The facts of one answer; a service speaks only for elements that no other one answers for."""
    kept = []
    for one in joined(heard.entries):
        owner = owners.get(one.ce, service)
        if owner is not service:
            _note_foreign(one.ce, service, owner, heard.entries.remarks)
        elif one.ce in seen:
            heard.entries.remarks.add(one.ce, TWICE)
        else:
            kept.append(one)
            seen.add(one.ce)
    outcome.storage |= storage_elements(heard.entries)
    _note(heard, outcome)
    return kept


def _note_foreign(ce: str, service: InformationService, owner: InformationService, remarks: Refusals) -> None:
    """The index itself, and another part of the same server, may well tell of it; another server may not."""
    if service.addresses and service.server != owner.server:
        remarks.add(ce, f"entry of {service.server} refused: {owner.server} answers for it")


def _note(heard: _Heard, outcome: IndexOutcome) -> None:
    outcome.complete = outcome.complete and heard.complete
    outcome.remarks.take(heard.entries.remarks)
