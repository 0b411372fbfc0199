"""Whether a statement drops an exception or a condition of the sentence it cites."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import partial

from services.verification.evidence import Code, Reason, Span
from services.verification.phrases import any_of, compiled
from services.verification.source import Cited
from services.verification.words import content_stems

_MARKER = compiled(
    r"""
    unless | except(?:ing)?(?! as otherwise) | excluding | other than | provided (?:that|however)
    provided(?=,) | providing that | subject to | notwithstanding | only (?:if|when|where|after)
    on condition that | as long as | so long as | if | save (?:for|that|where) | in the event
    """
)
_CONTINUES = re.compile(
    r"\W*"
    + any_of(
        r"""
        however | except | unless | notwithstanding | provided | this (?:does|shall|will) not apply
        the (?:above|foregoing) (?:does|shall) not apply
        """
    )
    + r"\b",
    re.IGNORECASE,
)
_END = re.compile(r"[,;:.](?:\s|$)")
# The share of a condition's own content words with which a statement still says it.
KEPT = 0.5


def omitted(statement: str, cited: Sequence[Cited]) -> Iterator[Reason]:
    """The conditions of the cited sentences, or of one that goes on with them, that are dropped."""
    said = content_stems(statement)
    has_marker = _MARKER.search(statement) is not None
    found = {
        (one.source.passage.id, condition.in_source(span)): _own_stems(condition, span)
        for one in cited
        for condition, span in _conditions(one)
    }
    texts = {one.source.passage.id: one.source.text for one in cited}
    for (passage_id, place), own in found.items():
        if len(own & said) >= KEPT * len(own) if own else has_marker:
            continue
        words = " ".join(texts[passage_id][place.start : place.end][:200].split())
        yield Reason(
            Code.OMITTED_CONDITION,
            f'The source adds: "{words}".',
            passage_id=passage_id,
            passage_span=place,
        )


def _conditions(cited: Cited) -> Iterator[tuple[Cited, Span]]:
    """Each condition as a part of the sentences it stands in."""
    around = cited.around
    for marker in _MARKER.finditer(around.text):
        end = _END.search(around.text, marker.end())
        yield around, Span(marker.start(), end.start() if end else len(around.text))
    sentences = cited.source.sentences
    position = bisect_left(sentences, around.span.end, key=lambda s: s.start)
    for following in map(partial(Cited, cited.source), sentences[position : position + 1]):
        if _CONTINUES.match(following.text):
            yield following, Span(0, len(following.text))


def _own_stems(condition: Cited, span: Span) -> frozenset[str]:
    """The content words that only the condition has, and not the rest of its sentence."""
    text = condition.text
    rest = f"{text[: span.start]} {text[span.end :]}"
    return content_stems(text[span.start : span.end]) - content_stems(rest)
