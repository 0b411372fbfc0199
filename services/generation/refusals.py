"""What goes wrong between us and a model's endpoint, in names of our own, without its texts."""

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus

import httpx2
import openai
import structlog
from langchain_core.exceptions import ContextOverflowError

from services.chassis.errors import Overloaded, Unavailable
from services.generation.drafter import Failure, NoDraft

_BACK_OFF_SECONDS = 1.0
_MAX_BACK_OFF_SECONDS = 60.0
_BAD_REQUEST = frozenset((400, 404, 422, 501))
_HINTS = {
    400: "; it may not know the structured output mode, see VERITY_STRUCTURED_OUTPUT",
    401: "; check OPENAI_API_KEY",
    403: "; check OPENAI_API_KEY",
    404: "; check VERITY_MODEL and OPENAI_BASE_URL",
    413: "; set VERITY_MODEL_CONTEXT_TOKENS",
}
# What an endpoint complains of, by the words of its error: read here, neither kept nor passed on.
_ABOUT = {
    name: re.compile(words, re.IGNORECASE)
    for name, words in (
        ("context", r"context.?(?:length|window|size)|maximum context|too many tokens|too long"),
        ("temperature", r"temperature"),
        ("tokens", r"max_(?:completion_)?tokens"),
        ("stream_options", r"stream_options|include_usage"),
        ("mode", r"response_format|json|tools?\b|function|grammar|guided|schema"),
    )
}
_UNSUPPORTED = re.compile(
    r"(?:tools?|grammar|schema|format)\b.*(?:requires?|unsupported|not supported|failed to parse)",
    re.IGNORECASE,
)


class Rejected(Unavailable):
    """The endpoint does not take the request as it is: what `about` names is not for it."""

    def __init__(self, message: str, about: str) -> None:
        super().__init__(message)
        self.about = about


class TooLarge(httpx2.TransportError):
    """A reply is over the bound on bytes."""


@contextmanager
def named() -> Iterator[None]:
    """Gives each way in which a call can fail one of our own names, without the text it brings.

    LangChain and the SDK raise what they like when a reply is not what they expect, so all that
    is not foreseen here is a malformed reply.
    """
    try:
        yield
    except (NoDraft, Unavailable, Overloaded):
        raise
    except (TimeoutError, openai.APITimeoutError):
        raise Unavailable("The model did not answer in time; try again.") from None
    except openai.APIConnectionError as error:
        if any(isinstance(cause, TooLarge) for cause in _causes(error)):
            raise NoDraft(Failure.TOO_LARGE) from None
        raise Unavailable(
            "The model's endpoint cannot be reached; check OPENAI_BASE_URL."
        ) from None
    except ContextOverflowError:
        raise Rejected(f"The request is too long for the model{_HINTS[413]}.", "context") from None
    except openai.RateLimitError as refused:
        raise Overloaded(
            "The model's endpoint takes no more requests for now; try again.",
            retry_after=_retry_after(refused.response.headers.get("retry-after", "")),
        ) from None
    except openai.APIStatusError as refused:
        raise _rejection(refused) from None
    except TooLarge:
        raise NoDraft(Failure.TOO_LARGE) from None
    except Exception as error:  # noqa: BLE001 - see above
        structlog.get_logger().warning("model_reply_malformed", error=type(error).__name__)
        raise NoDraft(Failure.MALFORMED) from None


def _rejection(refused: openai.APIStatusError) -> Unavailable:
    code = refused.status_code
    about = _about(refused)
    structlog.get_logger().warning("model_endpoint_refused", http_status=code, about=about)
    hint = _HINTS[413] if about == "context" else _HINTS.get(code, "")
    message = f"The model's endpoint answered HTTP {code}{hint}."
    if about or code == HTTPStatus.BAD_REQUEST:
        return Rejected(message, about or "mode")
    return Unavailable(message)


def _causes(error: BaseException) -> Iterator[BaseException]:
    while cause := error.__cause__:
        yield cause
        error = cause


def _about(refused: openai.APIStatusError) -> str:
    """What of the request the endpoint does not take; empty where that is not what it says."""
    said = f"{refused.param or ''} {refused.code or ''} {refused.message}"
    if refused.status_code == HTTPStatus.INTERNAL_SERVER_ERROR:  # llama.cpp's server.
        return "mode" if _UNSUPPORTED.search(said) else ""
    if refused.status_code not in _BAD_REQUEST:
        return ""
    return next((name for name, words in _ABOUT.items() if words.search(said)), "")


def _retry_after(header: str) -> float:
    try:
        asked = float(header)
    except ValueError:  # A date, or nothing.
        return _BACK_OFF_SECONDS
    return (
        min(max(asked, 0.0), _MAX_BACK_OFF_SECONDS) if math.isfinite(asked) else _BACK_OFF_SECONDS
    )
