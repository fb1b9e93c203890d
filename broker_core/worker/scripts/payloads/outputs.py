"""What a program left: what comes home with its hashes, and what stays, as `job_starter.sh` lists it."""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice

from broker_core.worker.scripts.plain.records import Order, write

_OWN = (".crossdesk-use", ".crossdesk-data")
"""Of the desk's; they come home whatever the order names."""
_LONGEST_NAME = 1000
_PART = 1 << 16
_FEW = 16
_OF_NOTHING = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
"""Sum of a file without a byte."""


def list_outputs(order: Order) -> None:
    """Write the list beside the job's directory, which is the current one. Raises OSError."""
    if not (order["outputs"] or order["brings_all"] or order["most_named"]):
        return
    brought = _named(order)
    others = list(_others(order, set(brought))) if order["brings_all"] or order["most_named"] else []
    if order["brings_all"]:
        fit, others = _fitting(order, others)
        brought += fit
    sums, sizes = list[str](), list[str]()
    for path in dict.fromkeys(brought):
        with suppress(OSError):  # its mode forbids to read it
            line, size = _sum_line(path)
            sums.append(line)
            sizes.append(f"size {size}\n")
    lines = sums + sizes
    if order["brings_all"] or order["most_named"]:
        lines += _staying(order, others)
    write(f"{order['directory']}/outputs", "".join(lines))


def is_soon_listed(order: Order) -> bool:
    """That takes next to no time: there are a few small files."""
    # What came with the job is read only if it is an output by its name.
    inputs = frozenset() if order["outputs"] else frozenset(order["inputs"])
    try:
        with os.scandir() as entries:
            found = list(islice(entries, _FEW + 1))
        return len(found) <= _FEW and all(_is_small(one, one.name in inputs) for one in found)
    except OSError:
        return False


def _is_small(entry: os.DirEntry[str], unread: bool) -> bool:
    found = entry.stat(follow_symlinks=False)
    return stat.S_ISREG(found.st_mode) and (unread or found.st_size <= _PART)


def _named(order: Order) -> list[str]:
    """Files that are to come home by their names, or those of their folders."""
    found = [f"./{name}" for name in _OWN if os.path.isfile(name) and not os.path.islink(name)]
    for name, _ in order["outputs"]:
        if os.path.isfile(name):
            found.append(f"./{name}")
        elif os.path.isdir(name) and not os.path.islink(name.rstrip("/")):
            found += _files_below(f"./{name.rstrip('/')}")
        else:
            found += [f"./{one}" for one in sorted(glob.glob(name)) if os.path.isfile(one)]
    return found


def _others(order: Order, brought: set[str]) -> Iterator[str]:
    """Files that are neither inputs nor named."""
    known = brought | {f"./{name}" for name in order["inputs"]}
    folders = tuple(f"./{name.rstrip('/')}/" for name in order["inputs"])
    return (path for path in _files_below(".") if path not in known and not path.startswith(folders))


def _fitting(order: Order, others: list[str]) -> tuple[list[str], list[str]]:
    """Those that come home where all do, as far as the limit goes, and those that do not."""
    most, spent = order["most_brought"], 0
    always = {f"./{order['stdout']}", f"./{order['stderr']}"}
    fit, rest = list[str](), list[str]()
    for path in others:
        size = 0 if path in always else os.lstat(path).st_size
        if most and spent + size > most:
            rest.append(path)
        else:
            spent += size
            fit.append(path)
    return fit, rest


def _staying(order: Order, others: list[str]) -> Iterator[str]:
    """Lines of files that stay; of too many only how many, and their bytes."""
    always = {f"./{order['stdout']}", f"./{order['stderr']}"}
    named = more = rest = 0
    for path in others:
        if path in always:
            continue
        size = os.lstat(path).st_size
        if named >= order["most_named"] or len(path) > _LONGEST_NAME:
            more, rest = more + 1, rest + size
        else:
            named += 1
            escaped = path.replace("\\", "\\\\").replace("\n", "\\n")
            yield f"stay {size} {escaped}\n"
    if more:
        yield f"stayed {more} {rest}\n"


def _files_below(folder: str) -> Iterator[str]:
    """Regular files."""
    return (entry.path for entry in _entries(folder) if entry.is_file(follow_symlinks=False))


def _entries(folder: str) -> Iterator[os.DirEntry[str]]:
    """All in a folder and those in it. The kernel tells what they are as it lists them."""
    folders = [folder]
    for at in folders:
        with suppress(OSError), os.scandir(at) as found:  # its mode forbids to read it
            for entry in found:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                yield entry


def _sum_line(path: str) -> tuple[str, int]:
    """As sha256sum writes it, and the bytes of the file."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        total = _sum(file)
        size = os.fstat(file).st_size
    finally:
        os.close(file)
    escaped = path.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    mark = "\\" if escaped != path else ""
    return f"{mark}{total}  {escaped}\n", size


def _sum(file: int) -> str:
    part = os.read(file, _PART)
    if not part:
        return _OF_NOTHING
    import hashlib  # it takes longer to import than many jobs run, and these write nothing

    found = hashlib.sha256()
    while part:
        found.update(part)
        part = os.read(file, _PART)
    return found.hexdigest()


def drop_links_out() -> None:
    """Remove links of the job that lead out of its directory: what they name is not the job's."""
    for path in [entry.path for entry in _entries(".") if entry.is_symlink()]:
        if not os.path.realpath(path).startswith(f"{os.path.realpath('.')}/"):
            with suppress(OSError):  # the mode of its folder forbids it
                os.unlink(path)
