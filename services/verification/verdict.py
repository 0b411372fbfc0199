"""The verdict on a statement: every check runs, and only one that passes them all is supported.

A statement is SUPPORTED when all its citations stand where they say and nothing it says disagrees
with them. One bad citation beside a good one fails it: a reader would take both for proof.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from services.verification import closeness, conditions, entailment, facts, polarity, wording
from services.verification.citing import check_citation
from services.verification.conflict import Conflicts, among
from services.verification.evidence import (
    Citation,
    Code,
    DerivedFigure,
    Finding,
    Passage,
    Reason,
    Span,
    Statement,
    Verdict,
)
from services.verification.folding import Folded, unwrapped
from services.verification.markers import without_markers
from services.verification.source import Cited, Source

_FAILED = Reason(
    Code.CHECK_FAILED, "A check could not be completed; the statement is not verified."
)
_CUT = "These words stand there under a negation, exception or condition that is left out."
_NOTHING_CITED = Reason(Code.NO_CITATION, "Nothing is cited.")


def sources_of(passages: Sequence[Passage]) -> dict[str, Source]:
    """The passages by id, ready to be searched; the first of one id counts."""
    sources: dict[str, Source] = {}
    for passage in passages:
        sources.setdefault(passage.id, Source(passage))
    return sources


@dataclass(frozen=True, slots=True)
class Examined:
    """A finding, and what a judge is to be asked: nothing where the text fell or is a quote."""

    finding: Finding
    text: str = ""
    rests_on: Sequence[Cited] = ()


def conflicts_among(sources: Mapping[str, Source], today: str) -> Conflicts:
    return Conflicts(among(sources.values()), today)


def examine(
    statement: Statement,
    sources: Mapping[str, Source],
    conflicts: Conflicts,
    min_coverage: float = entailment.MIN_COVERAGE,
    *,
    is_draft: bool = False,
) -> Examined:
    """The finding on one statement. Never raises: a check that does makes it UNCHECKED.

    Args:
        statement: What is stated, with its citations.
        sources: All passages by id.
        conflicts: Looks for other values among the sources.
        min_coverage: Share of its content words that the cited words must carry.
        is_draft: Whether it is held to the words it cites; see closeness.py.
    """
    try:
        return _examine(statement, sources, conflicts, min_coverage, is_draft=is_draft)
    except Exception as error:  # noqa: BLE001 - whatever goes wrong in a check, nothing passes
        return Examined(unchecked(statement.text, error))


def unchecked(text: str, error: Exception) -> Finding:
    """The finding on a text of which a check failed to run to its end."""
    return Finding(text, Verdict.UNCHECKED, (_FAILED,), error=error)


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is wrong with a text, given the words it rests on; and whether it is those words."""

    reasons: Sequence[Reason]
    is_quote: bool = False


def compare(
    text: str, cited: Sequence[Cited], min_coverage: float = entailment.MIN_COVERAGE
) -> Comparison:
    """Holds a text against the words it rests on."""
    reading = unwrapped(text)
    found = _compare(reading.text, cited, min_coverage)
    return replace(found, reasons=_placed(found.reasons, reading))


def _departures(text: str, cited: Sequence[Cited]) -> list[Reason]:
    reading = unwrapped(text)
    figures = facts.derivations(reading.text, cited)
    return _placed(closeness.departures(reading.text, cited, figures), reading)


def _placed(reasons: Iterable[Reason], reading: Folded) -> list[Reason]:
    """The reasons with their places in the text as it was given."""
    return [
        replace(reason, statement_span=Span(*reading.source_span(span.start, span.end)))
        if (span := reason.statement_span)
        else reason
        for reason in reasons
    ]


def derived(text: str, cited: Sequence[Cited]) -> tuple[DerivedFigure, ...]:
    """The figures of a text that follow from those of the words it rests on."""
    reading = unwrapped(text)
    return tuple(
        replace(figure, span=Span(*reading.source_span(figure.span.start, figure.span.end)))
        for figure in facts.derivations(reading.text, cited)
    )


def _compare(text: str, cited: Sequence[Cited], min_coverage: float) -> Comparison:
    reasons = list(conditions.omitted(text, cited))
    found = entailment.standing(text, cited)
    if found and not found.cut:
        return Comparison(reasons, is_quote=True)
    reasons += facts.disagreements(text, cited)
    reasons += polarity.disagreements(text, cited)
    if not any(reason.contradicts for reason in reasons):
        reasons += wording.disagreements(text, cited)
    carried = entailment.coverage(text, cited)
    if carried < min_coverage:
        message = f"The cited words carry {carried:.0%} of the statement's content words."
        reasons.append(Reason(Code.NO_ENTAILMENT, message))
    # Words that stand there, and everywhere under something that the statement leaves out.
    if found and not reasons and len(cited) == 1:
        reasons.append(Reason(Code.SCOPE_CUT, _CUT, passage_id=cited[0].source.passage.id))
    return Comparison(reasons)


def conclude(reasons: Iterable[Reason]) -> Verdict:
    """The verdict that follows from what is wrong; the gravest first."""
    found = list(reasons)
    codes = {reason.code for reason in found}
    if Code.CHECK_FAILED in codes:
        return Verdict.UNCHECKED
    if Code.NO_CITATION in codes:
        return Verdict.UNCITED
    if any(reason.contradicts for reason in found):
        return Verdict.CONTRADICTED
    return Verdict.UNSUPPORTED if found else Verdict.SUPPORTED


def _examine(
    statement: Statement,
    sources: Mapping[str, Source],
    conflicts: Conflicts,
    min_coverage: float,
    *,
    is_draft: bool,
) -> Examined:
    if not statement.citations:
        return Examined(Finding(statement.text, Verdict.UNCITED, (_NOTHING_CITED,)))
    citations: list[Citation] = []
    cited: list[Cited] = []
    reasons: list[Reason] = []
    for index, draft in enumerate(statement.citations):
        source = sources.get(draft.passage_id)
        checked = check_citation(draft, source, sources.values())
        if isinstance(checked, Reason):
            reasons.append(replace(checked, citation_index=index))
        else:
            citations.append(checked)
            cited.append(Cited(sources[checked.passage.id], checked.span))
    text = without_markers(statement.text)
    found = compare(text, cited, min_coverage) if cited else Comparison(())
    if is_draft and cited and not reasons and _at_most_cut(found.reasons):
        # They say which condition is left out, where the comparison says that one is.
        departures = _departures(text, cited)
        found = replace(found, reasons=departures or found.reasons)
    # Of a statement that falls anyway, nobody asks who else says otherwise.
    reasons = [*reasons, *found.reasons] or conflicts.of(text, cited)
    stands = Finding(statement.text, conclude(reasons), tuple(reasons), tuple(citations))
    return with_rest(stands, text, cited, is_quote=found.is_quote)


def _at_most_cut(reasons: Iterable[Reason]) -> bool:
    return all(reason.code is Code.SCOPE_CUT for reason in reasons)


def with_rest(finding: Finding, text: str, cited: Sequence[Cited], *, is_quote: bool) -> Examined:
    """What of a text is derived and may be judged: nothing where it fell, or is itself a quote."""
    if is_quote or finding.verdict is not Verdict.SUPPORTED:
        return Examined(finding)
    return Examined(replace(finding, derived=derived(text, cited)), text, cited)
