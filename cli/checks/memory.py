"""Whether Redis keeps what it is given: its policy, its version, its file, its room."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import AuthenticationError, RedisError

from cli.checks.finding import Finding, failure, fine, skipped, warning

_LEAST = (6, 2)
_FULL = 0.9


@dataclass(frozen=True, slots=True)
class Known:
    """What a server says of itself; `policy` is empty when it does not say."""

    info: Mapping[str, Any]
    policy: str
    clock: float | None = None


@dataclass(frozen=True, slots=True)
class Looked:
    """What was found, and what its clock said when ours said `at`."""

    findings: list[Finding]
    offsets: dict[str, float] = field(default_factory=dict)


async def look(url: str, now: Any, seconds: float) -> Looked:
    """All that is to be said of the server at a URL; `now` is this machine's clock."""
    client = Redis.from_url(
        url,
        socket_connect_timeout=seconds,
        socket_timeout=seconds,
        retry=Retry(NoBackoff(), 0),
        decode_responses=True,
    )
    try:
        async with client:
            before = now()
            server, micros = await client.time()
            offset = float(server) + float(micros) / 1e6 - (before + now()) / 2
            info = await client.info("all")
            try:
                policy = str((await client.config_get("maxmemory-policy"))["maxmemory-policy"])
            except (RedisError, KeyError):
                policy = str(info.get("maxmemory_policy", ""))
    except AuthenticationError:
        mend = "see the user and password of VERITY_REDIS_URL"
        return Looked([failure("redis", "refuses the user or the password", mend)])
    except (RedisError, OSError) as error:
        says = f"cannot be reached: {type(error).__name__}; answers come, and are not kept"
        return Looked([failure("redis", says, "start it, see VERITY_REDIS_URL")])
    return Looked(judge(Known(info, policy)), {"redis": offset})


def judge(known: Known) -> list[Finding]:
    """What the server's own words mean; pure."""
    info = known.info
    name = "Valkey" if "valkey_version" in info else "Redis"
    version = str(info.get("valkey_version") or info.get("redis_version", ""))
    return [
        _version(name, version),
        _policy(known.policy),
        _file(info),
        *_room(info),
        *_role(info),
    ]


def _version(name: str, version: str) -> Finding:
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdecimal())
    if numbers < _LEAST:
        says = f"{name} {version or 'of an unknown version'} is older than 6.2"
        return failure("redis version", says, "upgrade it to 6.2 or newer, or Valkey")
    return fine("redis version", f"{name} {version}")


def _policy(policy: str) -> Finding:
    if not policy:
        return skipped("redis policy", "the server does not say its maxmemory-policy")
    if policy != "noeviction":
        says = f"maxmemory-policy is {policy}: when memory runs out it drops answers without a word"
        mend = "CONFIG SET maxmemory-policy noeviction, and in its configuration"
        return failure("redis policy", says, mend)
    return fine("redis policy", "noeviction: nothing is dropped")


def _file(info: Mapping[str, Any]) -> Finding:
    if int(info.get("loading", 0)):
        return warning("redis file", "it is loading its data", "wait until it has")
    for state, what in (("aof_last_write_status", "AOF"), ("rdb_last_bgsave_status", "snapshot")):
        if info.get(state, "ok") != "ok":
            says = f"its last {what} could not be written"
            return failure("redis file", says, "see its log and the room on its disk")
    if not int(info.get("aof_enabled", 0)):
        says = "appendonly is off: a restart loses what was kept since its last snapshot"
        return warning("redis file", says, "CONFIG SET appendonly yes, and in its configuration")
    return fine("redis file", "appendonly is on")


def _room(info: Mapping[str, Any]) -> list[Finding]:
    most, used = int(info.get("maxmemory", 0)), int(info.get("used_memory", 0))
    if most and used > _FULL * most:
        says = (
            f"{100 * used // most}% of its maxmemory are used; when it is full nothing more is kept"
        )
        mend = "raise maxmemory, or lower VERITY_ANSWER_TTL_SECONDS"
        return [warning("redis memory", says, mend)]
    return []


def _role(info: Mapping[str, Any]) -> list[Finding]:
    if info.get("role") == "slave":
        says = "is a replica, which takes no writes"
        return [failure("redis role", says, "let VERITY_REDIS_URL name the primary")]
    return []
