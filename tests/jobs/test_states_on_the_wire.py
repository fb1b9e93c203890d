"""States cross the socket as the words they always were, and are members of enums on both sides."""

from __future__ import annotations

from enum import StrEnum

import pytest
from pydantic import ValidationError

from broker_core.sites.link import LinkState as LinkStateOfSites
from broker_core.wire.interactive import ContactState, SessionContact
from broker_core.wire.resources import SourceView
from broker_core.wire.site_states import (
    DetectionState,
    LinkState,
    QuestionKind,
    SiteStanding,
    SourceCondition,
)
from broker_core.wire.sites import Detection, LinkView, QuestionView, SiteSpec, SiteView

ENUMS = (ContactState, DetectionState, LinkState, QuestionKind, SiteStanding, SourceCondition)


@pytest.mark.parametrize("enum", ENUMS)
def test_a_member_is_found_by_its_word(enum: type[StrEnum]) -> None:
    by_word = {str(member.value): member for member in enum}
    assert all(by_word[member] is member for member in enum)


@pytest.mark.parametrize(
    ("text", "model", "field"),
    [
        ('{"state":"needs credentials"}', LinkView, "state"),
        ('{"id":"1","state":"looking"}', Detection, "state"),
        ('{"id":"1","kind":"trust-host","text":"?"}', QuestionView, "kind"),
        ('{"name":"grid","kind":"ldap","state":"slow"}', SourceView, "state"),
        ('{"job":"j","attempt":1,"state":"there"}', SessionContact, "state"),
    ],
)
def test_the_json_of_a_state_is_its_word(text: str, model: type[LinkView], field: str) -> None:
    made = model.model_validate_json(text)
    assert isinstance(getattr(made, field), StrEnum)
    assert made.model_dump_json(exclude_unset=True) == text
    with pytest.raises(ValidationError, match=field):
        model.model_validate_json(text.replace(f'"{getattr(made, field)}"', '"bogus"'))


def test_the_state_of_a_site_that_is_shown_first_is_what_lies_above() -> None:
    link = LinkView(state=LinkState.CONNECTED, trouble="its disk is full")
    site = SiteView(spec=SiteSpec(name="far", kind="slurm"), title="Slurm", link=link)
    assert site.standing is SiteStanding.UNUSABLE
    for state in LinkState:
        link.state, link.trouble = state, ""
        assert site.standing.value == state.value
    site.spec.drained = True
    assert site.standing is SiteStanding.DRAINED
    site.leaving = True
    assert site.standing is SiteStanding.BEING_REMOVED
    assert LinkState is LinkStateOfSites
