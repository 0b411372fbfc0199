"""Whether a certificate, its key and its CA can be used now, and for how much longer; pure."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from cli.checks.finding import Finding, failure, fine, warning

SOON = timedelta(days=14)
_CERTIFICATE, _KEY, _CA = "VERITY_TLS_CERTIFICATE", "VERITY_TLS_KEY", "VERITY_TLS_CA"
_RENEW = "renew it; the services read the new files by themselves"


@dataclass(frozen=True, slots=True)
class Files:
    """What the three files hold; None where one cannot be read.

    Attributes:
        key_mode: The key's permissions, such as 0o600.
    """

    certificate: bytes | None
    key: bytes | None
    ca: bytes | None
    key_mode: int = 0o600


def judge(service: str, files: Files, now: datetime, names: Collection[str] = ()) -> list[Finding]:
    """All that is to be said of one service's files.

    Args:
        service: Whose they are.
        files: What they hold.
        now: The moment at which they are to be good.
        names: The host names under which others call it.
    """
    what = f"{service} certificate"
    unread = [
        failure(what, f"the file of {name} cannot be read", "mount it, readable for the service")
        for name, held in ((_CERTIFICATE, files.certificate), (_KEY, files.key), (_CA, files.ca))
        if held is None
    ]  # fmt: skip
    if unread or files.certificate is None or files.key is None or files.ca is None:
        return unread
    try:
        certificate = x509.load_pem_x509_certificates(files.certificate)[0]
    except (ValueError, IndexError):
        return [
            failure(what, f"{_CERTIFICATE} holds no certificate in PEM", "mount the right file")
        ]
    return [
        _window(what, certificate, now),
        *_key(what, certificate, files.key, files.key_mode),
        *_issuer(what, certificate, files, now),
        *_names(what, certificate, names),
    ]


def _window(what: str, certificate: x509.Certificate, now: datetime) -> Finding:
    begins, ends = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    if now >= ends:
        return failure(
            what, f"expired {_ago(now - ends)} ago, on {ends:%Y-%m-%d %H:%M} UTC", _RENEW
        )
    if now < begins:
        return failure(
            what,
            f"is not valid for another {_ago(begins - now)}, until {begins:%Y-%m-%d %H:%M} UTC",
            "look at this machine's clock first (NTP); else take a certificate that is valid now",
        )
    # A short-lived one is renewed by whoever made it: a third of its life is soon for those.
    if ends - now < min(SOON, (ends - begins) / 3):
        return warning(what, f"expires in {_ago(ends - now)}, on {ends:%Y-%m-%d %H:%M} UTC", _RENEW)
    return fine(what, f"valid until {ends:%Y-%m-%d %H:%M} UTC")


def _key(what: str, certificate: x509.Certificate, key: bytes, mode: int) -> list[Finding]:
    found = []
    try:
        if load_pem_private_key(key, None).public_key() != certificate.public_key():
            says = f"{_KEY} is not the key of {_CERTIFICATE}"
            found.append(failure(what, says, "mount the two that belong together"))
    except (ValueError, TypeError):
        says = f"{_KEY} holds no private key in PEM without a password"
        found.append(failure(what, says, "mount the right file"))
    # A mounted Secret is readable for the group that Kubernetes gives the pod.
    if mode & 0o027:
        says = f"the file of {_KEY} has mode {mode & 0o777:04o}: others than its owner may use it"
        found.append(warning(what, says, "chmod 0400, or defaultMode: 0440 of the Secret's volume"))
    return found


def _issuer(what: str, certificate: x509.Certificate, files: Files, now: datetime) -> list[Finding]:
    try:
        roots = x509.load_pem_x509_certificates(files.ca or b"")
        chain = x509.load_pem_x509_certificates(files.certificate or b"")[1:]
    except ValueError:
        return [failure(what, f"{_CA} holds no certificate in PEM", "mount the right file")]
    if not any(_issued(certificate, by) for by in (*chain, *roots)):
        says = f"was issued by none of {_CA}, so that the other services refuse it"
        return [failure(what, says, "give all services the CA that issues their certificates")]
    if all(root.not_valid_after_utc <= now for root in roots):
        return [failure(what, f"every certificate of {_CA} has expired", "renew the CA")]
    return []


def _issued(certificate: x509.Certificate, by: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(by)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def _names(what: str, certificate: x509.Certificate, names: Collection[str]) -> list[Finding]:
    try:
        held = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        says = "has no subject alternative name, so that no client takes it"
        return [failure(what, says, "issue it with the names under which the service is called")]
    own = {name.lower() for name in held.get_values_for_type(x509.DNSName)}
    own |= {str(address) for address in held.get_values_for_type(x509.IPAddress)}
    wanted = {name.lower() for name in names}
    missing = sorted(name for name in wanted if not _covered(name, own))
    if missing:
        says = f"is not for {', '.join(missing)}, as others call the service"
        return [failure(what, says, "issue it with these names too, or call it by one that it has")]
    return []


def _covered(name: str, own: Collection[str]) -> bool:
    _, _, parent = name.partition(".")
    return name in own or f"*.{parent}" in own


def _ago(span: timedelta) -> str:
    seconds = span.total_seconds()
    for unit, length in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} seconds"
