"""The one hierarchy of errors; turned into words at one boundary (API, command line, window)."""

from __future__ import annotations


class CrossDeskError(Exception):
    """Something a user can be told: what happened, where, and what to do next.

    Attributes:
        code: stable word for programs, e.g. `unknown_job`.
        message: what happened, one sentence.
        place: where it happened (a file with line, a job id, a site), or empty.
        remedy: what to do next, one sentence, or empty.
    """

    code = "error"
    status = 500

    def __init__(self, message: str, *, place: str = "", remedy: str = "", code: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.place = place
        self.remedy = remedy
        if code:
            self.code = code

    def __str__(self) -> str:
        where = f"{self.place}: " if self.place else ""
        return f"{where}{self.message}" + (f" {self.remedy}" if self.remedy else "")


class BadRequest(CrossDeskError):
    """The request is not well formed, or asks for what can never be."""

    code = "bad_request"
    status = 400


class DescriptionRefused(BadRequest):
    """A job description was refused; `diagnostics` holds every error (CB-JDL-11)."""

    code = "description_refused"
    status = 422

    def __init__(self, message: str, diagnostics: tuple[object, ...] = (), **more: str) -> None:
        super().__init__(message, **more)
        self.diagnostics = diagnostics


class RequestTooLarge(BadRequest):
    """The request has more bytes than the broker reads."""

    code = "request_too_large"
    status = 413


class RangeNotSatisfiable(BadRequest):
    """The part of a file that was asked for is not in it (yet)."""

    code = "range_not_satisfiable"
    status = 416


class NotAuthorized(CrossDeskError):
    """The caller may not do this; nothing was changed (CB-UAM-04)."""

    code = "not_authorised"
    status = 403


class NotFound(CrossDeskError):
    """The thing named does not exist, or is not the caller's."""

    code = "not_found"
    status = 404


class Conflict(CrossDeskError):
    """The thing exists, but its state does not allow this (CB-LIFE-03)."""

    code = "conflict"
    status = 409


class Busy(CrossDeskError):
    """Too much is asked at once; the same request may be sent again later."""

    code = "busy"
    status = 503


class StorageFull(CrossDeskError):
    """The disk that holds the state has no room (reliability case 6); nothing was accepted."""

    code = "storage_full"
    status = 507


class StoreDamaged(CrossDeskError):
    """A stored record is not what was written (reliability case 5); `place` names the record."""

    code = "store_damaged"


class StateDirectoryTaken(CrossDeskError):
    """Another broker holds the state directory (reliability case 4); `place` names its host and pid."""

    code = "state_directory_taken"
    status = 409


class Unreachable(CrossDeskError):
    """The broker does not answer, or a site."""

    code = "unreachable"
    status = 502


class SiteSilent(Unreachable):
    """A site does not answer, says the broker: to ask that at once again would not help."""

    code = "site_silent"


class VersionsDiffer(CrossDeskError):
    """What the other side says does not fit: one of the two is of an older version of CrossDesk."""

    code = "versions_differ"


class BrokerStopped(Unreachable):
    """The broker said that it was told to stop: it is away on purpose, and is not to be started unasked."""

    code = "broker_stopped"
