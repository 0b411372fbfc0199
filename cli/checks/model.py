"""Whether the model's endpoint answers, takes the key, and has the model."""

import asyncio
import json
import time
import urllib.error
import urllib.request
from collections.abc import Mapping

from cli.checks import clocks
from cli.checks.finding import Finding, failure, fine, warning

_OK, _UNAUTHORIZED, _FORBIDDEN, _SERVER = 200, 401, 403, 500


async def look(
    url: str, headers: Mapping[str, str], model: str, seconds: float
) -> tuple[list[Finding], dict[str, float]]:
    """What is to be said of it, and what its clock says. The list of models costs nothing."""
    before = time.time()
    status, body, date = await asyncio.to_thread(_get, f"{url}/models", headers, seconds)
    offsets = {}
    if date:
        offsets["the model's endpoint"] = clocks.by_date(date, before, time.time())
    return [judge(status, body, model)], offsets


def judge(status: int, body: bytes, model: str) -> Finding:
    """What a reply means; pure. Status 0: there was none."""
    if not status:
        return failure("model", "nothing answers at OPENAI_BASE_URL", "start it, or mend the URL")
    if status in (_UNAUTHORIZED, _FORBIDDEN):
        return failure("model", f"refuses the key ({status})", "see OPENAI_API_KEY")
    if status >= _SERVER:
        return failure("model", f"answers {status}", "see its own log or status page")
    listed = _listed(body) if status == _OK else []
    if not listed:
        return fine("model", "answers; it does not list its models")
    if model not in listed:
        says = f"does not list {model}"
        return warning("model", says, "see VERITY_MODEL; pull or serve that model")
    return fine("model", f"answers, and has {model}")


def _listed(body: bytes) -> list[str]:
    try:
        return [str(one["id"]) for one in json.loads(body)["data"]]
    except (ValueError, KeyError, TypeError):
        return []


def _get(url: str, headers: Mapping[str, str], seconds: float) -> tuple[int, bytes, str]:
    try:
        request = urllib.request.Request(url, headers=dict(headers))  # noqa: S310 - the user's own
        with urllib.request.urlopen(request, timeout=seconds) as reply:  # noqa: S310
            return reply.status, reply.read(2**20), reply.headers.get("Date", "")
    except urllib.error.HTTPError as error:
        with error:
            return error.code, b"", error.headers.get("Date", "")
    except (OSError, ValueError):
        return 0, b"", ""
