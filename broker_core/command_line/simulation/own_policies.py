"""The policies that commands without a broker can use: those of a broker with the user's settings."""

from __future__ import annotations

from broker_core.broker.matchmaking.policy_plugins import PolicyPlugins
from broker_core.command_line.invocation import session
from broker_core.settings.settings import load
from broker_core.system.paths import places


def own_policies() -> PolicyPlugins:
    """Built-in and installed ones, and the user's own unless the settings are those of a shared broker."""
    return PolicyPlugins(load(places(session().state_dir).settings).mode)
