"""What reaches a running job by a shell: lines of an interactive one, and an agent for any other."""

from __future__ import annotations

from broker_core.errors import NotFound
from broker_core.sites.contract import AgentOrder
from broker_core.sites.lines import MOST_TYPED, LineAnswer, LineBytes, LineCall
from broker_core.sites.shell.content_cache import ContentCache, program_content
from broker_core.sites.shell.exchanges import ShellExchanges
from broker_core.sites.shell.files import FOUND, NO_FILE
from broker_core.sites.shell.workspace import SiteWorkspace, words_of
from broker_core.sites.transport.contract import LinkLost
from broker_core.worker.encoding import encode

_DEADLINE = 30.0
# On stdin: a line about what is carried, the bytes for `input`, those for `control`, a line for each output.
# Bytes are written at their place, so that an exchange that is repeated, or comes late, changes nothing.
_SCRIPT = r"""
size() { stat -L -c %s -- "$1" 2>/dev/null || wc -c <"$1"; }
# Write $3 bytes of stdin at place $2 of file $1, unless that would leave a hole.
put() {
    [ "$3" -gt 0 ] || return 0
    if [ "$2" -gt "$(size "$1")" ]; then set -- /dev/null 0 "$3"; fi
    dd bs=1 count="$3" seek="$2" conv=notrunc of="$1" 2>/dev/null
}
read -r tag at length control_at control_length most sign
lines=$home/attempts/$tag/lines
[ -f "$lines/heard" ] || exit 44
put "$lines/input" "$at" "$length"
put "$lines/control" "$control_at" "$control_length"
printf '%s\n' "$sign" >"$lines/heard"
sizes="$(size "$lines/input") $(size "$lines/control")" parts=
while read -r place name; do
    long=$place part=0
    if found "$tag" "$name"; then long=$(size "./$value"); fi
    if [ "$long" -gt "$place" ]; then part=$((long - place)); fi
    [ "$part" -le "$most" ] || part=$most
    sizes="$sizes $long $part"
    [ "$part" -eq 0 ] || parts="$parts $place:$part:$name"
done
printf '%s\n' "$sizes"
for one in $parts; do
    place=${one%%:*} one=${one#*:}
    found "$tag" "${one#*:}" && tail -c "+$((place + 1))" -- "./$value" | head -c "${one%%:*}"
done
exit 0
"""


# The Job Starter looks for the file with its next sign of life.
_BRING = """
read -r tag name sum settings
cd "attempts/$tag" 2>/dev/null && [ -d claim ] && [ ! -f ended ] || exit 44
printf '%s\\n' "$name" "$sum" "$settings" >beside.part && mv -f beside.part beside
"""
_ROUNDS = 5


class ShellLines:
    """Reaches the running jobs of one site."""

    def __init__(self, site: str, exchanges: ShellExchanges) -> None:
        self._site, self._exchanges = site, exchanges

    async def carry(self, tag: str, call: LineCall) -> LineAnswer:
        """See `Site.carry_lines`."""
        script = FOUND + _SCRIPT
        reply = await self._exchanges.run(lambda _: script, _input(tag, call), _DEADLINE)
        if reply.status == NO_FILE:
            raise NotFound("The plain agent of the job is not there.", place=self._site)
        if reply.status:
            raise LinkLost(f"The lines were not carried: {words_of(reply.err)}.", place=self._site)
        try:
            return _answer(reply.out, len(call.outputs))
        except ValueError as error:
            raise LinkLost(f"The site's answer makes no sense: {error}.", place=self._site) from error

    async def bring_agent(
        self, tag: str, order: AgentOrder, programs: ContentCache, home: SiteWorkspace
    ) -> None:
        """See `Site.bring_agent`."""
        if order.program is None:
            raise NotFound("There is no agent for this site.", place=self._site)
        for _ in range(_ROUNDS):
            if await programs.have(await home.get(), program_content(order.program)):
                break
            home.forget()
        said = f"{tag} {order.program.cached_name} {order.program.sha256} {encode(order.settings)}\n"
        reply = await self._exchanges.run(lambda _: _BRING, said.encode())
        if reply.status == NO_FILE:
            raise NotFound("The job does not run there.", place=self._site)
        if reply.status:
            raise LinkLost(f"The agent was not brought: {words_of(reply.err)}.", place=self._site)


def _input(tag: str, call: LineCall) -> bytes:
    typed, control = _cut(call.typed), _cut(call.control)
    head = (tag, typed.place, len(typed.data), control.place, len(control.data), call.most, call.sign)
    wanted = "".join(
        f"{place} {encode(name)}\n" for place, name in zip(call.places, call.outputs, strict=True)
    )
    return f"{' '.join(map(str, head))}\n".encode() + typed.data + control.data + wanted.encode()


def _cut(carried: LineBytes) -> LineBytes:
    return LineBytes(carried.place, carried.data[:MOST_TYPED])


def _answer(out: bytes, outputs: int) -> LineAnswer:
    """What the script printed; raises ValueError."""
    head, _, rest = out.partition(b"\n")
    typed, control, *numbers = (int(word) for word in head.split())
    if len(numbers) != 2 * outputs or len(rest) != sum(numbers[1::2]):
        raise ValueError("parts of it are missing")
    parts = []
    for length in numbers[1::2]:
        parts.append(rest[:length])
        rest = rest[length:]
    return LineAnswer(typed, control, tuple(numbers[::2]), tuple(parts))
