"""Entries of an information system as text."""

from __future__ import annotations

ENTRY = dict[bytes, list[bytes]]


def element(tag: int, *parts: bytes) -> bytes:
    """One element of BER with the shortest form of its length."""
    body = b"".join(parts)
    if len(body) < 0x80:
        return bytes([tag, len(body)]) + body
    length = len(body).to_bytes((len(body).bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(length)]) + length + body


def entry(name: str, attributes: ENTRY) -> bytes:
    listed = [
        element(0x30, element(4, attribute), element(0x31, *(element(4, value) for value in raw)))
        for attribute, raw in attributes.items()
    ]
    body = element(0x64, element(4, name.encode()), element(0x30, *listed))
    return element(0x30, element(2, b"\x07"), body)
