"""Whether a statement drops an exception or a condition of the sentence it cites; English only.

A condition may stand in the cited words, elsewhere in their sentence, or in the sentence that goes
on with it ("This does not apply if ..."). A statement keeps it when it says what it is about, in
any words of the same stems. One that says nothing of what the condition governs need not.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from services.verification.evidence import Code, Reason, Span
from services.verification.phrases import any_of, compiled, whole
from services.verification.quantities import ORDINAL
from services.verification.reading import Facts, read
from services.verification.source import Cited
from services.verification.words import content_stems

_EXCEPTION = any_of(
    r"""
    unless | except(?:ing)?(?! as otherwise) | excluding | other than | with the exception of
    save(?: for| that| where| in| as| when| if) | apart from | barring
    """
)
_CONDITION = any_of(
    r"""
    provided(?! (?:by|for|in|to|with|under|from|on|at)\b)(?: that| however)? | providing that
    subject to | notwithstanding | only (?:if|when|where|after|with|upon|on|once|to the extent)
    (?:on|under the) condition that | as long as | so long as
    (?<!even )(?<!as )(?<!what )if(?! any\b)
    in the event (?:that|of) | in case(?: of)? | to the extent(?: that)? | in so far as | insofar as
    conditional (?:up)?on | contingent (?:up)?on | assuming(?: that)?
    until (?:the|a|an|it|they|he|she|all|such|any|that|this)\b
    """
)
_MARKER = re.compile(
    rf"(?P<exception>{whole(_EXCEPTION)})|(?P<condition>{whole(_CONDITION)})"
    r"|^\W*(?P<lead>(?:where|when|once|after|before)\b)(?=[^,]*,)",
    re.IGNORECASE,
)
# A rule holds when the clause in front is so; a report only tells when it was so.
_RULE = compiled(
    r"""
    must | shall | may | should | can | will
    (?:is|are) (?:not )?(?:required|entitled|permitted|prohibited|obliged)
    """
)
# What takes up the sentence before, and what of it takes something away.
_TAKES_UP = re.compile(
    r"\W*(?:however,? )?"
    + whole(
        any_of(
            r"""
            except | unless | notwithstanding | provided | this | these | that | such | it | they
            the (?:above|foregoing) | (?:an |the )?(?:only )?exceptions?
            in (?:that|this|such a) case | paragraph 1
            """
        )
    ),
    re.IGNORECASE,
)
_HOWEVER = re.compile(r"\W*(?:however|but|nevertheless|nonetheless)\b", re.IGNORECASE)
_TAKES_AWAY = re.compile(
    rf"{whole(_EXCEPTION)}|\b(?:notwithstanding|subject to|provided that|conditional (?:up)?on)\b"
    r"|\bonly (?:if|when|where|after|with|upon|on|once|to)\b"
    r"|\bexceptions? (?:appl|(?:is|are) (?:made|granted))\w*"
    r"|\b(?:does|do|shall|will|is|are) not (?:apply|applicable|extend|hold|available)\b"
    r"|\bapplies only\b|\bonly appl(?:y|ies)\b",
    re.IGNORECASE,
)
# "X is A and shall, if so requested, do B": the condition is of B.
_NEW_VERB = re.compile(
    r"\b(?:and|but)\s+(?=(?:shall|must|may|will|should|can|is|are|was|were|has|have)\b)",
    re.IGNORECASE,
)
_AND_THEN = re.compile(r"\b(?:and|but),\s*\Z", re.IGNORECASE)
_PART_END = re.compile(r";\s")
_CONDITION_END = re.compile(r"[,;:.](?:\s|$)")
# "The company provided that information": a verb, where no verb stands before.
_VERB = re.compile(
    r"\b(?:shall|must|may|will|should|can|is|are|was|were|has|have|does|do)\b", re.IGNORECASE
)
_REACH = 400
# How far from a condition the words may stand that hold under it.
_GOVERNED = 1_000
# No sentence has more; what such a text says under which condition nobody can tell.
MAX_CONDITIONS = 40
_SUBJECT = re.compile(r"\s(?:the|an?|it|they|he|she|all|any|each|no|such|its|their)\b|\s[A-Z]")
_AUXILIARY = re.compile(r"\b(?:shall|must|may|will|should|can|is|are|was|were|has|have)\b")
# What is said of an exception is no part of what it is an exception of.
_GOES_ON = re.compile(r"(?:which|who|whose|where)\b", re.IGNORECASE)
_AND = re.compile(r",? and (?=[a-z])")
_LIMITS = compiled(
    rf"""
    {_EXCEPTION} | {_CONDITION} | not | no | n['’]t | only | without | never | but | where | when
    while
    """  # noqa: RUF001 - a typographic apostrophe
)
# These say that there is a condition, not which.
_GENERIC = content_stems(
    """
    apply applies exception foregoing however right exercise provision case event condition rule so
    clause paragraph section otherwise requirement
    """
)
# The share of a condition's own content words with which a statement still says it.
KEPT = 0.5
# The share of what a condition governs with which a statement speaks of that.
SAID = 0.5
# With so much of it, a statement that names an exception without excepting it takes it in.
ASSERTED = 0.6


@dataclass(frozen=True, slots=True)
class _Condition:
    """A condition of a cited sentence.

    Attributes:
        cited: The sentence it stands in.
        span: Where in its text.
        governed: The text that holds only under it.
        is_exception: It names what is taken out, rather than when something holds.
    """

    cited: Cited
    span: Span
    governed: str
    is_exception: bool

    @property
    def text(self) -> str:
        return self.cited.text[self.span.start : self.span.end]


def omitted(statement: str, cited: Sequence[Cited]) -> Iterator[Reason]:
    """The conditions of the cited sentences, or of one that goes on with them, that are dropped."""
    said = read(statement)
    found = {
        (one.source.passage.id, condition.cited.in_source(condition.span)): condition
        for one in cited
        for condition in islice(_conditions(one), MAX_CONDITIONS)
    }
    for (passage_id, place), condition in found.items():
        if _is_dropped(condition, said):
            words = " ".join(condition.text[:200].split())
            yield Reason(
                Code.OMITTED_CONDITION,
                f'The source adds: "{words}".',
                passage_id=passage_id,
                passage_span=place,
            )


def _conditions(cited: Cited) -> Iterator[_Condition]:
    before = ""
    for sentence, is_cited in _sentences(cited):
        for part in _parts(sentence.text):
            text = sentence.text[part.start : part.end]
            if before and _goes_on(before, text):
                yield _Condition(sentence, part, before, is_exception=False)
            elif is_cited:
                yield from _in_part(sentence, part)
            before = text if is_cited else ""


def _goes_on(before: str, text: str) -> bool:
    """Whether a part of a text takes away from what the one before it says."""
    if _TAKES_AWAY.search(text) is None:
        return False
    if _TAKES_UP.match(text):
        return True
    return _HOWEVER.match(text) is not None and bool(content_stems(before) & content_stems(text))


def _sentences(cited: Cited) -> Iterator[tuple[Cited, bool]]:
    """The sentences that are cited, and the next one."""
    around, sentences = cited.around.span, cited.source.sentences
    first = bisect_left(sentences, around.start, key=lambda s: s.start)
    last = bisect_left(sentences, around.end, key=lambda s: s.start)
    if first == last:  # A stretch that no sentence begins in.
        yield cited.around, True
    for at, span in enumerate(sentences[first : last + 1], start=first):
        yield Cited(cited.source, span), at < last


def _parts(text: str) -> Iterator[Span]:
    start = 0
    for found in _PART_END.finditer(text):
        yield Span(start, found.start())
        start = found.end()
    yield Span(start, len(text))


def _in_part(sentence: Cited, part: Span) -> Iterator[_Condition]:
    """The conditions within a part of a sentence, each with what of that part it governs."""
    text = sentence.text[part.start : part.end]
    markers = [found for found in _MARKER.finditer(text) if _binds(text, found)]
    edges = [found.start() for found in markers] + [len(text)]
    for marker, limit in zip(markers, edges[1:], strict=True):
        is_exception = marker.lastgroup == "exception"
        end = _end(text, marker.end(), limit, is_exception=is_exception)
        if is_exception and not _VERB.search(f"{text[: marker.start()][-_REACH:]} "):
            # "No person other than the trustee may": the verb is not of the exception.
            verb = _AUXILIARY.search(text, marker.end(), end)
            end = verb.start() if verb else end
        near = max(0, marker.start() - _REACH)
        start = max((v.end() for v in _NEW_VERB.finditer(text, near, marker.start())), default=0)
        if _AND_THEN.search(text, near, marker.start()):
            start = marker.start()
        if marker.lastgroup == "lead" and not _RULE.search(text, end):
            continue
        span = Span(part.start + marker.start(), part.start + end)
        before = text[max(start, marker.start() - _GOVERNED) : marker.start()]
        governed = f"{before} {text[end : end + _GOVERNED]}"
        yield _Condition(sentence, span, governed, is_exception)


def _end(text: str, start: int, limit: int, *, is_exception: bool) -> int:
    for found in _CONDITION_END.finditer(text, start, limit):
        if not (is_exception and _GOES_ON.match(text, found.end())):
            return found.start()
    return limit


def _binds(text: str, marker: re.Match[str]) -> bool:
    """False for "the company provided that information", which is a verb and its object."""
    if not marker.group().lower().startswith("provided"):
        return True
    before = text[: marker.start()].rstrip()
    if not before or before.endswith((",", "always")):
        return True
    begins = _SUBJECT.match(text, marker.end()) is not None
    return begins or _VERB.search(before[-_REACH:]) is not None


def _is_dropped(condition: _Condition, said: Facts) -> bool:
    stems = content_stems(said.text)
    own = content_stems(condition.text)
    governed = content_stems(condition.governed)
    spoken_of = len((governed - own) & stems)
    is_said = spoken_of >= SAID * len(governed - own) or (
        spoken_of >= SAID * len(stems - own) and spoken_of >= len((own - governed) & stems)
    )
    if not is_said:
        return False
    pieces = [piece for piece in _AND.split(condition.text) if content_stems(piece) - governed]
    kept = all(_is_kept(piece, governed, said) for piece in pieces or [condition.text])
    if kept and condition.is_exception and not _LIMITS.search(said.text):
        return spoken_of >= ASSERTED * len(governed - own)
    return not kept


def _is_kept(condition: str, governed: frozenset[str], said: Facts) -> bool:
    """Whether a statement says what a condition is about, and its figures."""
    own = content_stems(condition) - governed - _GENERIC
    figures = {(q.value, q.unit) for q in read(condition).quantities if q.unit != ORDINAL}
    if not figures <= {(q.value, q.unit) for q in said.quantities}:
        return False
    if not own:
        return bool(figures) or _LIMITS.search(said.text) is not None
    return len(own & content_stems(said.text)) >= KEPT * len(own)
