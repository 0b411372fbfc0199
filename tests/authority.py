"""A certificate authority for tests."""

import ipaddress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from services.chassis.trust import Tls


class Authority:
    """Issues certificates."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test CA")])
        self.certificate = (
            _certificate(name, name, self.key.public_key(), days=1)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(self.key, hashes.SHA256())
        )

    def issue(self, name: str, *, hosts=("127.0.0.1",), days=1.0, folder="") -> Tls:
        """A certificate with this name, a DNS name or a URI, and good for these hosts.

        Written to a folder named as the certificate, or as given, over what is there.
        """
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "not to be looked at")])
        own = x509.UniformResourceIdentifier(name) if "://" in name else x509.DNSName(name)
        names = [own, *(x509.IPAddress(ipaddress.ip_address(host)) for host in hosts)]
        certificate = (
            _certificate(subject, self.certificate.subject, key.public_key(), days=days)
            .add_extension(x509.SubjectAlternativeName(names), critical=False)
            .sign(self.key, hashes.SHA256())
        )
        place = self.directory / (folder or name.rpartition("/")[2])
        place.mkdir(parents=True, exist_ok=True)
        private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        (place / "tls.crt").write_bytes(certificate.public_bytes(Encoding.PEM))
        (place / "tls.key").write_bytes(private)
        (place / "ca.crt").write_bytes(self.certificate.public_bytes(Encoding.PEM))
        return Tls(place / "tls.crt", place / "tls.key", place / "ca.crt")


def settings_of(tls: Tls) -> dict[str, Path]:
    """As the settings have it."""
    return {"tls_certificate": tls.certificate, "tls_key": tls.key, "tls_ca": tls.ca}


def serial(tls: Tls) -> int:
    return x509.load_pem_x509_certificate(tls.certificate.read_bytes()).serial_number


def _certificate(subject, issuer, public_key, *, days) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    begin = now - timedelta(days=2)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public_key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(begin)
        .not_valid_after(now + timedelta(days=days))
    )
