"""The numbers of the wire that both ends have to agree on."""

# A message may have as many bytes in either direction; files are streamed in chunks.
MAX_MESSAGE_BYTES = 16 * 1024 * 1024

# Published to client developers: a client may ping every 10 s, with or without calls. The server
# tolerates half of it, so that a ping which travels faster than the one before is no offence.
PING_SECONDS = 10.0

# Longer than any deadline: a connection that is given up for its age never cuts a call short.
_AGE_GRACE_SECONDS = 3600

# A token that names hundreds of groups has more than the 8 KiB of gRPC's own limit.
MAX_METADATA_BYTES = 32 * 1024

MESSAGE_LIMITS = (
    ("grpc.max_metadata_size", MAX_METADATA_BYTES),
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
)


def server_options(max_age_seconds: float) -> list[tuple[str, int]]:
    """Options of every server.

    Args:
        max_age_seconds: After which a client is asked to connect anew, and so sees new pods; gRPC
            adds a jitter of ten per cent.
    """
    # gRPC passes over a name that it does not know.
    return [
        *MESSAGE_LIMITS,
        # A second server on the same port is a mistake, not a load balancer.
        ("grpc.so_reuseport", 0),
        ("grpc.max_connection_age_ms", round(max_age_seconds * 1000)),
        ("grpc.max_connection_age_grace_ms", _AGE_GRACE_SECONDS * 1000),
        ("grpc.http2.min_ping_interval_without_data_ms", round(PING_SECONDS / 2 * 1000)),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.keepalive_time_ms", 60_000),
        ("grpc.keepalive_timeout_ms", 20_000),
    ]


def client_options(service_config: str) -> list[tuple[str, int | str]]:
    """Options of every channel: a dead peer is noticed within 20 s, one that is back within 2 s."""
    return [
        *MESSAGE_LIMITS,
        ("grpc.service_config", service_config),
        ("grpc.enable_retries", 1),
        # Services are neighbours; a proxy for the web that the shell names is not the way to them.
        ("grpc.enable_http_proxy", 0),
        ("grpc.keepalive_time_ms", round(PING_SECONDS * 1000)),
        ("grpc.keepalive_timeout_ms", 10_000),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.max_pings_without_data", 0),
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.max_reconnect_backoff_ms", 2_000),
        ("grpc.dns_min_time_between_resolutions_ms", 5_000),
    ]
