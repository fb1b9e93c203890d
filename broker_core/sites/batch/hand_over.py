"""Handing attempts over to a batch system: staged, submitted and noted at the site in one exchange.

An attempt belongs to the exchange that first moves its directory into place; that is one rename, which only
one exchange can do. The exchange holds a lock as long as any of its processes lives, so that another one
finds out whether it still works on the attempt or was cut off; what was cut off is finished by the next.
"""

from __future__ import annotations

from dataclasses import dataclass, field

NO_ROOM = 91
"""Exit status where the parcel could not be unpacked; nothing was handed over then."""
_COMMON = r"""
set -f
locking=
true >"locks/$exchange" || exit 91
if command -v flock >/dev/null 2>&1; then
    exec 7>"locks/$exchange"
    flock 7 2>/dev/null && locking=1
fi
say() { printf '\036%s\n' "$*"; }
# True if no process of exchange $1 is left.
free() {
    [ -e "locks/$1" ] || return 0
    if [ -n "$locking" ]; then flock -n 8 8<>"locks/$1"; else [ -n "$(find "locks/$1" -mmin +5)" ]; fi
}
# Give group $1 to the batch system.
give() {
    if out=$(. "./groups/$1/submit" 2>"incoming/$exchange.err" </dev/null); then
        printf '%s\n' "$out" >"groups/$1/id"
        say id "$1"
        printf '%s\n' "$out"
        return
    fi
    say refused "$1"
    cat "incoming/$exchange.err"
    set -- "groups/$1"
    while read -r tag; do [ "$tag" = - ] || set -- "$@" "attempts/$tag"; done <"$1/list"
    rm -rf "$@"
}
"""
_LEAVE = r"""
rm -rf "incoming/$exchange" "incoming/$exchange.err" "locks/$exchange"
"""
_SUBMIT = r"""
# Tell how attempt $1 of exchange $owner stands.
tell() {
    if [ -z "$owner" ]; then
        say failed "$1"
    elif [ -s "groups/$group/id" ]; then
        say there "$1" "$group"
        cat "groups/$group/id"
    elif free "$owner"; then
        say orphan "$1" "$group" "$owner"
        orphans=1
    else
        say busy "$1"
    fi
}
orphans=
mkdir "incoming/$exchange" && tar -xf - -C "incoming/$exchange" || {
    rm -rf "incoming/$exchange" "locks/$exchange"
    exit 91
}
set +f
mv "incoming/$exchange/groups/"* groups/ 2>/dev/null
mv "incoming/$exchange/attempts/"* attempts/ 2>/dev/null
set -f
while read -r name; do
    mine= all= other=
    while read -r tag; do
        owner= group=
        [ ! -r "attempts/$tag/exchange" ] || read -r owner group <"attempts/$tag/exchange"
        if [ "$owner" = "$exchange" ]; then
            mine=1 all="$all $tag"
        else
            other=1 all="$all -"
            tell "$tag"
        fi
    done <"groups/$name/list"
    [ -z "$mine" ] || [ -z "$other" ] || printf '%s\n' $all >"groups/$name/list"
    if [ -n "$mine" ]; then
        give "$name"
    elif [ "$group" != "$name" ]; then
        # All its attempts are in groups of earlier exchanges; that of a single one may be called like this.
        rm -rf "groups/$name"
    fi
done <"incoming/$exchange/names"
if [ -n "$orphans" ]; then
    say list
    status
fi
"""
_FINISH = r"""
# Lines: group, the exchange that was cut off, its id where the batch system has it already.
while read -r group owner id; do
    if [ -n "$locking" ]; then
        exec 8<>"locks/$owner"
        flock -n 8 || continue
    fi
    if [ -s "groups/$group/id" ]; then
        say id "$group"
        cat "groups/$group/id"
    elif [ -n "$id" ]; then
        printf '%s\n' "$id" >"groups/$group/id"
        say id "$group"
        printf '%s\n' "$id"
    elif [ -s "groups/$group/submit" ]; then
        give "$group"
    fi
    exec 8>&-
done
"""


@dataclass(slots=True)
class Answer:
    """What an exchange told."""

    ids: dict[str, str] = field(default_factory=dict)
    """Group to what the batch system printed when it took it."""
    there: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Tag that had been handed over before to its group and what was printed then."""
    refused: dict[str, str] = field(default_factory=dict)
    """Group to the batch system's words."""
    orphans: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Tag of an exchange that was cut off to its group and that exchange."""
    busy: set[str] = field(default_factory=set)
    """Tags on which another exchange still works, or that could not be put in place."""
    listing: str | None = None
    """The batch system's list, if there are orphans."""


def submit_script(exchange: str, status: str) -> str:
    """Takes a parcel (`parcel.packed`) on stdin; goes behind `Home.guarded`."""
    head = f"exchange={exchange}\nstatus() {{\n{status}\n}}\n"
    return f"{head}{_COMMON}{_SUBMIT}{_LEAVE}"


def finish_script(exchange: str) -> str:
    """Takes lines `group exchange [id]` on stdin; goes behind `Home.guarded`."""
    return f"exchange={exchange}\n{_COMMON}{_FINISH}{_LEAVE}"


def read_answer(out: bytes) -> Answer:
    """What one of the scripts printed."""
    answer = Answer()
    for part in out.decode("utf-8", "surrogateescape").split("\x1e")[1:]:
        head, _, body = part.partition("\n")
        match head.split():
            case ["id", group]:
                answer.ids[group] = body
            case ["there", tag, group]:
                answer.there[tag] = (group, body)
            case ["refused", group]:
                answer.refused[group] = " ".join(body.split()) or "no reason was given"
            case ["orphan", tag, group, exchange]:
                answer.orphans[tag] = (group, exchange)
            case ["busy" | "failed", tag]:
                answer.busy.add(tag)
            case ["list"]:
                answer.listing = body
    return answer
