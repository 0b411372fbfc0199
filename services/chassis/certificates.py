"""The files of TLS, read anew when they change; what cannot be used leaves the last good in use."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import grpc
import structlog
from cryptography import x509
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from services.chassis.trust import Tls

_Signature = tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, slots=True)
class Material:
    """What the files hold, checked."""

    certificate: bytes
    key: bytes
    ca: bytes


class Files:
    """The material of now. Safe to use on any thread: gRPC asks on its own.

    Raises ValueError at once when what is there at the start cannot be used.
    """

    def __init__(
        self, tls: Tls, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._tls, self._now = tls, now
        self._lock = threading.Lock()
        self._seen = self._signature()
        self._good = self._load()
        self._log = structlog.get_logger(__name__).bind()

    def current(self) -> Material:
        """Read again where a file has changed since."""
        with self._lock:
            seen = self._signature()
            if seen != self._seen:
                self._seen = seen
                try:
                    self._good = self._load()
                except ValueError as error:
                    # Half of a change, as a rule; the other half changes a file again.
                    self._log.error("certificate_not_reloaded", reason=str(error))
                else:
                    self._log.info("certificate_reloaded")
            return self._good

    def _signature(self) -> _Signature:
        found = []
        for path in (self._tls.certificate, self._tls.key, self._tls.ca):
            try:
                stat = path.stat()
            except OSError:
                found.append((0, 0, 0))
            else:
                found.append((stat.st_mtime_ns, stat.st_ino, stat.st_size))
        return tuple(found)

    def _load(self) -> Material:
        tls = self._tls
        material = Material(
            _read(tls.certificate, "VERITY_TLS_CERTIFICATE"),
            _read(tls.key, "VERITY_TLS_KEY"),
            _read(tls.ca, "VERITY_TLS_CA"),
        )
        try:
            certificate = x509.load_pem_x509_certificates(material.certificate)[0]
        except (ValueError, IndexError) as error:
            raise ValueError("VERITY_TLS_CERTIFICATE holds no certificate in PEM") from error
        if certificate.not_valid_after_utc <= self._now():
            raise ValueError("VERITY_TLS_CERTIFICATE has expired")
        try:
            key = load_pem_private_key(material.key, None)
        except (ValueError, TypeError) as error:
            raise ValueError("VERITY_TLS_KEY holds no private key in PEM") from error
        if key.public_key() != certificate.public_key():
            raise ValueError("VERITY_TLS_KEY is not the key of VERITY_TLS_CERTIFICATE")
        try:
            x509.load_pem_x509_certificates(material.ca)
        except ValueError as error:
            raise ValueError("VERITY_TLS_CA holds no certificate in PEM") from error
        return material


def server_credentials(files: Files, *, asks_clients: bool) -> grpc.ServerCredentials:
    """Credentials that follow the files: each new connection is met with those of its moment.

    Args:
        files: The certificate, its key and the CA.
        asks_clients: Whether a client must have a certificate of the CA's.
    """
    told = [files.current()]

    def changed() -> grpc.ServerCertificateConfiguration | None:
        material = files.current()
        if material is told[0]:
            return None
        told[0] = material
        return _configuration(material)

    return grpc.dynamic_ssl_server_credentials(
        _configuration(told[0]),
        changed,  # type: ignore[arg-type]  # None is "no change", which the stubs do not know.
        require_client_authentication=asks_clients,
    )


def channel_credentials(material: Material) -> grpc.ChannelCredentials:
    """Ours, for a server whose certificate is of the CA's and has the name that was asked for."""
    return grpc.ssl_channel_credentials(material.ca, material.key, material.certificate)


def _configuration(material: Material) -> grpc.ServerCertificateConfiguration:
    return grpc.ssl_server_certificate_configuration(
        [(material.key, material.certificate)], root_certificates=material.ca
    )


def _read(path: Path, setting: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ValueError(f"{setting}: the file cannot be read") from error
