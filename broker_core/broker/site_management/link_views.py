"""Connections, and what they ask of the user, as they are shown."""

from __future__ import annotations

from broker_core.sites.link import Link, Question
from broker_core.wire.sites import LinkView, QuestionView


def link_view(link: Link) -> LinkView:
    """A connection as it is shown."""
    return LinkView(
        state=link.state,
        since=link.since,
        reason=link.reason,
        retry_at=link.retry_at,
        heard=link.heard,
        question=question_view(link.question),
        trouble=link.trouble,
        credential_until=link.credential_until,
    )


def question_view(question: Question | None) -> QuestionView | None:
    """A question as it is asked."""
    if question is None:
        return None
    return QuestionView(
        id=question.id,
        kind=question.kind,
        text=question.text,
        secret=question.secret,
        keep_as=question.keep_as,
    )
