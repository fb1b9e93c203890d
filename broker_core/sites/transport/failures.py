"""What goes wrong while connecting, in words with the remedy, and whether another try may go well."""

from __future__ import annotations

import os
import socket

import asyncssh

from broker_core.errors import CrossDeskError
from broker_core.sites.transport.contract import LinkLost
from broker_core.sites.transport.questions import QuestionDeclined
from broker_core.sites.transport.retry_policy import RetryPolicy
from broker_core.sites.transport.ssh_settings import Target

_TOO_MANY = "Too many authentication failures"


def step_words(stage: str, target: Target, patience: RetryPolicy, *, named: bool) -> CrossDeskError:
    """A step took too long. `named`: the server has told its SSH version."""
    if stage == "exchange" and not named:
        words = f"{target} takes connections, but no SSH server answered within {patience.exchange:g} s"
    elif stage == "exchange":
        words = f"{target} did not finish the key exchange within {patience.exchange:g} s"
    else:
        words = f"{target} did not finish the login within {patience.login:g} s"
    return LinkLost(f"{words}.", remedy="It may be overloaded; it is tried again.")


def words_of(error: Exception, target: Target, patience: RetryPolicy) -> CrossDeskError:
    """What an error of the connection means; its own text only where it says more than ours."""
    if isinstance(error, TimeoutError):
        return LinkLost(
            f"{target} did not answer within {patience.connect:g} s.", remedy="Check the network, or the VPN."
        )
    if isinstance(error, asyncssh.PermissionDenied):
        return QuestionDeclined(
            f"{target} accepts none of your keys or passwords.",
            remedy="Add your public key there, or load it into the agent (ssh-add), then connect again.",
        )
    if isinstance(error, asyncssh.DisconnectError) and _TOO_MANY in error.reason:
        return QuestionDeclined(
            f"{target} was offered too many keys.",
            remedy="Name the right one in the SSH configuration (IdentityFile, IdentitiesOnly yes).",
        )
    if isinstance(error, asyncssh.HostKeyNotVerifiable):
        return QuestionDeclined(f"The key of {target.host} cannot be trusted: {error.reason}.")
    if isinstance(error, asyncssh.KeyExchangeFailed | asyncssh.ProtocolNotSupported):
        return QuestionDeclined(
            f"{target} and CrossDesk have no way of encryption in common: {error.reason}."
        )
    if isinstance(error, asyncssh.ChannelOpenError):
        return LinkLost(f"The jump host cannot reach {target}: {error.reason}.", remedy="Check both hosts.")
    if isinstance(error, asyncssh.Error):
        return LinkLost(f"The connection to {target} broke: {error.reason}.")
    return _system_words(error, target)


def _system_words(error: Exception, target: Target) -> CrossDeskError:
    if isinstance(error, socket.gaierror):
        return LinkLost(
            f"The name {target.host} is not known ({error.strerror}).", remedy="Check it, or the network."
        )
    if isinstance(error, ConnectionRefusedError):
        return LinkLost(f"Nothing listens at {target.place}.", remedy="Check host and port, or wait.")
    if isinstance(error, OSError):
        reason = os.strerror(error.errno) if error.errno and error.errno > 0 else str(error)
        return LinkLost(f"{target} cannot be reached: {reason}.", remedy="Check the network.")
    return QuestionDeclined(f"The connection to {target} cannot be made: {error}.")
