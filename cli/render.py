"""Answers and checks as a reader sees them in a terminal."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text
from verity.v1 import core_pb2 as core
from verity.v1 import grounding_service_pb2 as grounding
from verity.v1 import verification_service_pb2 as verification

from cli import course, json_view
from cli.text import clean, plain

HIGH, FAIR = 0.8, 0.6
BAR_WIDTH = 40
SNIPPET = 160

_COMPLIANCE_STYLE = {
    core.COMPLIANCE_COMPLIANT: "green",
    core.COMPLIANCE_NON_COMPLIANT: "bold red",
    core.COMPLIANCE_UNKNOWN: "yellow",
}
_VERDICT_STYLE = {core.VERDICT_SUPPORTED: "green", core.VERDICT_CONTRADICTED: "red"}


def answer(message: grounding.Answer, *, verbose: bool = True) -> RenderableType:
    """The answer, what it rests on, how sure it is, and where the time went.

    Args:
        message: What was answered.
        verbose: Each attempt and each rejected statement too, not only how many there were.
    """
    return Group(*_parts(message, verbose=verbose))


def _parts(message: grounding.Answer, *, verbose: bool) -> Iterator[RenderableType]:
    yield from course.asked(message)
    if message.HasField("abstention"):
        yield plain(message.text, "bold yellow")
        yield from _abstention(message)
    else:
        yield from _statements(message.statements)
    if message.status == grounding.Answer.STATUS_PARTIAL:
        yield Text("Some statements could not be verified and were left out.", "yellow")
    yield from course.cautions(message)
    if verbose:
        yield from _objections(message.objections)
        yield Text()
        yield course.attempts(message)
    elif message.objections:
        yield course.objections(message.objections)
    yield Text()
    yield from course.strategy(message.strategy)
    yield _figures(message)
    if message.memory_degraded:
        yield Text(
            "The memory is down: this answer is not stored and knew no earlier ones.", "yellow"
        )
    yield waterfall(message.stage_timings)
    made_by = " and ".join(name for name in (message.generator, message.verifier) if name)
    yield plain(
        f"{made_by or 'nothing drafted'}; conversation {message.conversation_id}, "
        f"answer {message.id}, trace {message.trace_id or 'none'}",
        "dim",
    )


def _statements(statements: Sequence[core.VerifiedStatement]) -> Iterator[RenderableType]:
    """Each statement with the numbers of its citations, then the citations in that order."""
    text, sources = Text(), []
    for statement in statements:
        text.append(clean(statement.text) + " ")
        for citation in statement.citations:
            sources.append(citation)
            text.append(f"[{len(sources)}]", "cyan")
        text.append("\n" if statement is statements[-1] else " ")
    yield text
    for number, citation in enumerate(sources, 1):
        yield _citation(number, citation)


def _citation(number: int, citation: core.Citation) -> RenderableType:
    line = Text.assemble(
        (f"[{number}] ", "cyan"),
        f"“{clean(citation.quote)}”\n",
        (", ".join(_where(citation)), "dim"),
    )
    return Padding(line, (0, 0, 0, 2))


def _where(citation: core.Citation) -> list[str]:
    """The source of a citation, with what a reader needs to weigh it and that is known."""
    authority = json_view.authority(citation.authority).lower()
    where = [
        clean(citation.source_name),
        # A text that was handed in for a check has neither pages nor an authority.
        f"page {citation.page_number}" if citation.page_number else "",
        f"section {clean(citation.section_id)}" if citation.section_id else "",
        f"{authority} authority" if citation.authority else "",
        f"published {clean(citation.published)}" if citation.published else "",
        f"in force from {clean(citation.effective_from)}" if citation.effective_from else "",
    ]
    return [part for part in where if part]


def _abstention(message: grounding.Answer) -> Iterator[RenderableType]:
    kind = json_view.abstention(message.abstention)["type"]
    if message.abstention.conflicting:  # The message quotes them too, for those who read only that.
        yield plain(f"{kind}: sources in force contradict each other.")
        for number, citation in enumerate(message.abstention.conflicting, 1):
            yield _citation(number, citation)
    else:
        yield plain(f"{kind}: {message.abstention.message}")
    if not message.HasField("search"):
        return
    search = message.search
    yield plain(
        f"Searched {search.document_count} documents ({search.passage_count} passages) of "
        f"{search.collection} for “{search.query}”.",
        "dim",
    )
    if search.nearest_misses:
        yield Text("Nearest, but below the cut:", "dim")
    for passage in search.nearest_misses:
        text = clean(passage.text)
        snippet = text if len(text) <= SNIPPET else text[: SNIPPET - 1] + "…"
        where = f"{passage.source_name}, page {passage.page_number} ({passage.score:.2f}): "
        yield Padding(Text.assemble((clean(where) + " ", "dim"), snippet), (0, 0, 0, 2))


def _objections(objections: Iterable[core.Objection]) -> Iterator[RenderableType]:
    heading = True
    for objection in objections:
        if heading:
            yield Text("\nRejected on the way:", "dim")
            heading = False
        yield Padding(objected(objection), (0, 0, 0, 2))


def objected(objection: core.Objection) -> Text:
    """What was drafted, and why it is not in the answer."""
    became = json_view.objection_outcome(objection.outcome)
    return Text.assemble(
        (f"attempt {objection.attempt}, {json_view.verdict(objection.verdict)}: ", "yellow"),
        clean(objection.statement.text),
        (f" ({became.lower()})" if became else "", "dim"),
        *_reasons(objection.reasons),
    )


def _reasons(reasons: Iterable[core.Reason]) -> Iterator[tuple[str, str]]:
    for reason in reasons:
        yield f"\n  {json_view.reason_code(reason.code)}: {clean(reason.message)}", "dim"
        if reason.closest_text:
            yield f"\n  closest: “{clean(reason.closest_text)}”", "dim"
        for citation in reason.citations:
            said = f"“{clean(citation.quote)}” {', '.join(_where(citation))}"
            yield f"\n  - {said}", "dim"


def _figures(message: grounding.Answer) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    if message.compliance != core.COMPLIANCE_UNSPECIFIED:
        style = _COMPLIANCE_STYLE.get(message.compliance, "")
        words = json_view.compliance(message.compliance).replace("_", "-").lower()
        table.add_row("compliance", Text(words, style))
    figures = message.confidence
    if not message.HasField("abstention"):  # Silence has no grounding to be confident of.
        table.add_row(
            "grounding confidence",
            Text.assemble(
                confidence(figures.grounding_confidence),
                (f"  citations {figures.citation_accuracy:.2f}, ", "dim"),
                (f"authority {figures.source_authority:.2f}, ", "dim"),
                (f"coverage {figures.coverage:.2f}", "dim"),
            ),
        )
    if message.HasField("historical_quality"):
        table.add_row("this conversation so far", confidence(message.historical_quality))
    table.add_row("attempts", str(message.attempts))
    return table


def confidence(value: float) -> Text:
    """The figure, in words too: colour alone says nothing on paper or to everyone."""
    if value >= HIGH:
        return Text(f"{value:.2f} high", "green")
    if value >= FAIR:
        return Text(f"{value:.2f} fair", "yellow")
    return Text(f"{value:.2f} low", "red")


def waterfall(timings: Iterable[core.StageTiming]) -> RenderableType:
    """Each stage as a bar from when it began to when it ended."""
    rows = [json_view.stage_timing(t) for t in timings]
    table = Table.grid(padding=(0, 2))
    total = max((r["start_seconds"] + r["duration_seconds"] for r in rows), default=0.0)
    for row in rows:
        start = round(BAR_WIDTH * row["start_seconds"] / total) if total else 0
        length = round(BAR_WIDTH * row["duration_seconds"] / total) if total else 0
        start = min(start, BAR_WIDTH - 1)
        bar = " " * start + "█" * max(1, min(length, BAR_WIDTH - start))
        table.add_row(
            plain(row["stage"]),
            f"{row['attempt']}",
            Text(bar.ljust(BAR_WIDTH), "blue"),
            Text(f"{1000 * row['duration_seconds']:.1f} ms", justify="right"),
        )
    table.add_row("", "", Text("total", "dim", justify="right"), Text(f"{1000 * total:.1f} ms"))
    return table


def grounding_check(message: verification.CheckGroundingResponse) -> RenderableType:
    """Each sentence with its verdict and what carries it or speaks against it."""
    lines: list[RenderableType] = []
    verdicts: Counter[str] = Counter()
    for claim in message.claims:
        statement = claim.statement
        if not claim.needs_check:
            lines.append(plain(f"states nothing: {statement.text}", "dim"))
            continue
        style = _VERDICT_STYLE.get(statement.verdict, "yellow")
        verdict = json_view.verdict(statement.verdict)
        verdicts[verdict] += 1
        lines.append(
            Text.assemble(
                (f"{verdict}: ", style),
                clean(statement.text),
                (f" (support {claim.support:.2f})", "dim"),
                *_reasons(statement.reasons),
            )
        )
        lines += [_citation(number, c) for number, c in enumerate(statement.citations, 1)]
    counted = ", ".join(f"{count} {verdict.lower()}" for verdict, count in verdicts.most_common())
    share = f"{message.support:.0%} of the sentences that state something are supported"
    lines.append(plain(f"{share}{f': {counted}' if counted else ''} ({message.verifier})."))
    return Group(*lines)
