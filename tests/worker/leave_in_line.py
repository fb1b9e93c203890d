"""Runs in a box of a line, by a plain Python: leaves something for the next program, or prints what it finds.

`leave_in_line.py keys|closed|settings|find`: `closed` are keys in a keyring that nobody can change any more.
"""

from __future__ import annotations

import ctypes
import json
import os
import platform
import sys
from contextlib import suppress

LIBC = ctypes.CDLL(None, use_errno=True)
ADD, CONTROL = {"x86_64": (248, 250), "aarch64": (217, 219)}[platform.machine()]
OF_PROCESS, OF_USER, OF_SESSIONS = -2, -4, -5
SET_MODE, SEARCH, PERSISTENT = 5, 10, 22
SETTINGS = {"oom_score_adj": "500", "coredump_filter": "1", "autogroup": "5"}
NAME = b"crossdesk-left"


def called(number: int, *words: int | bytes) -> int:
    result = int(LIBC.syscall(ctypes.c_long(number), *words))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def keyrings() -> dict[str, int]:
    found = {"of the user": OF_USER, "of sessions": OF_SESSIONS}
    with suppress(OSError):  # this kernel has none
        found["persistent"] = called(CONTROL, PERSISTENT, -1, OF_PROCESS)
    return found


def leave_keys() -> None:
    for keyring in keyrings().values():
        called(ADD, b"user", NAME, b"x", 1, keyring)


def leave_settings() -> None:
    for name, value in SETTINGS.items():
        with suppress(FileNotFoundError), open(f"/proc/1/{name}", "w") as file:
            file.write(value)


def leave_closed() -> None:
    called(ADD, b"user", NAME, b"x", 1, OF_USER)
    called(CONTROL, SET_MODE, OF_USER, 0x0B0B0000)  # see, read and search: not to write, nor to set modes


def find() -> dict[str, object]:
    keys = []
    for name, keyring in keyrings().items():
        with suppress(OSError):
            called(CONTROL, SEARCH, keyring, b"user", NAME, 0)
            keys.append(name)
    settings = {}
    for name in SETTINGS:
        with suppress(FileNotFoundError), open(f"/proc/1/{name}") as file:
            settings[name] = file.read().split()[-1]
    return {"keys": keys, "settings": settings}


if __name__ == "__main__":
    {"keys": leave_keys, "closed": leave_closed, "settings": leave_settings}.get(sys.argv[1], find)()
    print(json.dumps(find()))
