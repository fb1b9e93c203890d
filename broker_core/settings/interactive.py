"""Settings of interactive jobs: where desks and agents meet, and the numbers of the agents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from broker_core.errors import BadRequest
from broker_core.interactive.channel.rendezvous import read_ports
from broker_core.settings.field import setting

MB = 1 << 20


def _ports(value: Any, origin: str) -> str:
    try:
        read_ports(value if isinstance(value, str) else "")
    except ValueError as error:
        raise BadRequest(f"shadow_ports: {error}", place=origin) from error
    return str(value)


@dataclass(frozen=True)
class InteractiveSettings:
    """Times in seconds, sizes in bytes."""

    relay: str = setting("", "host:port of a relay that runs by itself; empty: the broker starts its own")
    relay_address: str = setting(
        "127.0.0.1",
        "address on which the broker's own relay listens; 0.0.0.0: nodes may call this machine from outside",
    )
    relay_name: str = setting(
        "", "name by which nodes and desks reach the broker's own relay; empty: the address it listens on"
    )
    relay_idle_exit: float = setting(600.0, "seconds without a connection after which the own relay ends")
    ca_retry_interval: float = setting(10.0, "seconds between two attempts of an agent to reach a desk")
    ca_max_retries: int = setting(60, "failed attempts after which the bypass agent kills the program")
    shadow_ports: str = setting(
        "20000-25000",
        "FIRST-LAST, ports at which an agent may call a desk that says nothing else; none: nowhere",
        parse=_ports,
    )
    shadow_buffer: int = setting(
        4096, "bytes of a text program's output after which a desk shows it before the end of a line"
    )
    shadow_flush_time: float = setting(
        0.2, "seconds after which a desk shows it: a prompt has no end of line"
    )
    replay_buffer: int = setting(8 * MB, "bytes of past output that a desk which comes later is shown")
    agent_memory: int = setting(MB, "bytes of output of a stream that an agent keeps in memory")
    agent_disk: int = setting(4096 * MB, "bytes of output that a bypass agent keeps until a desk has them")
    agent_linger: float = setting(
        60.0, "seconds that the agent of a terminal stays after the program's end for its last output"
    )
    agent_keepalive: float = setting(
        15.0, "seconds between two signs of life of an agent; after three without an answer a link is broken"
    )
    agent_display_wait: float = setting(
        600.0, "seconds that a program which opens a window waits for a desk that shows it"
    )
    line_agent: bool = setting(
        True, "where no other agent can run, carry lines through the broker and the site, which see them then"
    )
    line_interval: float = setting(0.25, "seconds between two exchanges of lines while something moves")
    line_idle_interval: float = setting(3.0, "the same after a while without any")
    agent_program: str = setting(
        "",
        "path of the agent with its own interpreter for other sites; empty: the one that is installed with"
        " the broker; where there is none, the plain agent for lines is used there",
    )
