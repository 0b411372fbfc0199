"""Whether a statement drops an exception or a condition of the sentence it cites."""

import re
from collections.abc import Iterator, Sequence

from services.verification.evidence import Code, Reason, Span
from services.verification.quotes import Cited
from services.verification.words import content_stems

_MARKER = re.compile(
    r"\b(?:unless|except(?:ing)?(?! as otherwise)|excluding|other than|provided (?:that|however)|provided,|providing that|subject to"
    r"|notwithstanding|only (?:if|when|where|after)|on condition that|as long as|so long as|if|save (?:for|that|where)|in the event)\b",
    re.IGNORECASE,
)
_CONTINUES = re.compile(
    r"\W*(?:however|except|unless|notwithstanding|this (?:does|shall|will) not apply|the (?:above|foregoing) (?:does|shall) not apply"
    r"|provided)\b",
    re.IGNORECASE,
)
_END = re.compile(r"[,;:.](?:\s|$)")
# The share of a condition's content words with which a statement still says it.
_KEPT = 0.5


def omitted(statement: str, cited: Sequence[Cited]) -> Iterator[Reason]:
    """The conditions in the cited sentences, and in a sentence that goes on with one, that the statement leaves out."""
    said = content_stems(statement)
    seen: set[tuple[str, Span]] = set()
    for one in cited:
        text = one.source.text
        for condition in _conditions(one):
            key = (one.source.passage.id, condition)
            stems = content_stems(text[condition.start : condition.end])
            if key in seen or len(stems & said) >= _KEPT * len(stems):
                continue
            seen.add(key)
            yield Reason(
                Code.OMITTED_CONDITION,
                f'The source adds: "{text[condition.start : condition.end].strip()[:200]}".',
                passage_id=one.source.passage.id,
                passage_span=condition,
            )


def _conditions(cited: Cited) -> Iterator[Span]:
    text, sentence = cited.source.text, cited.sentence
    for marker in _MARKER.finditer(text, sentence.start, sentence.end):
        end = _END.search(text, marker.end(), sentence.end)
        yield Span(marker.start(), end.start() if end else sentence.end)
    following = next((s for s in cited.source.sentences if s.start >= sentence.end), None)
    if following and _CONTINUES.match(text[following.start : following.end]):
        yield following
