"""Addresses of LDAP servers."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from broker_core.information.updater import SourceFailed

PORTS = {"ldap": 389, "ldaps": 636}


@dataclass(frozen=True, slots=True)
class LdapAddress:
    """Where a server is."""

    scheme: str
    host: str
    port: int
    base: str = ""
    """Base of the tree that the address names, or empty."""

    @property
    def server(self) -> str:
        """The address without a base."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"


def address_of(text: str) -> LdapAddress:
    """`ldap://host:port/base`; raises SourceFailed for what is no such address."""
    try:
        parts = urlsplit(text.strip())
        scheme, host, port = parts.scheme.lower(), parts.hostname, parts.port
    except ValueError:
        scheme, host, port = "", None, None
    if scheme not in PORTS or not host:
        raise SourceFailed(
            "That is not the address of an LDAP server.",
            place=text[:200],
            remedy="Write ldap://host:port or ldaps://host:port.",
        )
    return LdapAddress(scheme, host, port or PORTS[scheme], unquote(parts.path.strip("/")))
