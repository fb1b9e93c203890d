"""One look at all attempts of a site: the batch system's list and the starters' news in one exchange."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from broker_core.sites.adapter import AttemptStatus, Sighting
from broker_core.sites.shell.tar_stream import read_small

NEWS_AT_ONCE = 1000
"""Attempts whose news one exchange brings at the most, so that no answer grows without bound."""
_END = {"ended", "outputs"}
_LETTERS = {"s": "started", "o": "outputs", "e": "ended"}
# Lines of stdin: `a NAME` acknowledges news that were read, `i TAG` asks for an attempt's own markers.
# A look is taken often, at hosts that may be busy: each process that it needs waits for its turn there.
# It needs no room on a disk: what ended is read, and what runs keeps its lease, though that is full.
_SCRIPT = r"""
set -f
# Written over what was there, which is as long.
[ -z "$renewal" ] || printf '%s\n' "$renewal" 1<>lease
if [ -z "$status" ]; then
    :
elif command -v timeout >/dev/null 2>&1; then
    timeout 25 /bin/sh -c "$status" </dev/null
else
    eval "$status" </dev/null
fi
printf '\036%s %s\n' "$exchange" "$?"
{
    gone= count=0
    while read -r what name; do
        case $what in
        a)
            gone="$gone news/$name" count=$((count + 1))
            if [ "$count" -ge 500 ]; then rm -f $gone; gone= count=0; fi
            ;;
        i)
            for marker in started outputs ended beat; do
                [ ! -f "attempts/$name/$marker" ] || printf 'attempts/%s/%s\n' "$name" "$marker"
            done
            ;;
        esac
    done
    [ -z "$gone" ] || rm -f $gone
    set +f
    for name in news/*; do
        [ "$most" -gt 0 ] || break
        [ -f "$name" ] || continue
        printf '%s\n' "$name"
        most=$((most - 1))
    done
} | tar -cf - -T - 2>/dev/null
:
"""


@dataclass(frozen=True, slots=True)
class ExchangeResult:
    """What the exchange brought."""

    listing: str | None
    """What the batch system printed; None where it did not answer."""
    markers: Mapping[str, Mapping[str, bytes]]
    """Tag to marker to content."""
    news: tuple[str, ...]
    """Names of the news that were read and can be acknowledged."""
    trouble: str = ""
    """What the batch system's command complained of."""


def poll_script(exchange: str, status: str, *, renew: bool) -> str:
    """Goes behind `Home.guarded`; `status`: command that prints the batch system's list, empty: none.

    `renew`: renew the lease of what runs there.
    """
    renewal = exchange if renew else ""
    most = 3 * NEWS_AT_ONCE
    values = f"exchange={exchange} renewal={renewal} status={shlex.quote(status)} most={most}"
    return f"{values}\n{_SCRIPT}"


def questions(read: Iterable[str], tags: Iterable[str]) -> bytes:
    """The script's input."""
    lines = [*(f"a {name}\n" for name in read), *(f"i {tag}\n" for tag in tags)]
    return "".join(lines).encode()


def read_look(out: bytes, exchange: str, trouble: str) -> ExchangeResult:
    """What the script printed; raises ValueError."""
    head, mark, rest = out.partition(f"\x1e{exchange} ".encode())
    status, _, archive = rest.partition(b"\n")
    if not mark:
        raise ValueError("The answer has no end of the batch system's list.")
    markers: dict[str, dict[str, bytes]] = {}
    news = []
    for name, content in read_small(archive):
        folder, _, rest_ = name.partition("/")
        if folder == "news":
            tag, _, letter = rest_.rpartition(".")
            news.append(rest_)
            if letter in _LETTERS:
                markers.setdefault(tag, {})[_LETTERS[letter]] = content
            continue
        tag, _, marker = rest_.partition("/")
        markers.setdefault(tag, {})[marker] = content
    listing = head.decode("utf-8", "replace") if status == b"0" else None
    return ExchangeResult(listing, markers, tuple(news), trouble)


def with_markers(sighting: Sighting, marks: Mapping[str, bytes]) -> Sighting:
    """What was seen of an attempt, with what its starter left."""
    return replace(
        sighting,
        started=marks.get("started", b""),
        ended=marks.get("ended", b""),
        outputs=marks.get("outputs", b""),
        beat=marks.get("beat", b""),
    )


def by_markers(look: ExchangeResult) -> dict[str, Sighting]:
    """What the starters alone tell, by tag."""
    return {tag: with_markers(Sighting(AttemptStatus.UNKNOWN), marks) for tag, marks in look.markers.items()}


def without_outputs(result: ExchangeResult) -> list[str]:
    """Tags whose end was told without the list of their output, which the attempts themselves have."""
    return [tag for tag, marks in result.markers.items() if {"ended"} == marks.keys() & _END]


def joined(result: ExchangeResult, more: ExchangeResult | None) -> ExchangeResult:
    """A look with the markers of a second one."""
    markers = dict(result.markers)
    for tag, marks in more.markers.items() if more else ():
        markers[tag] = {**markers.get(tag, {}), **marks}
    return replace(result, markers=markers)
