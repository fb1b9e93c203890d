"""The states of sites, sources and looks at hosts, as they cross the socket; all compare these members.

Their hashes are those of their values, so that a table by values finds a member too.
"""

from __future__ import annotations

from enum import StrEnum


class LinkState(StrEnum):
    """How a site is connected. Draining is no state of the link, but of the site's settings."""

    CONNECTING = "connecting"
    """The first try is under way."""
    CONNECTED = "connected"
    """The last exchange went well."""
    RETRYING = "retrying"
    """Lost or never had; the next try comes at `Link.retry_at`."""
    NEEDS_CREDENTIALS = "needs credentials"
    """Nothing is tried before `Link.question` is answered."""
    DOWN = "down"
    """Refused for good or silent for long; tried again rarely, or when the user asks."""

    __hash__ = str.__hash__


class SiteStanding(StrEnum):
    """How a site stands, in the one word that is shown first: its link's, unless something else is above."""

    CONNECTING = "connecting"
    CONNECTED = "connected"
    RETRYING = "retrying"
    NEEDS_CREDENTIALS = "needs credentials"
    DOWN = "down"
    UNUSABLE = "unusable"
    """It answers in vain."""
    DRAINED = "drained"
    """No new jobs are sent."""
    BEING_REMOVED = "being removed"
    """Its jobs are ended, and what lies there is taken away."""

    __hash__ = str.__hash__


class QuestionKind(StrEnum):
    """What only the user can answer before a connection is made."""

    TRUST_HOST = "trust-host"
    """Whether a host's key is the right one; it was never seen before."""
    CHANGED_HOST = "changed-host"
    """The same of a host whose key was another one."""
    PASSPHRASE = "passphrase"
    """Of a private key."""
    PASSWORD = "password"
    """Of the account."""
    CODE = "code"
    """Good for one login."""
    PROXY = "proxy"
    """A credential that has to be made outside."""

    __hash__ = str.__hash__


class DetectionState(StrEnum):
    """How far a look at a host is."""

    LOOKING = "looking"
    """It goes on."""
    QUESTION = "question"
    """It waits for an answer of the user."""
    FOUND = "found"
    """It is over, and says what is there."""
    FAILED = "failed"
    """It is over in vain; the reason says why."""

    __hash__ = str.__hash__

    @property
    def is_over(self) -> bool:
        """It says nothing more."""
        return self in (DetectionState.FOUND, DetectionState.FAILED)


class SourceCondition(StrEnum):
    """How a source of resources does."""

    OK = "ok"
    """It answered well the last time, or was not asked yet."""
    ASKING = "asking"
    """It is being asked."""
    SLOW = "slow"
    """It is, and has not answered for long."""
    FAILED = "failed"
    """It did not answer the last time, or not well."""
    DISABLED = "disabled"
    """It is never asked."""

    __hash__ = str.__hash__
