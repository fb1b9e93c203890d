"""Who may call which operation of the API: each route declares its rule, nothing else decides (CB-UAM-04).

Who asks is known before (`authentication.py`). A route without a rule is a fault that a test finds.
"""

from __future__ import annotations

import os
from enum import Enum
from typing import Any

from fastapi import Depends

from broker_core.broker.api.dependencies import Owner, SettingsPart
from broker_core.broker.api.listener import user_name
from broker_core.broker.matchmaking.policy_choice import authorize


class Audience(Enum):
    """Users for whom an operation is. An embedded broker has one user, who may do everything."""

    EVERYBODY = "all users of the broker; the answer is the same for each of them"
    OWNER = "all users, each for what is their own; what is another's is not found"
    ADMINISTRATORS = "on a shared broker those whom the setting `administrators` names"
    OPERATORS = "these, and the account that the broker runs as: it can end the process anyway"


class Rule:
    """A dependency of routes: refuses who is not of its audience with NotAuthorised (status 403)."""

    def __init__(self, audience: Audience, action: str = "") -> None:
        """`action`: what the route does, to go on after "Only administrators"."""
        self.audience, self.action = audience, action

    async def __call__(self, settings: SettingsPart, owner: Owner) -> None:
        """Check one request."""
        if self.audience in (Audience.EVERYBODY, Audience.OWNER):
            return
        if self.audience is Audience.OPERATORS and owner == user_name(os.getuid()):
            return
        authorize(settings.mode, owner, settings.administrators, self.action)


EVERYBODY: Any = Depends(Rule(Audience.EVERYBODY))
OWNER: Any = Depends(Rule(Audience.OWNER))


def administrators(action: str) -> Any:
    """The rule of an operation for administrators alone."""
    return Depends(Rule(Audience.ADMINISTRATORS, action))


def operators(action: str) -> Any:
    """The rule of an operation for administrators and the broker's own account."""
    return Depends(Rule(Audience.OPERATORS, action))
