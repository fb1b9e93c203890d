"""Searches of a replica catalogue in an LDAP server; for the process that blocks in our place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from broker_core.information.ldap.address import address_of

AT_ONCE = 100
"""Names of one search."""


def search(request: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """Names and addresses, as the server gives them. Blocks; for the worker. Raises SourceFailed."""
    from ldap3.utils.conv import escape_filter_chars

    from broker_core.information.ldap.search import LdapSearch

    server, names = address_of(request["address"]), request["names"]
    key, value = request["name_attribute"], request["address_attribute"]
    with LdapSearch(server, request["patience"], request["ca_file"]) as connection:
        for start in range(0, len(names), AT_ONCE):
            part = names[start : start + AT_ONCE]
            tests = "".join(f"({key}={escape_filter_chars(name)})" for name in part)
            for _, found in connection.entries(server.base, f"(|{tests})", [key, value]):
                held = {attribute.decode().lower(): raw for attribute, raw in found.items()}
                addresses = [_text(one) for one in held.get(value.lower(), ())]
                for name in {_text(one) for one in held.get(key.lower(), ())} & set(part):
                    yield name, addresses


def _text(raw: bytes) -> str:
    """RFC 2079 lets a label follow the address, behind a space."""
    return raw.decode("utf-8", "replace").split(" ")[0]
