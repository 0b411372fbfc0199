"""Drafts with a model behind any OpenAI-compatible endpoint."""

import secrets
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, replace

from opentelemetry.trace import Span

from services.chassis import telemetry
from services.chassis.errors import Overloaded, Unavailable
from services.generation import followup, strict_json
from services.generation.budget import Fitted, fitted, tokens
from services.generation.capabilities import Capabilities
from services.generation.drafter import (
    Draft,
    Failure,
    NoDraft,
    Resolution,
    Statement,
    Task,
    Turn,
    Usage,
)
from services.generation.model import Completion, Model, Request
from services.generation.modes import Form, instruction
from services.generation.prompt import Prompt
from services.generation.refusals import Rejected
from services.generation.reply import Reading, form
from services.generation.spending import FINISH, MODEL, OPERATION, PROVIDER, Spending

_RESOLVED = Form(
    "question",
    {
        "type": "object",
        "properties": {"question": {"type": "string"}},
        "required": ["question"],
        "additionalProperties": False,
        "title": "question",
    },
)
_RESOLVE_TOKENS = 512


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request for a draft, and what is needed to read its reply."""

    request: Request
    fitted: Fitted
    reading: Reading


class OpenAIDrafter:
    """One request for each draft; whether to try again is the caller's to say.

    The caller's deadline needs no care here: when it passes, the call is cancelled, and a cancelled
    call closes its connection to the endpoint.
    """

    def __init__(
        self,
        model: Model,
        capabilities: Capabilities,
        prompt: Prompt,
        resolving: Prompt,
        spending: Spending,
    ) -> None:
        self.generator = f"openai:{model.endpoint.model}/{prompt.version}"
        self._model = model
        self._capabilities = capabilities
        self._prompt = prompt
        self._resolving = resolving
        self._spending = spending
        self._form = form()

    async def draft(self, task: Task) -> Draft:
        """What the model answers, when that is a draft in every respect; else why it is none."""
        asked = await self._asked(task)
        if not asked.fitted.task.passages:  # Nothing to cite, nothing to ask.
            return Draft(dropped=asked.fitted.dropped)
        with self._span("chat") as span:
            usage = self._estimated(asked.request, "")
            try:
                completion = await self._complete(asked.request, span)
                usage = completion.usage or self._estimated(asked.request, completion.text)
                for _ in asked.reading.feed(completion.text):
                    pass
                draft = asked.reading.draft()
            except NoDraft as none:
                usage = none.usage or usage
                draft = Draft(failure=none.failure)
            return self._finished(draft, asked, usage, span)

    async def stream(self, task: Task) -> AsyncGenerator[Statement | Draft]:
        """Each statement when the model has closed it. What fails ends the upstream request."""
        asked = await self._asked(task)
        if not asked.fitted.task.passages:
            yield Draft(dropped=asked.fitted.dropped)
            return
        # Not as the current span: a generator that is left may be closed elsewhere.
        span = telemetry.tracer().start_span(
            f"chat {self._model.endpoint.model}", attributes=self._attributes("chat")
        )
        said: Usage | None = None
        try:
            self._spending.check()
            try:
                async with aclosing(self._model.stream(asked.request)) as events:
                    async for event in events:
                        if isinstance(event, Completion):
                            said = event.usage
                            span.set_attribute(FINISH, (event.finish,))
                            continue
                        for statement in asked.reading.feed(event):
                            yield statement
                draft = asked.reading.draft()
            except NoDraft as none:
                said = none.usage or said
                draft = Draft(failure=none.failure)
            except Rejected as rejected:
                self._capabilities.rejected(rejected, asked.request.mode)
                raise
            usage = said or self._estimated(asked.request, asked.reading.text)
            yield self._finished(draft, asked, usage, span)
        finally:
            span.end()

    async def resolve(self, question: str, history: Sequence[Turn]) -> Resolution:
        """By the model, where the question may lean; by the rules where it fails or invents."""
        by_rules = followup.resolve(question, history)
        if not history or not followup.may_lean(question):
            return by_rules
        fit = fitted(Task(question, (), history=history), self._capabilities.context_tokens // 2)
        told = self._resolving.resolve(question, fit.task.history, secrets.token_hex(8))
        mode = await self._capabilities.mode()
        system = told.system + instruction(mode, _RESOLVED)
        request = Request(system, told.user, mode, _RESOLVED, _RESOLVE_TOKENS)
        with self._span("chat") as span:
            usage = self._estimated(request, "")
            try:
                completion = await self._complete(request, span)
                usage = completion.usage or self._estimated(request, completion.text)
                said = _question(completion.text)
            except (NoDraft, Unavailable, Overloaded):
                said = ""
            self._spending.count(span, usage)
        known = " ".join([question, by_rules.question, *_words_of(fit.task.history)])
        if not said or not followup.says_nothing_new(said, known):
            return replace(by_rules, usage=usage)
        if said == question:
            return Resolution(question, usage=usage)
        resolver = f"openai:{self._model.endpoint.model}/{self._resolving.version}"
        return Resolution(said, resolver, usage)

    async def _asked(self, task: Task) -> _Asked:
        mode = await self._capabilities.mode(task.mode)
        most = min(self._model.endpoint.max_output_tokens, self._capabilities.context_tokens // 2)
        rules = self._prompt.rules.template + instruction(mode, self._form)
        room = self._capabilities.context_tokens - most - tokens(rules)
        fit = fitted(task, max(0, room))
        told = self._prompt.request(fit.task, boundary=secrets.token_hex(8))
        request = Request(
            told.system + instruction(mode, self._form), told.user, mode, self._form, most
        )
        return _Asked(request, fit, Reading(told.passage_ids))

    async def _complete(self, request: Request, span: Span) -> Completion:
        self._spending.check()
        try:
            completion = await self._model.complete(request)
        except Rejected as rejected:
            self._capabilities.rejected(rejected, request.mode)
            raise
        span.set_attribute(FINISH, (completion.finish,))
        return completion

    def _finished(self, draft: Draft, asked: _Asked, usage: Usage, span: Span) -> Draft:
        self._spending.count(span, usage)
        return replace(
            draft, usage=usage, dropped=asked.fitted.dropped, mode=asked.request.mode.value
        )

    def _estimated(self, request: Request, answered: str) -> Usage:
        return Usage(tokens(request.system + request.user), tokens(answered), estimated=True)

    def _attributes(self, operation: str) -> dict[str, str]:
        return {OPERATION: operation, PROVIDER: "openai", MODEL: self._model.endpoint.model}

    @contextmanager
    def _span(self, operation: str) -> Iterator[Span]:
        name = f"{operation} {self._model.endpoint.model}"
        with telemetry.span(name, **self._attributes(operation)) as span:
            yield span


def _question(text: str) -> str:
    """The question of a reply; empty where it is none."""
    value = strict_json.loads(text)
    if not isinstance(value, dict) or set(value) != {"question"}:
        raise NoDraft(Failure.WRONG_SHAPE)
    said = value["question"]
    return " ".join(said.split()) if isinstance(said, str) else ""


def _words_of(history: Sequence[Turn]) -> Iterator[str]:
    for turn in history:
        yield turn.question
        yield turn.answer
