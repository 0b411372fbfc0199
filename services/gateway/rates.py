"""How often one client may ask: a bucket of tokens for each address, in bounded memory."""

import ipaddress
from collections import OrderedDict

MOST_CLIENTS = 10_000
# One household or server has this much of IPv6; counting single addresses would count nothing.
IPV6_PREFIX = 64


class Rates:
    """Buckets that fill steadily and hold a burst; the client not seen for longest is forgotten.

    Args:
        per_second: Requests that a client may send on and on; 0: any number.
        burst: Requests that it may send at once, after a pause.
        most_clients: Clients that are remembered.
    """

    def __init__(self, per_second: float, burst: int, most_clients: int = MOST_CLIENTS) -> None:
        self._per_second, self._burst, self._most = per_second, float(burst), most_clients
        # Client: its tokens, and when it had them.
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, address: str, now: float) -> float:
        """Takes a token; the seconds until there is one when there is none now, else 0."""
        if not self._per_second:
            return 0.0
        key = client_of(address)
        tokens, then = self._buckets.pop(key, (self._burst, now))
        tokens = min(self._burst, tokens + max(0.0, now - then) * self._per_second)
        allowed = tokens >= 1
        self._buckets[key] = (tokens - allowed, now)
        if len(self._buckets) > self._most:
            self._buckets.popitem(last=False)
        return 0.0 if allowed else (1 - tokens) / self._per_second


def client_of(address: str) -> str:
    """The address, or the network of an IPv6 one; what is no address is one client."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return ""
    if found.version == 4 or found.ipv4_mapped:  # noqa: PLR2004 - the version's name
        return str(found.ipv4_mapped if found.version != 4 else found)  # noqa: PLR2004
    return str(ipaddress.ip_network((found, IPV6_PREFIX), strict=False))
