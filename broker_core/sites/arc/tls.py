"""The TLS settings towards a computing element: who is trusted, and who we are."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from pathlib import Path

from broker_core.sites.arc.credential import Credential, NoCredential

USUAL = Path("/etc/grid-security/certificates")
"""Where grid hosts keep the authorities that they trust."""


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
    if trust is None:
        return ssl.create_default_context()
    try:
        if trust.is_dir():
            return ssl.create_default_context(capath=str(trust))
        return ssl.create_default_context(cafile=str(trust))
    except (ssl.SSLError, OSError) as error:
        raise NoCredential(
            "The trusted authorities cannot be read.",
            place=str(trust),
            remedy="Name a directory or file of certificates in PEM form.",
        ) from error
