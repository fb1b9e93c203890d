"""The user's X.509 credential: a proxy, or a certificate with its key, found where grid tools keep it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509

from broker_core.errors import CrossDeskError

_ENCRYPTED = (b"-----BEGIN ENCRYPTED PRIVATE KEY-----", b"Proc-Type: 4,ENCRYPTED")
_KEY = b"PRIVATE KEY-----"
_PROXY_INFO = x509.ObjectIdentifier("1.3.6.1.5.5.7.1.14")
_OLD = ("proxy", "limited proxy")
"""How proxies from before RFC 3820 are called."""
_RENEW = "Make a new one, e.g. with `arcproxy` or `voms-proxy-init`; it is then used by itself."


class NoCredential(CrossDeskError):
    """There is no credential that can be used; the text says which files were looked at, and what to do."""

    code = "no_credential"
    status = 502


@dataclass(frozen=True, slots=True)
class Credential:
    """Where certificate and key are, and until when they are good."""

    certificate: Path
    """PEM: the certificate and, of a proxy, the chain behind it."""
    key: Path
    encrypted: bool
    """The key can be used with its passphrase only."""
    subject: str
    """Of the person, as grid software writes it: `/DC=org/DC=example/CN=alice`."""
    until: float
    """Seconds since the epoch: when the first certificate of the chain expires."""
    stamp: tuple[tuple[int, int, int], ...]
    """Changes when a file is replaced."""


def find_credential(named: str, environment: Mapping[str, str]) -> Credential:
    """The credential to use: `named` if that is not empty, else the first of the usual places.

    Raises NoCredential where there is none, or the first that is there is of no use.
    """
    for certificate, key in _places(named, environment):
        if certificate.is_file():
            return _read(certificate, key)
    places = ", ".join(dict.fromkeys(str(place) for place, _ in _places(named, environment)))
    raise NoCredential(f"There is no X.509 credential in {places}.", remedy=_RENEW)


def stamp_of(*files: Path) -> tuple[tuple[int, int, int], ...]:
    """What changes when one of the files is replaced; raises OSError."""
    found = [os.stat(file) for file in files]
    return tuple((one.st_ino, one.st_mtime_ns, one.st_size) for one in found)


def check_life(credential: Credential, now: float) -> None:
    """Raise NoCredential for one that has expired."""
    if credential.until <= now:
        raise NoCredential(
            f"The credential of {credential.subject} in {credential.certificate} has expired.", remedy=_RENEW
        )


def _places(named: str, environment: Mapping[str, str]) -> Iterator[tuple[Path, Path]]:
    if named:
        given = Path(named).expanduser()
        yield given, given
        return
    proxy = Path(environment.get("X509_USER_PROXY") or f"/tmp/x509up_u{os.getuid()}")  # noqa: S108 - the custom
    yield proxy, proxy
    folder = Path(environment.get("HOME") or "~").expanduser() / ".globus"
    certificate = environment.get("X509_USER_CERT") or folder / "usercert.pem"
    yield Path(certificate), Path(environment.get("X509_USER_KEY") or folder / "userkey.pem")


def _read(certificate: Path, key: Path) -> Credential:
    try:
        stamp = stamp_of(certificate, key)
        chain = x509.load_pem_x509_certificates(certificate.read_bytes())
        secret = key.read_bytes()
        loose = key.stat().st_mode & 0o077
    except OSError as error:
        raise NoCredential(
            f"The X.509 credential cannot be read: {error.strerror}.",
            place=str(error.filename or certificate),
            remedy=_RENEW,
        ) from error
    except ValueError as error:
        raise NoCredential(
            "The file holds no X.509 certificate.", place=str(certificate), remedy=_RENEW
        ) from error
    if _KEY not in secret:
        raise NoCredential("The file holds no private key.", place=str(key), remedy=_RENEW)
    if loose:
        raise NoCredential(
            "Others can read the private key.", place=str(key), remedy=f"Run `chmod 600 {key}`."
        )
    return Credential(
        certificate,
        key,
        any(mark in secret for mark in _ENCRYPTED),
        _subject(chain),
        min(one.not_valid_after_utc.timestamp() for one in chain),
        stamp,
    )


def _subject(chain: list[x509.Certificate]) -> str:
    """Name of the person: of the first certificate that is no proxy."""
    person = next((one for one in chain if not _is_proxy(one)), chain[-1])
    parts = (part.rfc4514_string() for part in person.subject.rdns)
    return "".join(f"/{part}" for part in parts)


def _is_proxy(one: x509.Certificate) -> bool:
    names = [str(part.value) for part in one.subject]
    return bool(names) and (names[-1] in _OLD or any(part.oid == _PROXY_INFO for part in one.extensions))
