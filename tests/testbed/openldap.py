"""A real OpenLDAP server with the GLUE schemas, laid out like the information systems of grids.

Needs the packages slapd, ldap-utils, glue-schema, bdii and openssl of Debian. Their own servers are not used
and need not run: each server here has its own folder and port.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterable
from pathlib import Path

from tests.testbed.ports import free_port
from tests.waiting import wait_until

PACKAGES = ("slapd", "ldap-utils", "glue-schema", "bdii", "openssl")
BASES = ("o=grid", "o=glue")
"""Where GLUE 1.3 and GLUE 2.0 entries hang."""
PASSWORD = "secret"
_TRIES = 10
_SCHEMAS = (
    *(f"/etc/ldap/schema/{name}.schema" for name in ("core", "cosine", "nis")),
    "/etc/bdii/BDII.schema",
    *(
        f"/etc/ldap/schema/{name}.schema"
        for name in ("Glue-CORE", "Glue-MDS", "Glue-CE", "Glue-CESEBind", "Glue-SE", "GLUE20")
    ),
)
_DATABASE = """
database mdb
suffix "{base}"
rootdn "{base}"
rootpw {password}
directory {directory}
maxsize 2147483648
dbnosync
index objectClass eq
index GlueSEUniqueID,GlueSALocalID pres
access to * by * read
"""


class Slapd:
    """One server process over its own folder; filled before it starts, since that is much faster."""

    def __init__(self, folder: Path, entries: Iterable[str] = (), *, encrypted: bool = False) -> None:
        """`entries`: LDIF records, parents before children, below `BASES` (which are made).

        `encrypted`: speak ldaps, with a certificate for localhost in `authority`.
        """
        program = shutil.which("slapd", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
        if program is None:
            raise RuntimeError(f"OpenLDAP is missing; apt-get install {' '.join(PACKAGES)}")
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._encrypted = encrypted
        self.authority = folder / "certificate.pem"
        self.port = 0
        self._tries = 0
        folder.mkdir(parents=True)
        # A copy, because some systems let the installed program use nothing but the system's own folders.
        self._program = shutil.copy(program, folder / "slapd")
        self._configure()
        self._fill(entries)

    @property
    def address(self) -> str:
        """`ldap://127.0.0.1:port`; the port stays when it is started again."""
        return f"ldaps://localhost:{self.port}" if self._encrypted else f"ldap://127.0.0.1:{self.port}"

    def start(self) -> str:
        """Start it and wait until it answers; returns its address."""
        if self.port:
            self._spawn()
        while not self.port or wait_until(self._is_settled, what="slapd answers") == "ended":
            self.port = free_port()  # another program may take the port before slapd does
            self._spawn()
        return self.address

    def _spawn(self) -> None:
        words = [self._program, "-f", str(self._folder / "slapd.conf"), "-h", self.address, "-d", "0"]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self._tries += 1
        if self._tries > _TRIES:
            self.close()
            raise AssertionError(f"slapd ends: {(self._folder / 'log').read_text()[-2000:]}")

    def signal(self, number: signal.Signals) -> None:
        """Stop, continue or kill the process."""
        assert self._process is not None
        self._process.send_signal(number)

    def close(self) -> None:
        """End it; harmless when it has ended."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(60)
            self._process = None

    def modify(self, ldif: str) -> None:
        """Apply changes (LDIF with `changetype`) to the running server."""
        base = next(base for base in BASES if base in ldif)
        words = ["ldapmodify", "-x", "-H", self.address, "-D", base, "-w", PASSWORD]
        subprocess.run(words, input=ldif.encode(), check=True, capture_output=True)

    def _is_settled(self) -> str:
        """`answers` or `ended`; empty while neither is so."""
        assert self._process is not None
        try:
            with socket.create_connection(("127.0.0.1", self.port), 1.0):
                answers = True
        except OSError:
            answers = False
        if self._process.poll() is not None:
            return "ended"
        return "answers" if answers else ""

    def _configure(self) -> None:
        lines = [f"include {schema}" for schema in _SCHEMAS]
        lines += ["allow bind_v2", f"pidfile {self._folder}/pid", "modulepath /usr/lib/ldap"]
        lines += ["moduleload back_mdb", "sizelimit unlimited", "threads 4"]
        if self._encrypted:
            lines += self._certificate()
        for base in BASES:
            directory = self._folder / base.partition("=")[2]
            directory.mkdir()
            lines.append(_DATABASE.format(base=base, password=PASSWORD, directory=directory))
        (self._folder / "slapd.conf").write_text("\n".join(lines))

    def _certificate(self) -> list[str]:
        """Settings for a certificate that signs itself."""
        key = self._folder / "key.pem"
        words = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost"
        words += " -addext subjectAltName=DNS:localhost"
        files = ["-keyout", str(key), "-out", str(self.authority)]
        subprocess.run([*words.split(), *files], check=True, capture_output=True)
        return [f"TLSCertificateFile {self.authority}", f"TLSCertificateKeyFile {key}"]

    def _fill(self, entries: Iterable[str]) -> None:
        """Each record goes into the database under whose base its name lies."""
        parts = {
            base: [f"dn: {base}\nobjectClass: organization\n{base.replace('=', ': ')}"] for base in BASES
        }
        for entry in entries:
            parts[next(base for base in BASES if entry.partition("\n")[0].endswith(base))].append(entry)
        for number, base in enumerate(BASES, 1):
            done = subprocess.run(
                [self._program, "-Tadd", "-q", "-f", str(self._folder / "slapd.conf"), "-n", str(number)],
                input="\n\n".join(parts[base]).encode() + b"\n",
                capture_output=True,
            )
            assert done.returncode == 0, done.stderr.decode()[-2000:]
