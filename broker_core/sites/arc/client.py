"""The HTTPS client with the user's credential, made anew when the credential's files change."""

from __future__ import annotations

import os
import secrets
import ssl
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from broker_core.errors import NotFound
from broker_core.sites.arc.connector import CredentialNeeded
from broker_core.sites.arc.credential import (
    Credential,
    NoCredential,
    check_life,
    find_credential,
    stamp_of,
)
from broker_core.sites.link import Link, Question, QuestionKind
from broker_core.wire.sites import SiteSpec

USUAL = Path("/etc/grid-security/certificates")
"""Where grid hosts keep the authorities that they trust."""
_IDLE = 15.0
"""Seconds that an unused connection is kept; A-REX closes them some time later itself."""


class WrongPassphrase(Exception):
    """The private key does not open with this passphrase."""


def trusted(named: str, environment: Mapping[str, str]) -> Path | None:
    """Directory or file with the authorities to trust; None: those that this machine trusts."""
    if chosen := named or environment.get("X509_CERT_DIR", ""):
        return Path(chosen).expanduser()
    return USUAL if USUAL.is_dir() else None


def context(credential: Credential, passphrase: str, trust: Path | None) -> ssl.SSLContext:
    """TLS settings that verify the host's name and authority.

    Raises WrongPassphrase, and NoCredential where the files do not fit together.
    """
    found = _verifying(trust)
    try:
        # The callable keeps OpenSSL from asking on a terminal.
        found.load_cert_chain(credential.certificate, credential.key, password=lambda: passphrase)
    except (ssl.SSLError, ValueError, OSError) as error:
        if credential.encrypted:
            raise WrongPassphrase from error
        raise NoCredential(
            "Certificate and private key do not belong together.",
            place=str(credential.certificate),
            remedy="Name the file of a proxy, or a certificate with its own key.",
        ) from error
    return found


def _verifying(trust: Path | None) -> ssl.SSLContext:
    """As `verifying`, for the authorities of a site; raises NoCredential."""
    try:
        if trust is not None and trust.is_dir():
            return verifying(capath=str(trust))
        return verifying(cafile=None if trust is None else str(trust))
    except (ssl.SSLError, OSError) as error:
        raise NoCredential(
            "The trusted authorities cannot be read.",
            place=str(trust),
            remedy="Name a directory or file of certificates in PEM form.",
        ) from error


def verifying(*, cafile: str | None = None, capath: str | None = None) -> ssl.SSLContext:
    """TLS settings that verify as OpenSSL's own programs do; without authorities, by those of the system.

    Python 3.13 asks more of the form of certificates, such as a key identifier of the authority, which those
    of grid authorities often lack.
    """
    found = ssl.create_default_context(cafile=cafile, capath=capath)
    found.verify_flags &= ~ssl.VerifyFlags.VERIFY_X509_STRICT
    return found


@dataclass(slots=True)
class _Client:
    """One HTTP client, and who uses it now."""

    http: httpx.AsyncClient
    credential: Credential
    users: int = 0
    retired: bool = False


class ArcClient:
    """Knows who the user is at the site."""

    def __init__(self, spec: SiteSpec, link: Link) -> None:
        self._environment: Mapping[str, str] = {**os.environ, **spec.environment}
        self.named = spec.proxy
        """File of the credential; empty: found by itself."""
        self._link = link
        self._trust = trusted(spec.trust, self._environment)
        self._most = spec.at_once
        self._client: _Client | None = None
        self._passphrase: str | None = None
        self._question: Question | None = None
        self._answered = False
        self.subject = ""
        """Who the site sees, as far as it is known."""

    def __repr__(self) -> str:
        return f"Channel({self.subject!r})"

    def answer(self, id: str, value: str) -> None:
        """Take the user's answer to the open question; empty: declined, the question stays.

        Raises NotFound for another question.
        """
        question = self._question
        if question is None or question.id != id:
            raise NotFound("This question is not open, or not any more.", place=id)
        if not value:
            return
        if question.kind is QuestionKind.PASSPHRASE:
            self._passphrase = value
        elif value != "yes":
            self.named = value
        self._question = None
        self._answered = True

    @asynccontextmanager
    async def client(self) -> AsyncIterator[httpx.AsyncClient]:
        """The client to use for one request; raises CredentialNeeded."""
        current = await self._current()
        current.users += 1
        try:
            yield current.http
        finally:
            current.users -= 1
            await _close_unused(current)

    async def renew(self, made: _Client | None = None) -> None:
        """Give all connections up: the next request makes new ones."""
        old, self._client = self._client, made
        if old is not None:
            old.retired = True
            await _close_unused(old)

    async def _current(self) -> _Client:
        found = self._client
        try:
            if found is not None and not self._answered and _is_unchanged(found.credential):
                check_life(found.credential, time.time())
                return found
            self._answered = False
            made = self._made()
        except NoCredential as error:
            words = f"{error} Or give the path of another file."
            raise CredentialNeeded(
                error.message, self._ask(QuestionKind.PROXY, words), place=error.place, remedy=error.remedy
            ) from error
        self._question = None
        self._link.opened_until(made.credential.until)
        await self.renew(made)
        return made

    def _made(self) -> _Client:
        credential = find_credential(self.named, self._environment)
        self.subject = credential.subject
        check_life(credential, time.time())
        words = f"Passphrase of the private key {credential.key}"
        if credential.encrypted and self._passphrase is None:
            raise self._passphrase_needed(credential, words)
        try:
            settings = context(credential, self._passphrase or "", self._trust)
        except WrongPassphrase as error:
            self._passphrase = None
            raise self._passphrase_needed(credential, f"{words} (the last one was not right)") from error
        limits = httpx.Limits(
            max_connections=self._most, max_keepalive_connections=self._most, keepalive_expiry=_IDLE
        )
        return _Client(httpx.AsyncClient(verify=settings, limits=limits, trust_env=False), credential)

    def _passphrase_needed(self, credential: Credential, words: str) -> CredentialNeeded:
        return CredentialNeeded(
            f"The private key {credential.key} is protected by a passphrase.",
            self._ask(QuestionKind.PASSPHRASE, words, secret=True, keep_as=f"x509:{credential.key}"),
        )

    def _ask(self, kind: QuestionKind, words: str, *, secret: bool = False, keep_as: str = "") -> Question:
        """The question with these words; the same one as long as it stands."""
        asked = self._question
        if asked is None or (asked.kind, asked.text) != (kind, words):
            asked = self._question = Question(secrets.token_hex(4), kind, words, secret, keep_as)
        return asked


async def _close_unused(client: _Client) -> None:
    if client.retired and not client.users:
        await client.http.aclose()


def _is_unchanged(credential: Credential) -> bool:
    try:
        return stamp_of(credential.certificate, credential.key) == credential.stamp
    except OSError:
        return False
