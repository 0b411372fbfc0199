"""Whether the settings of all services together are safe where they are used; pure."""

from collections.abc import Mapping
from ipaddress import ip_address

from cli.checks.finding import Finding, fine, warning


def judge(settings: Mapping[str, Mapping[str, object]]) -> list[Finding]:
    """By service: `auth`, `profile`, `tls`, `bind` (and `gateway_bind`) of its settings."""
    found = []
    for service, one in settings.items():
        bind = str(one.get("gateway_bind") or one.get("bind") or "")
        if _is_loopback(bind):
            continue
        if one.get("auth") in ("", "none"):
            auth = one.get("auth") or "empty"
            says = f"whoever reaches {bind} may do everything: VERITY_AUTH is {auth}"
            found.append(warning(f"{service} policy", says, "set VERITY_AUTH to jwt or mtls"))
        if not one.get("tls") and service != "gateway":
            says = f"calls to {bind} go in the clear"
            mend = "set VERITY_TLS_CERTIFICATE, _KEY and _CA, or let a mesh encrypt"
            found.append(warning(f"{service} policy", says, mend))
        if one.get("profile") == "dev":
            says = f"{bind} is open to others, and VERITY_PROFILE is dev: reflection is on"
            found.append(warning(f"{service} policy", says, "set VERITY_PROFILE=prod"))
    kinds = {str(one.get("auth")) for one in settings.values()}
    if len(kinds) > 1:
        listed = ", ".join(sorted(kind or "empty" for kind in kinds))
        says = f"services know callers in different ways: VERITY_AUTH is {listed}"
        found.append(warning("policy", says, "give all services the same VERITY_AUTH"))
    return found or [fine("policy", "only this machine is let in unasked")]


def _is_loopback(bind: str) -> bool:
    host = bind.rpartition(":")[0].strip("[]")
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
