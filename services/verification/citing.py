"""Where a quote stands in the source it cites, or why it does not stand there."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from services.verification.evidence import Citation, Code, DraftCitation, Reason, Span
from services.verification.hints import closest, differences
from services.verification.quotes import Cut, Found, is_too_short, locate
from services.verification.source import Cited, Source

_CUT = {
    Cut.SCOPE: (
        Code.SCOPE_CUT,
        "A negation, exception or condition beside the quote governs it; quote the whole sentence.",
    ),
    Cut.ELISION: (
        Code.MISATTRIBUTED_BY_ELISION,
        "The quote leaves out a negation, exception or condition; quote the whole sentence.",
    ),
}


def check_citation(
    draft: DraftCitation, source: Source | None, given: Iterable[Source]
) -> Citation | Reason:
    """Where a quote stands in the source it cites, or why it does not.

    Args:
        draft: The quote as it was drafted.
        source: What it cites; None when that was not given.
        given: Every source that was.
    """
    if is_too_short(draft.quote, source):
        message = "The quote is too short to point at anything; quote the whole clause."
        return Reason(Code.QUOTE_TOO_SHORT, message, passage_id=draft.passage_id)
    if source is None:
        message = "The cited passage was not among those given."
        return Reason(Code.UNKNOWN_PASSAGE, message, passage_id=draft.passage_id)
    found = locate(source, draft.quote)
    if found is None:
        return _not_there(draft, source, [other for other in given if other is not source])
    if found.cut:
        return _cut(source, found)
    return Citation(source.passage, found.span, found.match)


def _cut(source: Source, found: Found) -> Reason:
    code, message = _CUT[found.cut or Cut.SCOPE]
    return Reason(
        code,
        message,
        passage_id=source.passage.id,
        passage_span=found.span,
        closest_text=_shown(source, Cited(source, found.span).around.span),
    )


def _not_there(draft: DraftCitation, source: Source, others: Sequence[Source]) -> Reason:
    for other in others:
        if found := locate(other, draft.quote):
            return Reason(
                Code.MISATTRIBUTED,
                f"The quoted words are in passage {other.passage.id}, not in the one cited.",
                passage_id=other.passage.id,
                passage_span=found.span,
                closest_text=_shown(other, found.span),
            )
    for first, second in _neighbours(source, others):
        text = first.text + second.text
        behind = (span.shifted(len(first.text)) for span in second.passage.furniture)
        furniture = (*first.passage.furniture, *behind)
        both = replace(first.passage, text=text, regions=(), furniture=furniture)
        found = locate(Source(both), draft.quote)
        if found and found.span.start < len(first.text) < found.span.end:
            return Reason(
                Code.MISATTRIBUTED,
                f"The quoted words begin in passage {first.passage.id} and go on in passage"
                f" {second.passage.id}; cite each part from its own passage.",
                passage_id=first.passage.id,
                passage_span=Span(found.span.start, len(first.text)),
                closest_text=text[found.span.start : found.span.end],
            )
    nearest = closest(draft.quote, [source, *others])
    differing = differences(draft.quote, nearest) if nearest else ""
    message = "The quoted words are in none of the given passages."
    return Reason(
        Code.QUOTE_NOT_FOUND,
        f"{message} Against the nearest: {differing}." if differing else message,
        passage_id=draft.passage_id,
        closest_text=nearest,
    )


def _neighbours(cited: Source, others: Sequence[Source]) -> Iterator[tuple[Source, Source]]:
    """Passages of which the second goes on where the first ends; those with the cited one first."""
    starts: dict[tuple[str, str, int], Source] = {}
    for source in (cited, *others):
        passage = source.passage
        if passage.document_id:
            key = passage.document_id, passage.document_sha256, passage.document_offset
            starts.setdefault(key, source)
    pairs = [
        (source, following)
        for (document, sha256, offset), source in starts.items()
        if (following := starts.get((document, sha256, offset + len(source.text))))
        and following is not source
    ]
    yield from sorted(pairs, key=lambda pair: cited not in pair)


def _shown(source: Source, span: Span) -> str:
    return source.text[span.start : span.end]
