"""Files that Qt reads from this process's memory, for what takes only names of files.

Nothing is written anywhere: there is nothing to leave behind, however the process ends, and nothing that
another user could meet. The form is that of Qt's compiled resources, version 1.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

from PySide6.QtCore import QResource

_HEADER = struct.Struct(">4sIIII")
_FOLDER = 2
"""Flag of a node that has children."""
_NO_COUNTRY, _C_LANGUAGE = 0, 1
_registered: list[bytes] = []
"""Qt copies none of them."""


def embed(folder: str, files: Mapping[str, bytes]) -> str:
    """Give Qt files under a folder, for the life of this process; returns the folder as Qt knows it.

    `folder`: a path from the root, unique in this process. Raises ValueError when Qt does not take them.
    """
    data = _compiled(files)
    if not QResource.registerResourceData(data, folder):
        raise ValueError(f"Qt does not take the files of {folder}.")
    _registered.append(data)
    return f":{folder}"


def _compiled(files: Mapping[str, bytes]) -> bytes:
    """One folder of files: header, tree, content, names. Qt finds children by bisection over their hashes."""
    names, content, nodes = b"", b"", []
    for name in sorted(files, key=_hash):
        nodes.append(struct.pack(">IHHHI", len(names), 0, _NO_COUNTRY, _C_LANGUAGE, len(content)))
        names += struct.pack(">HI", len(name), _hash(name)) + name.encode("utf-16-be")
        content += struct.pack(">I", len(files[name])) + files[name]
    tree = struct.pack(">IHII", 0, _FOLDER, len(files), 1) + b"".join(nodes)
    begin = _HEADER.size
    at_content, at_names = begin + len(tree), begin + len(tree) + len(content)
    return _HEADER.pack(b"qres", 1, begin, at_content, at_names) + tree + content + names


def _hash(name: str) -> int:
    """Qt's own hash of the name of a resource."""
    value = 0
    for (unit,) in struct.iter_unpack(">H", name.encode("utf-16-be")):
        value = (value << 4) + unit
        value ^= (value & 0xF0000000) >> 23
        value &= 0x0FFFFFFF
    return value
