"""What goes wrong between us and A-REX, in words."""

from __future__ import annotations

import ssl

import httpx

from broker_core.sites.arc.connector import ArcRefused, CredentialNeeded
from broker_core.sites.transport.contract import LinkLost

_WAITING = (ssl.SSLWantReadError, ssl.SSLWantWriteError)
_ALERTS = ("CERTIFICATE", "UNKNOWN_CA", "ACCESS_DENIED", "DECRYPT_ERROR")
"""Words in TLS alerts by which a server refuses our certificate."""


def translated(error: Exception, host: str, subject: str) -> LinkLost:
    """The error of a request as one of the link."""
    if isinstance(error, TimeoutError | httpx.TimeoutException):
        return LinkLost(f"{host} did not answer in time.")
    inner = _tls(error)
    if isinstance(inner, ssl.SSLCertVerificationError):
        return ArcRefused(
            f"{host} is not who it claims to be: {inner.verify_message}.",
            remedy="Name the directory or file of the site's authority as its trusted authorities.",
        )
    if isinstance(inner, ssl.SSLError):
        words = (inner.reason or str(inner)).upper()
        if "ALERT" in words and any(alert in words for alert in _ALERTS):
            return CredentialNeeded(
                f"{host} refuses the certificate of {subject}: {_plain(inner)}.",
                remedy="Make a new proxy, and ask the site whether it accepts your authority.",
            )
        return LinkLost(f"No TLS connection to {host}: {_plain(inner)}.")
    if isinstance(error, httpx.RemoteProtocolError | httpx.ReadError | httpx.WriteError):
        return LinkLost(
            f"{host} closed the connection without an answer.",
            remedy="If this stays, the site does not accept your certificate.",
        )
    if isinstance(error, httpx.ConnectError):
        return LinkLost(f"{host} cannot be reached: {_system(error)}.")
    return LinkLost(f"The connection to {host} broke: {str(error) or type(error).__name__}.")


def not_admitted(host: str, subject: str, reason: str) -> ArcRefused:
    """The site knows who we are, and says no."""
    return ArcRefused(
        f"{host} does not admit {subject}: {reason}.",
        remedy="Ask the site to admit this subject, or make a proxy with the attributes that it wants.",
    )


def _tls(error: BaseException | None) -> ssl.SSLError | None:
    while error is not None:
        # The "want" errors are how a connection that waits looks from below.
        if isinstance(error, ssl.SSLError) and not isinstance(error, _WAITING):
            return error
        error = error.__cause__ or error.__context__
    return None


def _system(error: BaseException) -> str:
    """The operating system's words, which lie below those of the libraries."""
    found, below = str(error), error.__cause__ or error.__context__
    while below is not None:
        if isinstance(below, OSError) and below.strerror:
            found = below.strerror
        below = below.__cause__ or below.__context__
    return found or "no connection"


def _plain(error: ssl.SSLError) -> str:
    return (error.reason or str(error)).replace("_", " ").lower()
