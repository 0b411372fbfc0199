"""How an answer came about, as a reader sees it in a terminal."""

from collections.abc import Iterable, Iterator

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text
from verity.v1 import core_pb2 as core
from verity.v1 import grounding_service_pb2 as grounding

from cli import json_view
from cli.text import clean, plain


def asked(message: grounding.Answer) -> Iterator[RenderableType]:
    """What was really asked, where that is not what the reader wrote."""
    if message.standalone_question:
        yield plain(f"Read as: {message.standalone_question}", "dim")
    if message.as_of:
        yield plain(f"As of {message.as_of}.", "dim")


def cautions(message: grounding.Answer) -> Iterator[RenderableType]:
    """What a reader must know before relying on it."""
    if message.degraded:
        yield Text(
            "The model was not available: sentences of the sources answer instead.", "yellow"
        )
    for gap in message.compliance_gaps:
        corpus = json_view.word(grounding.ComplianceGap.Corpus.DESCRIPTOR, "CORPUS_", gap.corpus)
        yield plain(f"Compliance lacks {corpus.lower()}: {gap.message}", "yellow")


def strategy(message: grounding.Strategy) -> Iterator[RenderableType]:
    """What was, or will be, done otherwise than by default, and why."""
    for why in message.why:
        chosen = json_view.strategy(message).get(why.choice)
        yield plain(f"Learned: {why.choice} = {chosen}. {why.reason}", "dim")


def attempts(message: grounding.Answer) -> RenderableType:
    """Each draft in a line: what was searched for, drafted and verified, and what it took."""
    table = Table.grid(padding=(0, 2))
    for one in map(json_view.attempt, message.attempt_log):
        why = f" ({one['failure'].replace('_', ' ').lower()})" if one["failure"] else ""
        tokens = one["input_tokens"] + one["output_tokens"]
        table.add_row(
            f"attempt {one['attempt']}",
            plain(f"{one['outcome'].lower()}{why}"),
            f"{one['verified']} of {one['drafted']} verified",
            f"{one['passages']} passages",
            plain(f"“{one['query']}”"),
            f"{tokens} tokens" if tokens else "",
            Text(f"{1000 * one['duration_seconds']:.1f} ms", justify="right"),
        )
    return table


def objections(given: Iterable[core.Objection]) -> RenderableType:
    """How many drafts were rejected on the way, and what became of them."""
    outcomes = [json_view.objection_outcome(one.outcome) or "rejected" for one in given]
    counted = ", ".join(f"{outcomes.count(one)} {one.lower()}" for one in dict.fromkeys(outcomes))
    return Text(f"Rejected on the way: {counted}; --verbose shows them.", "dim")


def documents(failing: Iterable[grounding.FailingDocument]) -> Iterator[RenderableType]:
    """The documents whose citations failed, and why."""
    for one in failing:
        reasons = ", ".join(f"{json_view.reason_code(r.code)} {r.count}" for r in one.reasons)
        line = f"{one.source_name}: {one.failures} failed in {one.answers} answers ({reasons})"
        yield Padding(Text(clean(line), "yellow"), (0, 0, 0, 2))
