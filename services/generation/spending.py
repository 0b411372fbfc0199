"""What a model costs: counted by tokens and by price, and bounded by the hour."""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from opentelemetry.trace import Span

from services.chassis import telemetry
from services.chassis.errors import Overloaded
from services.generation.drafter import Usage

# Attribute names of OpenTelemetry's GenAI conventions, which are still in development.
OPERATION = "gen_ai.operation.name"
PROVIDER = "gen_ai.provider.name"
MODEL = "gen_ai.request.model"
FINISH = "gen_ai.response.finish_reasons"
_INPUT_TOKENS = "gen_ai.usage.input_tokens"
_OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
_TOKEN_TYPE = "gen_ai.token.type"  # noqa: S105 - no secret
_ESTIMATED = "verity.tokens.estimated"
_HOUR = 3600.0
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Prices:
    """What a million tokens cost, in whatever currency; and the tokens that an hour may cost.

    Attributes:
        input: Of what is asked.
        output: Of what is answered.
        tokens_per_hour: 0: as many as may be.
    """

    input: float = 0.0
    output: float = 0.0
    tokens_per_hour: int = 0


class Spending:
    """Counts, and says when enough was spent."""

    def __init__(
        self, model: str, prices: Prices, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._model = model
        self._prices = prices
        self._clock = clock
        self._spent = deque[tuple[float, int]]()
        self._tokens = telemetry.meter().create_counter(
            "verity.generation.tokens", unit="{token}", description="Tokens spent on drafts."
        )
        self._cost = telemetry.meter().create_counter(
            "verity.generation.cost",
            unit="{price}",
            description="What they cost, by the prices that the settings name.",
        )

    def check(self) -> None:
        """Raises Overloaded when the hour's tokens are spent."""
        now = self._clock()
        while self._spent and self._spent[0][0] <= now - _HOUR:
            self._spent.popleft()
        if 0 < self._prices.tokens_per_hour <= sum(tokens for _, tokens in self._spent):
            raise Overloaded(
                "The tokens that the model may cost in an hour are spent; try again later.",
                retry_after=self._spent[0][0] + _HOUR - now,
            )

    def count(self, span: Span, usage: Usage) -> None:
        """One request's tokens."""
        self._spent.append((self._clock(), usage.input_tokens + usage.output_tokens))
        span.set_attributes(
            {_INPUT_TOKENS: usage.input_tokens, _OUTPUT_TOKENS: usage.output_tokens}
        )
        for kind, tokens, price in (
            ("input", usage.input_tokens, self._prices.input),
            ("output", usage.output_tokens, self._prices.output),
        ):
            labels: dict[str, str | bool] = {
                MODEL: self._model,
                _ESTIMATED: usage.estimated,
                _TOKEN_TYPE: kind,
            }
            self._tokens.add(tokens, labels)
            if price:
                self._cost.add(tokens * price / _MILLION, labels)
