"""The way to a site, as its settings say."""

from __future__ import annotations

from broker_core.errors import BadRequest
from broker_core.sites.link import Link
from broker_core.sites.transport.address import SshAddress, SshFiles
from broker_core.sites.transport.contract import Transport
from broker_core.sites.transport.local import LocalTransport
from broker_core.sites.transport.retry_policy import RetryPolicy
from broker_core.sites.transport.shell_wrapper import is_variable
from broker_core.sites.transport.ssh import SshTransport
from broker_core.wire.sites import SiteSpec


def transport_for(
    spec: SiteSpec, link: Link, *, files: SshFiles | None = None, patience: RetryPolicy | None = None
) -> Transport:
    """This machine where the settings name no host, else SSH; not opened yet.

    `files`: the user's SSH files, those that ssh uses unless told otherwise. Raises BadRequest.
    """
    for name in spec.environment:
        if not is_variable(name):
            raise BadRequest(f"{name!r} is no name of an environment variable.", place=f"site {spec.name}")
    if not spec.host:
        return LocalTransport(link, spec.environment, spec.at_once)
    address = SshAddress(spec.host, spec.port, spec.user, spec.jump)
    return SshTransport(
        link,
        address,
        spec.environment,
        spec.at_once,
        files or SshFiles.of_user(),
        patience or RetryPolicy(),
    )
