"""The verdict on a statement: every check runs, and only one that passes them all is supported.

A statement is SUPPORTED when all its citations stand where they say and nothing it says disagrees with
them. One bad citation beside a good one fails it: a reader would take both for proof.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from services.verification import conditions, entailment, facts, polarity
from services.verification.evidence import (
    Citation,
    Code,
    DraftCitation,
    Finding,
    Passage,
    Reason,
    Statement,
    Verdict,
)
from services.verification.markers import without_markers
from services.verification.quotes import closest, is_too_short, locate
from services.verification.source import Cited, Source

_FAILED = Reason(
    Code.CHECK_FAILED, "A check could not be completed; the statement is not verified."
)
_NOTHING_CITED = Reason(Code.NO_CITATION, "Nothing is cited.")


def sources_of(passages: Sequence[Passage]) -> dict[str, Source]:
    """The passages by id, ready to be searched; the first of one id counts."""
    sources: dict[str, Source] = {}
    for passage in passages:
        sources.setdefault(passage.id, Source(passage))
    return sources


def verify(
    statement: Statement,
    sources: Mapping[str, Source],
    min_coverage: float = entailment.MIN_COVERAGE,
) -> Finding:
    """The finding on one statement. Never raises: a check that does makes the statement UNCHECKED."""
    try:
        return _verify(statement, sources, min_coverage)
    except Exception as error:  # noqa: BLE001 - rule 1: whatever goes wrong in a check, nothing passes
        return unchecked(statement.text, error)


def unchecked(text: str, error: Exception) -> Finding:
    """The finding on a text of which a check failed to run to its end."""
    return Finding(text, Verdict.UNCHECKED, (_FAILED,), error=error)


def judge(
    text: str, cited: Sequence[Cited], min_coverage: float = entailment.MIN_COVERAGE
) -> list[Reason]:
    """What is wrong with a text, given the words it rests on."""
    sources = list({c.source.passage.id: c.source for c in cited}.values())
    reasons: list[Reason] = list(conditions.omitted(text, cited))
    if entailment.is_verbatim(text, sources):
        return reasons
    reasons += facts.disagreements(text, cited)
    reasons += polarity.disagreements(text, cited)
    carried = entailment.coverage(text, cited)
    if carried < min_coverage:
        reasons.append(
            Reason(
                Code.NO_ENTAILMENT,
                f"The cited words carry {carried:.0%} of the statement's content words.",
            )
        )
    return reasons


def conclude(reasons: Sequence[Reason]) -> Verdict:
    """The verdict that follows from what is wrong; the gravest first."""
    codes = {reason.code for reason in reasons}
    if Code.CHECK_FAILED in codes:
        return Verdict.UNCHECKED
    if Code.NO_CITATION in codes:
        return Verdict.UNCITED
    if any(reason.contradicts for reason in reasons):
        return Verdict.CONTRADICTED
    return Verdict.UNSUPPORTED if reasons else Verdict.SUPPORTED


def _verify(statement: Statement, sources: Mapping[str, Source], min_coverage: float) -> Finding:
    if not statement.citations:
        return Finding(statement.text, Verdict.UNCITED, (_NOTHING_CITED,))
    citations: list[Citation] = []
    reasons: list[Reason] = []
    for index, draft in enumerate(statement.citations):
        checked = check_citation(draft, sources)
        if isinstance(checked, Citation):
            citations.append(checked)
        else:
            reasons.append(replace(checked, citation_index=index))
    if citations:
        cited = [Cited(sources[c.passage.id], c.span) for c in citations]
        reasons += judge(without_markers(statement.text), cited, min_coverage)
    return Finding(statement.text, conclude(reasons), tuple(reasons), tuple(citations))


def check_citation(draft: DraftCitation, sources: Mapping[str, Source]) -> Citation | Reason:
    """Where the quote stands in the passage it cites, or why it does not."""
    source = sources.get(draft.passage_id)
    if is_too_short(draft.quote, source):
        return Reason(
            Code.QUOTE_TOO_SHORT, "The quote is too short to point at anything; quote the whole clause.",
            passage_id=draft.passage_id,
        )  # fmt: skip
    if source is None:
        return Reason(
            Code.UNKNOWN_PASSAGE,
            "The cited passage was not among those given.",
            passage_id=draft.passage_id,
        )
    found = locate(source, draft.quote)
    if found is None:
        return _not_there(draft, source, sources)
    if found.is_cut:
        widened = Cited(source, found.span).sentence
        return Reason(
            Code.SCOPE_CUT, "The quote leaves out a negation, exception or condition that governs it; quote the whole sentence.",
            passage_id=draft.passage_id, passage_span=found.span, closest_text=source.text[widened.start : widened.end],
        )  # fmt: skip
    return Citation(source.passage, found.span, found.match)


def _not_there(draft: DraftCitation, source: Source, sources: Mapping[str, Source]) -> Reason:
    others = [other for other in sources.values() if other is not source]
    for other in others:
        if found := locate(other, draft.quote):
            return Reason(
                Code.MISATTRIBUTED, f"The quoted words are in passage {other.passage.id}, not in the one that is cited.",
                passage_id=other.passage.id, passage_span=found.span,
                closest_text=other.text[found.span.start : found.span.end],
            )  # fmt: skip
    return Reason(
        Code.QUOTE_NOT_FOUND, "The quoted words are in none of the given passages.",
        passage_id=draft.passage_id, closest_text=closest(draft.quote, [source, *others]),
    )  # fmt: skip
