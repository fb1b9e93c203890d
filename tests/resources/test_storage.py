"""Storage elements are known as those who were heard last describe them."""

from __future__ import annotations

from typing import Any

from broker_core.resources.cache import ResourceCache
from broker_core.resources.facts import SourceHeard


def said(source: str, storage: dict[str, Any], **more: Any) -> SourceHeard:
    return SourceHeard(source, 0.0, 0.0, (), **{"complete": True, "storage": storage, **more})


def test_what_a_complete_answer_does_not_name_has_gone_and_what_is_silent_stays() -> None:
    cache = ResourceCache()
    known = cache.storage.known
    cache.report(said("grid", {"se1": {"GlueSEStatus": "a"}, "se2": {}}))
    cache.report(said("grid", {"se1": {"GlueSEStatus": "b"}}, silent=("site2",)))
    assert known == {"se1": {"GlueSEStatus": "b"}, "se2": {}}
    cache.report(said("grid", {"se1": {"GlueSEStatus": "b"}}))
    assert known == {"se1": {"GlueSEStatus": "b"}}


def test_sources_add_to_each_other_and_only_news_counts_as_a_change() -> None:
    cache = ResourceCache()
    cache.report(said("one", {"se1": {}}))
    cache.report(said("two", {"se2": {}}))
    assert set(cache.storage.known) == {"se1", "se2"}
    before = cache.board.facts
    cache.report(said("two", {"se2": {}}))
    assert cache.board.facts == before
    cache.report(said("two", {"se2": {"GlueSEStatus": "Draining"}}))
    assert cache.board.facts > before
