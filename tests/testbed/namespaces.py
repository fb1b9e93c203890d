"""Network namespaces with addresses of their own, joined by a bridge and reached from this machine.

Needs the packages iproute2, nftables and util-linux of Debian, and root. A namespace lives as long as a
process that holds it, which ends with the test that made it: nothing is left behind. The machine's own
network sees one more interface, and its routes to elsewhere stay as they are.
"""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.waiting import wait_until

PACKAGES = ("iproute2", "nftables", "util-linux")
BOTH_WAYS = ("input", "output")
TO_SITE = ("input",)
FROM_SITE = ("output",)
_OUTBOUND_ONLY = """table inet outbound {
  chain input { type filter hook input priority 0; policy drop;
    iif lo accept; ct state established,related accept; icmp type echo-request accept; }
}"""
_HUB_ONLY = """table inet hub {{
  chain input {{ type filter hook input priority 0; policy drop;
    iif lo accept; ct state established,related accept; ip saddr {hub} tcp dport {port} accept; }}
  chain output {{ type filter hook output priority 0; policy drop; oif lo accept; ip daddr {hub} accept; }}
}}"""
_ANSWERS_ONLY = """table inet answers {
  chain output { type filter hook output priority 0; policy drop;
    oif lo accept; ct state established,related accept; }
}"""


class Namespaces:
    """A hub (this machine) and named sites; each site has one address in a private network."""

    def __init__(self, *names: str) -> None:
        self._holders: list[subprocess.Popen[bytes]] = []
        self._net = self._hold()
        self._pids = {name: self._hold() for name in names}
        self._prefix = _join_bridge(self._net)
        self.hub = f"{self._prefix}.1"
        """This machine's address as the sites see it."""
        for number, name in enumerate(names, 2):
            self._add_site(name, number)

    def address(self, name: str) -> str:
        """The site's address."""
        return f"{self._prefix}.{2 + list(self._pids).index(name)}"

    def enter(self, name: str) -> list[str]:
        """Words that run a command inside a site when put before it."""
        # Not `ip netns exec`, which mounts /sys anew without control groups.
        return ["nsenter", f"--net=/proc/{self._pids[name]}/ns/net", "--"]

    def cut(self, name: str, ways: Sequence[str] = BOTH_WAYS, *, seconds: float | None = None) -> None:
        """Drop what the site gets, what it sends, or both, without a word; for `seconds`, or until `heal`."""
        chains = "".join(
            f"chain {way} {{ type filter hook {way} priority -5; policy accept; "
            f"{'iif' if way == 'input' else 'oif'} != lo drop; }}\n"
            for way in ways
        )
        self._nft(name, f"table inet cut {{ }}\ndelete table inet cut\ntable inet cut {{\n{chains}}}")
        if seconds is not None:
            script = 'sleep "$1"; exec nft delete table inet cut'
            words = _bound([*self.enter(name), "sh", "-c", script, "sh", str(seconds)])
            self._holders.append(subprocess.Popen(words, stderr=subprocess.DEVNULL))

    def heal(self, name: str) -> None:
        """Let everything through again; harmless where nothing was cut."""
        self._nft(name, "table inet cut { }\ndelete table inet cut")

    def outbound_only(self, name: str) -> None:
        """The site opens connections, but takes none."""
        self._nft(name, _OUTBOUND_ONLY)

    def answers_only(self, name: str) -> None:
        """The site takes connections, but opens none."""
        self._nft(name, _ANSWERS_ONLY)

    def hub_only(self, name: str, port: int) -> None:
        """The site reaches this machine and nobody else, and takes connections of it at one port alone."""
        self._nft(name, _HUB_ONLY.format(hub=self.hub, port=port))

    def rate(self, name: str, rate: str) -> None:
        """Limit what the site sends, e.g. `10mbit`."""
        _run([*self.enter(name), *_shape("eth0", rate)])

    def rate_of_hub(self, rate: str) -> None:
        """Limit what this machine sends to all sites."""
        _run(_shape(_leg(self._net), rate))

    def close(self) -> None:
        """End the namespaces; processes inside them lose their network."""
        for holder in self._holders:
            holder.kill()
            holder.wait(60)
        self._holders.clear()
        leg = Path(f"/sys/class/net/{_leg(self._net)}")
        wait_until(lambda: not leg.exists(), what="the kernel takes the network away")

    def _nft(self, name: str, rules: str) -> None:
        _run([*self.enter(name), "nft", "-f", "-"], rules)

    def _hold(self) -> int:
        """A process with a network of its own; it ends with this one."""
        holder = subprocess.Popen(_bound(["unshare", "--net", "sleep", "infinity"]))
        self._holders.append(holder)
        own = Path("/proc/self/ns/net").readlink()
        wait_until(lambda: Path(f"/proc/{holder.pid}/ns/net").readlink() != own, what="the namespace is made")
        return holder.pid

    def _add_site(self, name: str, number: int) -> None:
        pid = self._pids[name]
        port = f"p{number}"
        outer = ["nsenter", f"--net=/proc/{self._net}/ns/net", "--"]
        _run([*outer, "ip", "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", str(pid)])
        _run([*outer, "ip", "link", "set", port, "master", "br0", "up"])
        for words in (
            ["ip", "link", "set", "lo", "up"],
            ["ip", "address", "add", f"{self._prefix}.{number}/24", "dev", "eth0"],
            ["ip", "link", "set", "eth0", "up"],
        ):
            _run([*self.enter(name), *words])


def _join_bridge(net: int) -> str:
    """Make a bridge in a namespace and give this machine a leg on it; returns the network's first numbers."""
    inside = ["nsenter", f"--net=/proc/{net}/ns/net", "--"]
    _run([*inside, "ip", "link", "add", "br0", "type", "bridge"])
    _run([*inside, "ip", "link", "set", "br0", "up"])
    with Path("/tmp/crossdesk-networks.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        prefix = _free_network()
        leg = _leg(net)
        _run(["ip", "link", "add", leg, "type", "veth", "peer", "name", "hub", "netns", str(net)])
        _run(["ip", "address", "add", f"{prefix}.1/24", "dev", leg])
    _run([*inside, "ip", "link", "set", "hub", "master", "br0", "up"])
    _run(["ip", "link", "set", leg, "up"])
    return prefix


def _leg(net: int) -> str:
    return f"cd{net}"


def _shape(device: str, rate: str) -> list[str]:
    words = ["tc", "qdisc", "replace", "dev", device, "root", "tbf", "rate", rate, "burst", "64k"]
    return [*words, "latency", "100ms"]


def _free_network() -> str:
    listed = json.loads(_run(["ip", "-json", "address"]))
    taken = {entry["local"] for link in listed for entry in link["addr_info"]}
    return next(f"10.213.{number}" for number in range(1, 255) if f"10.213.{number}.1" not in taken)


def _bound(words: Sequence[str]) -> list[str]:
    """The command ends with the thread that starts it, even if that is killed."""
    assert os.geteuid() == 0, "network namespaces take root"
    return ["setpriv", "--pdeathsig", "KILL", "--", *words]


def _run(words: Sequence[str], given: str = "") -> str:
    done = subprocess.run(list(words), input=given, capture_output=True, text=True)
    assert done.returncode == 0, f"{words}: {done.stderr}"
    return done.stdout
