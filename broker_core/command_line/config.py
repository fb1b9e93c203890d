"""`crossdesk config`: the effective settings, and where each comes from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from broker_core.client.desk_settings import VARIABLE, desk_file, listen_place
from broker_core.command_line import output, tables
from broker_core.command_line.exits import Exit
from broker_core.command_line.invocation import Json, StateDir, session
from broker_core.system.paths import places


def config(as_json: Json = False, state_dir: StateDir = None) -> int:
    """Show the broker's settings with their origin."""
    from broker_core.broker.matchmaking.policy_choice import chosen_policies  # the broker's own libraries
    from broker_core.settings.settings import load  # take long to load

    where = places(session().state_dir)
    rows = load(where.settings).table()
    chosen = chosen_policies(where.policies)
    in_force = {name: one for name, value, _, _ in rows if (one := chosen.get(name, value)) != value}
    if session().json:
        listed = [
            {"name": name, "value": value, "origin": origin, "about": about}
            | ({"in_force": in_force[name]} if name in in_force else {})
            for name, value, origin, about in rows
        ]
        output.as_json({"files": [str(path) for path in where.settings], "settings": listed})
        return Exit.OK
    tables.table(
        ("SETTING", "VALUE", "FROM", "MEANING"),
        [(name, _text(value), origin, about) for name, value, origin, about in rows],
    )
    for name, one in in_force.items():
        output.say(f"{name}: {one} is in force; it was chosen by `crossdesk policy choose`.", "yellow")
    output.say(f"Set them in {where.settings[1]} or {where.settings[0]}.", "dim")
    output.say(_of_this_desk(), "dim")
    return Exit.OK


def _of_this_desk() -> str:
    """What this desk itself is set to, which the broker only hears of."""
    place = listen_place()
    told = "listens nowhere" if place is None else f"waits for agents of its jobs at {place}"
    return f'This desk {told}: listen = "HOST:PORT" in {desk_file()}, or {VARIABLE}.'


def _text(value: Any) -> str:
    if isinstance(value, tuple | list):
        return ", ".join(map(_text, value))
    if isinstance(value, Mapping):
        return ", ".join(f"{name} = {_text(one)}" for name, one in value.items())
    return str(value).lower() if isinstance(value, bool) else f"{value}"
