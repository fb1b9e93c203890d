"""Files of attempts at a site: listing, bringing and removing them through a shell."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from broker_core.sites.contract import RunFile
from broker_core.sites.shell.tar_stream import TarStream
from broker_core.worker.encoding import encode

FOUND = r"""
# Go to the directory of attempt $1 and set value to its file $2 (escaped); false if it is none.
found() {
    root=$home/attempts/$1/job
    case $2 in
    *\\*) value=$(printf '%b.' "$2"); value=${value%.} ;;
    *) value=$2 ;;
    esac
    cd -- "$root" 2>/dev/null && [ -f "./$value" ] || return
    real=
    case $value in */*) real=1 ;; esac
    [ ! -L "./$value" ] || real=1
    [ -n "$real" ] || return 0
    real=$(readlink -f -- "./$value" && printf .)
    case $real in "$root"/*) ;; *) return 1 ;; esac
}
home=$(pwd -P)
"""
"""Shell functions that find a file of an attempt, and no other."""
FETCH_MANY = rf"""{FOUND}
while read -r tag name; do
    if found "$tag" "$name"; then printf 'attempts/%s/job/%s\0' "$tag" "$value"; fi
done | {{ cd "$home" && tar -h --hard-dereference --no-recursion --null -cf - -T - 2>/dev/null; }}
exit 0
"""
FETCH_REST = rf"""{FOUND}
read -r tag offset name
found "$tag" "$name" || exit 44
tail -c "+$((offset + 1))" -- "./$value"
"""
LIST = r"""
read -r tag
cd "attempts/$tag/job" 2>/dev/null || exit 44
find . -type f -printf '%s %T@ %P\0'
"""
REMOVE = r"""
failed= arrays= tags=
wipe() { rm -rf "$@" 2>/dev/null || { chmod -R u+rwx "$@" 2>/dev/null; rm -rf "$@"; } || failed=1; }
# Remove $@, and find the arrays of $tags. What tells whose they are outlives these: this may be cut off.
these() {
    wipe "$@"
    found=$(find groups -mindepth 2 -maxdepth 2 -path 'groups/a*/list' -exec grep -lxF -e "$tags" {} +)
    arrays="$arrays $found" tags=
}
# One process for hundreds of attempts. Nothing is written: the disk may be full.
set --
while read -r tag; do
    tags="$tags${tags:+
}$tag"
    # The group of a single attempt is called like it.
    set -- "$@" "attempts/$tag" "groups/$tag" "news/$tag.s" "news/$tag.o" "news/$tag.e"
    if [ $# -ge 1000 ]; then these "$@"; set --; fi
done
[ -z "$tags" ] || these "$@"
# An array goes with the last of its attempts.
set --
for list in $arrays; do
    left=
    [ ! -r "$list" ] || while read -r tag; do
        if [ -d "attempts/$tag" ]; then left=1; break; fi
    done <"$list"
    [ -n "$left" ] || set -- "$@" "${list%/list}"
    if [ $# -ge 1000 ]; then wipe "$@"; set --; fi
done
wipe "$@"
[ -z "$failed" ]
"""
# Without room for the file the batch system is told all the same; a failing `:` would end the shell.
CANCEL = """
while read -r tag; do
    if [ -d "attempts/$tag" ]; then true >"attempts/$tag/cancel"; fi
done 2>/dev/null
"""
"""Tells the starters of the tags on stdin to end their programs."""
NO_FILE = 44
"""Exit status where there is no such file or attempt."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Files of one attempt, and the directory of this machine to which they go."""

    tag: str
    names: tuple[str, ...]
    into: Path


def many_lines(wanted: Iterable[Wanted]) -> bytes:
    """Input of FETCH_MANY."""
    return "".join(f"{one.tag} {encode(name)}\n" for one in wanted for name in one.names).encode()


def read_files(out: bytes) -> list[RunFile]:
    """What LIST printed."""
    found = []
    for line in out.split(b"\0"):
        size, _, rest = line.partition(b" ")
        modified, _, path = rest.partition(b" ")
        if path:
            shown = path.decode("utf-8", "backslashreplace")
            found.append(RunFile(shown, int(size), float(modified)))
    return sorted(found, key=lambda file: file.path)


class Unpacking:
    """Writes the files of FETCH_MANY's stream where they belong; what was not asked for is dropped."""

    def __init__(self, wanted: Iterable[Wanted]) -> None:
        self._places: Mapping[str, Path] = {
            f"attempts/{one.tag}/job/{name}": one.into / name for one in wanted for name in one.names
        }
        self._stream = TarStream(self._begin, self._data)
        self._file: BinaryIO | None = None
        self.feed: Callable[[bytes], None] = self._stream.feed

    def close(self) -> None:
        """End the last file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _begin(self, name: str, size: int) -> None:
        self.close()
        place = self._places.get(name)
        if place is not None:
            self._file = writable(place)
            if not size:
                self.close()

    def _data(self, piece: bytes) -> None:
        if self._file is not None:
            self._file.write(piece)


def writable(place: Path, *, append: bool = False) -> BinaryIO:
    """A file of this machine, its folders made; never through a link."""
    return os.fdopen(_opened(place, os.O_APPEND if append else os.O_TRUNC), "ab" if append else "wb")


def make_empty(path: Path) -> None:
    """The same without a byte."""
    os.close(_opened(path, os.O_TRUNC))


def _opened(path: Path, how: int) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | how
    try:
        return os.open(path, flags, 0o600)
    except FileNotFoundError:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.open(path, flags, 0o600)
