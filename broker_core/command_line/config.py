"""`crossdesk config`: the effective settings, and where each comes from."""

from __future__ import annotations

from broker_core.broker.places import places
from broker_core.broker.settings import load
from broker_core.command_line import output, tables
from broker_core.command_line.exits import Exit
from broker_core.command_line.session import Json, StateDir, session


def config(as_json: Json = False, state_dir: StateDir = None) -> int:
    """Show the broker's settings with their origin."""
    where = places(session().state_dir)
    rows = load(where.settings).table()
    if session().json:
        listed = [
            {"name": name, "value": value, "origin": origin, "about": about}
            for name, value, origin, about in rows
        ]
        output.as_json({"files": [str(path) for path in where.settings], "settings": listed})
        return Exit.OK
    tables.table(
        ("SETTING", "VALUE", "FROM", "MEANING"),
        [(name, f"{value}", origin, about) for name, value, origin, about in rows],
    )
    output.say(f"Set them in {where.settings[1]} or {where.settings[0]}.", "dim")
    return Exit.OK
