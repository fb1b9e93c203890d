"""A certificate authority of a test: host and user certificates, and proxies as grid users make them."""

from __future__ import annotations

import datetime
import subprocess
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_DOMAIN = ((NameOID.DOMAIN_COMPONENT, "org"), (NameOID.DOMAIN_COMPONENT, "example"))
_PROXY_INFO = x509.UnrecognizedExtension(
    # ProxyCertInfo of RFC 3820 with the policy "inherit all", in DER.
    x509.ObjectIdentifier("1.3.6.1.5.5.7.1.14"),
    bytes.fromhex("300c300a06082b06010505071501"),
)


@dataclass(frozen=True, slots=True)
class Pair:
    """A certificate and its key, as files."""

    certificate: Path
    key: Path
    subject: str
    """As grid software writes it: `/DC=org/DC=example/CN=alice`."""


class Authority:
    """One authority; `directory` is what a grid host has in `/etc/grid-security/certificates`."""

    def __init__(self, folder: Path, name: str = "Test Authority") -> None:
        self.directory = folder / "certificates"
        self.directory.mkdir(parents=True)
        self._folder = folder
        self._name = _named(name)
        self._key = rsa.generate_private_key(65537, 2048)
        usage = x509.KeyUsage(False, False, False, False, False, True, True, False, False)
        made = self._begun(self._name, self._key.public_key(), days=2)
        made = made.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        self._certificate = made.add_extension(usage, critical=True).sign(self._key, hashes.SHA256())
        self.file = self.directory / f"{name.replace(' ', '')}.pem"
        self.file.write_bytes(_pem(self._certificate))
        words = ["openssl", "x509", "-hash", "-noout", "-in", str(self.file)]
        found = subprocess.run(words, capture_output=True, check=True, text=True).stdout.strip()
        (self.directory / f"{found}.0").symlink_to(self.file.name)

    def host(self, name: str = "localhost") -> Pair:
        """A certificate for a server."""
        key = rsa.generate_private_key(65537, 2048)
        made = self._begun(_named(f"host/{name}"), key.public_key(), days=2)
        made = made.add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        purposes = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH])
        made = made.add_extension(purposes, critical=False)
        return self._kept(f"host-{name}", made.sign(self._key, hashes.SHA256()), key, f"host/{name}")

    def user(self, name: str, *, days: float = 2) -> Pair:
        """A certificate of a person; with a negative number of `days` it has expired."""
        key = rsa.generate_private_key(65537, 2048)
        made = self._begun(_named(name), key.public_key(), days=days)
        return self._kept(f"user-{name}", made.sign(self._key, hashes.SHA256()), key, name)

    def protected(self, pair: Pair, passphrase: str, to: Path) -> Pair:
        """The same certificate with its key under a passphrase, in another file."""
        key = serialization.load_pem_private_key(pair.key.read_bytes(), None)
        assert isinstance(key, rsa.RSAPrivateKey)
        to.touch(0o600)
        to.write_bytes(_private(key, passphrase))
        return Pair(pair.certificate, to, pair.subject)

    def proxy(self, pair: Pair, to: Path, *, hours: float = 12) -> Path:
        """A proxy for a user whose key has no passphrase, in one file: certificate, key, chain."""
        user = x509.load_pem_x509_certificate(pair.certificate.read_bytes())
        signing = serialization.load_pem_private_key(pair.key.read_bytes(), None)
        assert isinstance(signing, rsa.RSAPrivateKey)
        key = rsa.generate_private_key(65537, 2048)
        number = x509.random_serial_number() & 0x7FFFFFFF
        subject = x509.Name([*user.subject, x509.NameAttribute(NameOID.COMMON_NAME, str(number))])
        made = self._begun(subject, key.public_key(), days=hours / 24, issuer=user.subject)
        usage = x509.KeyUsage(True, False, True, False, False, False, False, False, False)
        made = made.add_extension(usage, critical=True).add_extension(_PROXY_INFO, critical=True)
        proxy = made.sign(signing, hashes.SHA256())
        fresh = to.with_name(f"{to.name}.new")
        fresh.touch(0o600)
        fresh.write_bytes(_pem(proxy) + _private(key) + _pem(user))
        return fresh.rename(to)

    def _begun(
        self, subject: x509.Name, key: rsa.RSAPublicKey, *, days: float, issuer: x509.Name | None = None
    ) -> x509.CertificateBuilder:
        now = datetime.datetime.now(datetime.UTC)
        until = now + datetime.timedelta(days=days)
        since = min(now, until) - datetime.timedelta(hours=1)
        made = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer or self._name)
        made = made.public_key(key).serial_number(x509.random_serial_number())
        return made.not_valid_before(since).not_valid_after(until)

    def _kept(self, file: str, made: x509.Certificate, key: rsa.RSAPrivateKey, name: str) -> Pair:
        pair = Pair(
            self._folder / f"{file}-cert.pem",
            self._folder / f"{file}-key.pem",
            f"/DC=org/DC=example/CN={name}",
        )
        pair.certificate.write_bytes(_pem(made))
        pair.key.touch(0o600)
        pair.key.write_bytes(_private(key))
        return pair


def _named(name: str) -> x509.Name:
    parts = (*_DOMAIN, (NameOID.COMMON_NAME, name))
    return x509.Name([x509.NameAttribute(kind, value) for kind, value in parts])


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _private(key: rsa.RSAPrivateKey, passphrase: str = "") -> bytes:
    how: serialization.KeySerializationEncryption = serialization.NoEncryption()
    if passphrase:
        how = serialization.BestAvailableEncryption(passphrase.encode())
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, how)
