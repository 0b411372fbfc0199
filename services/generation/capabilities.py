"""Which modes an endpoint takes: found by asking it, and by what it says to real requests."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import structlog

from services.chassis.errors import Overloaded, Unavailable
from services.generation import strict_json
from services.generation.drafter import NoDraft
from services.generation.model import Model, Request
from services.generation.modes import Form, Mode, instruction
from services.generation.refusals import Rejected

# Where the endpoint does not say what its model takes.
DEFAULT_CONTEXT_TOKENS = 16_384
_FORM = Form(
    "readiness",
    {
        "type": "object",
        "properties": {"ready": {"type": "boolean"}},
        "required": ["ready"],
        "additionalProperties": False,
        "title": "readiness",
    },
)
# Where a schema binds, the words need not: an endpoint that passes over it gives itself away.
_ASKED = "Are you ready?"
_ASKED_FOR_JSON = 'Are you ready? Reply with JSON and nothing else: {"ready": true}'
_PROBE_TOKENS = 256
_ONE_SECONDS = 10.0
_ALL_SECONDS = 30.0
_AGAIN_SECONDS = 15.0
_PATIENCE_SECONDS = 5.0


class Capabilities:
    """What is known of an endpoint. Never the reason why a draft is not made.

    Args:
        model: The endpoint's model.
        pinned: The mode that the settings name; None: as the endpoint was found to do best.
        context_tokens: What the model takes; 0: as the endpoint says.
    """

    def __init__(self, model: Model, pinned: Mode | None = None, context_tokens: int = 0) -> None:
        self._model = model
        self._pinned = pinned
        self._context_tokens = context_tokens
        self._best: Mode | None = None
        self._refused: set[Mode] = set()
        self._probing: asyncio.Task[None] | None = None
        self._probed_at = -_AGAIN_SECONDS
        self._log = structlog.get_logger()

    @property
    def context_tokens(self) -> int:
        """What a request and its reply may have together."""
        return self._context_tokens or DEFAULT_CONTEXT_TOKENS

    async def mode(self, asked: str = "") -> Mode:
        """The mode for the next request: that of the settings, the one asked for, or the best."""
        if self._pinned:
            return self._pinned
        self.probe()
        if self._probing:
            await asyncio.wait({self._probing}, timeout=_PATIENCE_SECONDS)
        usable = [mode for mode in Mode if mode not in self._refused] or [Mode.PROMPT]
        if asked in usable:
            return Mode(asked)
        return self._best if self._best in usable and self._best else usable[0]

    def rejected(self, rejected: Rejected, mode: Mode) -> None:
        """Learns from a request that the endpoint did not take."""
        if self._model.learn(rejected):
            return
        if rejected.about == "context":
            self._context_tokens = self.context_tokens * 3 // 4
        elif mode is not Mode.PROMPT:
            self._refused.add(mode)
            if mode is self._best:
                self._best = None

    def probe(self) -> None:
        """Starts to ask the endpoint, unless it is known or was asked just now."""
        if self._best or self._pinned or self._probing:
            return
        if time.monotonic() - self._probed_at < _AGAIN_SECONDS:
            return
        self._probing = asyncio.create_task(self._probe())
        self._probing.add_done_callback(self._probed)

    async def close(self) -> None:
        """Stops asking."""
        if self._probing:
            self._probing.cancel()
            with suppress(asyncio.CancelledError):
                await self._probing

    def _probed(self, task: asyncio.Task[None]) -> None:
        self._probing = None
        self._probed_at = time.monotonic()
        if not task.cancelled() and task.exception():
            self._log.warning("model_probe_failed", error=type(task.exception()).__name__)

    async def _probe(self) -> None:
        """Asks in each mode until one binds; the first that is merely taken is second best."""
        taken: Mode | None = None
        if self._refused >= set(Mode) - {Mode.PROMPT}:
            self._refused.clear()  # It turned down everything: that was not for the mode's sake.
        try:
            async with asyncio.timeout(_ALL_SECONDS):
                if not self._context_tokens:
                    with suppress(Unavailable, Overloaded, NoDraft):
                        self._context_tokens = await self._model.context_tokens()
                for mode in Mode:
                    if mode in self._refused:
                        continue
                    binds = await self._try(mode)
                    if binds:
                        self._best = mode
                        break
                    if binds is not None:
                        taken = taken or mode
        except (Unavailable, Overloaded, TimeoutError) as failed:
            self._log.warning("model_probe_failed", error=type(failed).__name__)
        self._best = self._best or taken
        self._log.info(
            "model_probed", mode=self._best or "unknown", context_tokens=self.context_tokens
        )

    async def _try(self, mode: Mode) -> bool | None:
        """Whether the mode binds the model; None where the endpoint does not take it."""
        asked = _ASKED if mode in {Mode.JSON_SCHEMA, Mode.FUNCTION_CALLING} else _ASKED_FOR_JSON
        system = "You answer in one word." + instruction(mode, _FORM)
        for _ in range(3):  # Each time with one parameter less, where it is a parameter.
            try:
                async with asyncio.timeout(_ONE_SECONDS):
                    request = Request(system, asked, mode, _FORM, _PROBE_TOKENS)
                    completion = await self._model.complete(request)
                return _is_ready(strict_json.loads(completion.text))
            except Rejected as rejected:
                if not self._model.learn(rejected):
                    self._refused.add(mode)
                    return None
            except NoDraft:
                return False
        return None


def _is_ready(value: object) -> bool:
    return isinstance(value, dict) and set(value) == {"ready"} and isinstance(value["ready"], bool)


@asynccontextmanager
async def known(
    model: Model, pinned: Mode | None = None, context_tokens: int = 0
) -> AsyncIterator[Capabilities]:
    """The endpoint's capabilities, asked for from now on, in the background."""
    capabilities = Capabilities(model, pinned, context_tokens)
    capabilities.probe()
    try:
        yield capabilities
    finally:
        await capabilities.close()
