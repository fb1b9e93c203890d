"""A real realm of Kerberos: a KDC of its own with a port, a database and files of its own.

Needs the packages krb5-kdc, krb5-admin-server and krb5-user of Debian. The machine's own configuration of
Kerberos is neither read nor changed.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.testbed.daemons import found_program, spawn
from tests.testbed.guardian import Guardian
from tests.testbed.ports import free_port
from tests.waiting import wait_until

PACKAGES = ("krb5-kdc", "krb5-admin-server", "krb5-user")
REALM = "TESTBED.INVALID"
_PASSWORD = "a ticket, please 7!"
_TRIES = 5
_CLIENT = """\
[libdefaults]
    default_realm = {realm}
    dns_lookup_kdc = false
    dns_lookup_realm = false
    dns_canonicalize_hostname = false
    rdns = false
    udp_preference_limit = 1
[realms]
    {realm} = {{
        kdc = 127.0.0.1:{port}
    }}
"""
_SERVER = """\
[kdcdefaults]
    kdc_listen = ""
    kdc_tcp_listen = 127.0.0.1:{port}
[realms]
    {realm} = {{
        database_name = {folder}/principal
        key_stash_file = {folder}/stash
        acl_file = {folder}/acl
    }}
[logging]
    kdc = STDERR
"""


class Kerberos:
    """One realm; `environment` is what programs need to take part in it."""

    def __init__(self, folder: Path) -> None:
        """Not started yet."""
        if found_program("krb5kdc") is None:
            raise RuntimeError(f"Kerberos is missing; apt-get install {' '.join(PACKAGES)}")
        folder.mkdir(parents=True)
        self._folder = folder
        self._log = folder / "kdc.log"
        self._process: subprocess.Popen[bytes] | None = None
        self.cache = folder / "tickets"
        """Where the user's tickets are; missing until there is one."""
        self.keytab = folder / "keytab"
        """The keys of services."""
        self.environment = {
            "KRB5_CONFIG": str(folder / "krb5.conf"),
            "KRB5_KDC_PROFILE": str(folder / "kdc.conf"),
            "KRB5CCNAME": f"FILE:{self.cache}",
            "KRB5_KTNAME": f"FILE:{self.keytab}",
        }
        self._guardian = Guardian(folder)

    def start(self, user: str, service: str) -> Kerberos:
        """Make the realm with a user and a service, e.g. `host/localhost`, and wait until it answers."""
        for _ in range(_TRIES):
            port = free_port()  # another program may take the port before the KDC does
            self._configure(port)
            if not (self._folder / "principal").exists():
                self._run("kdb5_util", "create", "-s", "-P", _PASSWORD)
                self._run("kadmin.local", "addprinc", "-pw", _PASSWORD, user)
                self._run("kadmin.local", "addprinc", "-randkey", service)
                self._run("kadmin.local", "ktadd", "-k", str(self.keytab), service)
            self._process = spawn(["krb5kdc", "-n"], self._log, self.environment)
            if wait_until(self._settled, what="the KDC listens") == "listens":
                return self
        raise AssertionError(f"the KDC ends: {self._log.read_text()[-2000:]}")

    def kinit(self, user: str, *, lifetime: str = "1h") -> None:
        """Get a ticket as a user does, good for so long."""
        self._run("kinit", "-l", lifetime, user, text=f"{_PASSWORD}\n")

    def has_ticket(self) -> bool:
        """True while there is a ticket that is good."""
        words, given = ["klist", "-s"], os.environ | self.environment
        return subprocess.run(words, env=given, check=False).returncode == 0

    def close(self) -> None:
        """End it for good."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(60)
        self._guardian.close()

    def _configure(self, port: int) -> None:
        for name, text in (("krb5.conf", _CLIENT), ("kdc.conf", _SERVER)):
            (self._folder / name).write_text(text.format(realm=REALM, port=port, folder=self._folder))

    def _run(self, program: str, *words: str, text: str = "") -> None:
        line = [found_program(program) or program, *words]
        given = os.environ | self.environment
        done = subprocess.run(line, env=given, input=text, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{program}: {done.stdout}{done.stderr}"

    def _settled(self) -> str:
        assert self._process is not None
        if self._process.poll() is not None:
            return "ended"
        return "listens" if "commencing operation" in self._log.read_text() else ""
