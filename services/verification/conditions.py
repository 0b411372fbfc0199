"""Whether a statement drops an exception or a condition of the sentence it cites."""

import re
from collections.abc import Iterator, Sequence

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
# The share of a condition's content words with which a statement still says it.
KEPT = 0.5


def omitted(statement: str, cited: Sequence[Cited]) -> Iterator[Reason]:
    """The conditions of the cited sentences, and of one that goes on with them, that are left out."""
    said = content_stems(statement)
    seen: set[tuple[str, Span]] = set()
    for one in cited:
        text, passage_id = one.source.text, one.source.passage.id
        for condition in _conditions(one):
            words = text[condition.start : condition.end]
            stems = content_stems(words)
            if (passage_id, condition) in seen or len(stems & said) >= KEPT * len(stems):
                continue
            seen.add((passage_id, condition))
            yield Reason(
                Code.OMITTED_CONDITION,
                f'The source adds: "{" ".join(words[:200].split())}".',
                passage_id=passage_id,
                passage_span=condition,
            )


def _conditions(cited: Cited) -> Iterator[Span]:
    text, sentence = cited.source.text, cited.sentence
    for marker in _MARKER.finditer(text, sentence.start, sentence.end):
        end = _END.search(text, marker.end(), sentence.end)
        yield Span(marker.start(), end.start() if end else sentence.end)
    following = next((s for s in cited.source.sentences if s.start >= sentence.end), None)
    if following and _CONTINUES.match(text, following.start, following.end):
        yield following
