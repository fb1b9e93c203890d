"""Carries the network of one component of an MPI job over one outgoing connection. Python 3.7 and newer.

    overlay.py run NOTE PROGRAM [WORD]...
    overlay.py check

`run` calls the hub of the job (CROSSDESK_MPI_OVERLAY: HOST PORT ADDRESS SECRET, and `preload` for the second
way), then starts the program so that what it says to 10.99.0.0/16 goes by way of the hub to the component
that has that address. One connection that it makes to 127.0.0.1, port CONTROL_PORT, is joined with the
launcher of the job. There are two ways, neither of which takes privileges:

* a user and a network namespace whose only way out is the device tun0 (`overlay_packets.py`);
* where that is forbidden, a library between the program and its system, which lets it believe that it has
  such a device (`overlay_streams.py`; .crossdesk-overlay.so stands beside NOTE).

What keeps the program from its start is one line in the file NOTE. `check` prints `yes`, `preload: REASON`
where only the second way is open, or why none is.
"""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING or __package__:
    from broker_core.worker.scripts import overlay_door, overlay_packets
    from broker_core.worker.scripts.overlay_link import VARIABLE, Carrier, Trouble, call
    from broker_core.worker.scripts.overlay_streams import StreamCarrier
else:
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import overlay_door
    import overlay_packets
    from overlay_link import VARIABLE, Carrier, Trouble, call
    from overlay_streams import StreamCarrier

LIBRARY = ".crossdesk-overlay.so"
"""In the directory of the job, for the second way."""
_CALL = re.compile(r"(\S{1,255}) ([0-9]{1,5}) ([0-9.]{7,15}) ([A-Za-z0-9_-]{32,64})( preload)?")


def run(note: str, words: list[str]) -> int:
    """Run a program in the network of its job; returns its exit status."""
    carrier: Carrier | None = None
    try:
        found = _CALL.fullmatch(os.environ.pop(VARIABLE, ""))
        if found is None:
            raise Trouble("The place of the job's hub was not told.")
        hub = call(found[1], int(found[2]), found[4])
        if found[5]:
            door = overlay_door.CarrierDoor(found[3])
            pid = overlay_door.begin(door, os.path.join(os.path.dirname(note), LIBRARY), words)
            carrier = StreamCarrier(hub, door)
        else:
            pid, files = overlay_packets.begin(found[3], words)
            carrier = overlay_packets.PacketCarrier(hub, files)
        return carrier.run(pid)
    except (Trouble, OSError) as trouble:
        status = 1 if carrier is None else carrier.end(pid)
        if status:
            sys.stderr.write(f"CrossDesk: {trouble}\n")
        if carrier is not None:
            return status
        with open(note, "w", encoding="ascii", errors="replace") as file:
            file.write(f"{trouble}\n")
        return 1


def check() -> str:
    """`yes`, `preload: REASON`, or why programs are not carried here."""
    try:
        os.waitpid(overlay_packets.begin("10.99.0.1", [])[0], 0)
    except overlay_packets.NoNamespace as none:
        lacking = overlay_door.lacking()
        return f"{none} {lacking}" if lacking else f"preload: {none.why}"
    except Trouble as trouble:
        return str(trouble)
    return "yes"


if __name__ == "__main__":
    if sys.argv[1] == "run":
        sys.exit(run(sys.argv[2], sys.argv[3:]))
    print(check())
