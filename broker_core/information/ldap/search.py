"""Searches at LDAP servers: connecting, asking, and saying in words what went wrong. Blocks; for workers."""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Sequence
from typing import Any

import ldap3
from ldap3.core.exceptions import LDAPException, LDAPSessionTerminatedByServerError
from ldap3.operation.search import search_operation

from broker_core.information.ldap.address import LdapAddress
from broker_core.information.ldap.decode import Attributes, Done, Malformed, read_answer
from broker_core.information.updater import SourceFailed

_NO_SUCH_BASE = 32
_LIMITS = {3: "time", 4: "size", 11: "administrative"}
_REMEDY = "Check the address, and that the server runs and can be reached from here."
_OTHER_PORT = "Check the port: information systems mostly answer at 2170 or 389."


class NoLdap(Malformed):
    """What answers is a server of another protocol."""


class LdapSearch:
    """One connection to a server, with a limit for each wait."""

    def __init__(self, address: LdapAddress, patience: float, ca_file: str = "") -> None:
        """`patience`: seconds for connecting, and for each piece of an answer."""
        self._address = address
        self._patience = patience
        self._ca_file = ca_file
        self.complete = True
        """False once a server said that it held something back."""
        self._connection: Any = None

    def __enter__(self) -> LdapSearch:
        try:
            self._connection = self._connect()
        except (LDAPException, Malformed, OSError) as error:
            raise self._failed(error) from error
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._connection.socket.close()
        except OSError:  # it is gone already
            pass

    def entries(self, base: str, filter_: str, names: Sequence[str]) -> Iterator[tuple[bytes, Attributes]]:
        """Entries below `base`; none where the server knows no such base. Raises SourceFailed."""
        connection = self._connection
        try:
            request = search_operation(
                base, filter_, ldap3.SUBTREE, ldap3.DEREF_NEVER, list(names), 0, 0, False, None, False
            )
            connection.strategy.send("searchRequest", request)
            for found in read_answer(connection.socket.recv):
                if not isinstance(found, Done):
                    yield found
                elif found.code in _LIMITS:
                    self.complete = False
                elif found.code not in (0, _NO_SUCH_BASE):
                    raise Malformed(f"the server refuses ({found.code}): {found.message[:200]}")
        except (LDAPException, Malformed, OSError) as error:
            raise self._failed(error) from error

    def _connect(self) -> Any:
        address = self._address
        tls = None
        if address.scheme == "ldaps":
            tls = ldap3.Tls(validate=ssl.CERT_REQUIRED, ca_certs_file=self._ca_file or None)
        server = ldap3.Server(
            address.host,
            address.port,
            use_ssl=tls is not None,
            tls=tls,
            get_info=ldap3.NONE,
            connect_timeout=self._patience,
        )
        connection = ldap3.Connection(server, check_names=False)
        connection.open()
        connection.socket.settimeout(self._patience)
        _bind(connection)
        return connection

    def _failed(self, error: Exception) -> SourceFailed:
        return SourceFailed(
            f"{_words(error, self._patience)}.",
            place=self._address.server,
            remedy=_OTHER_PORT if isinstance(error, NoLdap) else _REMEDY,
        )


def _bind(connection: Any) -> None:
    """Bind without a name. The first answer of a server: raises NoLdap if it is not one of LDAP."""
    try:
        bound = connection.bind()
    except LDAPSessionTerminatedByServerError as error:
        raise NoLdap("this is no LDAP server: it closed the connection without an answer of LDAP") from error
    except (LDAPException, OSError):
        raise
    except Exception as error:  # the decoder raises whatever it stumbles over
        raise NoLdap("this is no LDAP server: what it answers is another protocol") from error
    if not bound:
        raise Malformed(f"the server refuses: {connection.result.get('description', '')}")


def _words(error: BaseException, patience: float) -> str:
    """What went wrong, as a sentence's beginning."""
    text = str(error)
    if isinstance(error, TimeoutError) or "timed out" in text:
        return f"No answer within {patience:g} s"
    if "refused" in text.lower() and isinstance(error, LDAPException):
        return "The connection was refused"
    if "name or service" in text.lower() or "getaddrinfo" in text or "invalid server address" in text:
        return "No machine of this name is known"
    return text[:1].upper() + text[1:300]
