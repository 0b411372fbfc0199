"""Names whose addresses come and go: a DNS server on loopback, as a headless Service has it."""

import contextlib
import socket
import struct
import threading
from collections.abc import Iterator

A, IN = 1, 1
TTL_SECONDS = 1
ANSWERED = 0x8180  # A response, recursion available, no error.


class Names:
    """Answers A queries from `addresses`, which a test changes; every other query has no answer."""

    def __init__(self, listener: socket.socket) -> None:
        self.addresses: dict[str, list[str]] = {}
        self.asked = 0
        self._listener = listener

    def target(self, name: str, port: int) -> str:
        """A gRPC target that is resolved here."""
        host, own = self._listener.getsockname()
        return f"dns://{host}:{own}/{name}:{port}"

    def serve(self) -> None:
        while True:
            query, peer = self._listener.recvfrom(4096)
            if not query:
                return
            self.asked += 1
            self._listener.sendto(self._reply(query), peer)

    def _reply(self, query: bytes) -> bytes:
        name, end = _name(query)
        kind, _ = struct.unpack_from("!HH", query, end)
        found = self.addresses.get(name, []) if kind == A else []
        header = struct.pack("!2sHHHHH", query[:2], ANSWERED, 1, len(found), 0, 0)
        # The name is that of the question, which begins at byte 12.
        answers = [
            struct.pack("!HHHIH4s", 0xC00C, A, IN, TTL_SECONDS, 4, socket.inet_aton(address))
            for address in found
        ]
        return b"".join([header, query[12 : end + 4], *answers])


def _name(query: bytes) -> tuple[str, int]:
    labels, at = [], 12
    while length := query[at]:
        labels.append(query[at + 1 : at + 1 + length].decode().lower())
        at += 1 + length
    return ".".join(labels), at + 1


@contextlib.contextmanager
def naming() -> Iterator[Names]:
    """Serves until it is left."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind(("127.0.0.1", 0))
        names = Names(listener)
        thread = threading.Thread(target=names.serve, daemon=True)
        thread.start()
        try:
            yield names
        finally:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
                last.sendto(b"", listener.getsockname())
            thread.join(5)
