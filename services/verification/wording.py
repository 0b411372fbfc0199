"""Whether a statement that all but repeats a cited sentence changed a word that decides.

The other checks compare what two texts say, and must let honest paraphrases pass. Where a statement
takes over a sentence nearly word for word there is no paraphrase to allow for: a deciding word that
was exchanged for another of its kind, or a negation put in or taken out, is a change of meaning.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from rapidfuzz.distance import Indel

from services.verification.bounds import BEFORE, DOWN, UP
from services.verification.dates import Date
from services.verification.evidence import Code, Reason, Span
from services.verification.facts import derivations
from services.verification.figures import is_near
from services.verification.languages import languages
from services.verification.modality import CUES, Modality
from services.verification.negation import EXCEPTION, negating, plain, unprefixed
from services.verification.phrases import compiled, whole
from services.verification.quantities import Quantity
from services.verification.reading import read
from services.verification.references import Reference
from services.verification.source import Cited
from services.verification.words import words

# A statement repeats a sentence when it shares this much of its own words with it, in their order.
NEARLY_ALL = 0.75
# A longer stretch that is left out is a part not taken over, not a word taken out.
MAX_TAKEN_OUT = 3
# Longer texts are no sentences; the other checks have them.
MAX_TOKENS = 400

# What decides, in the order in which each takes its words. Words of one name mean the same.
_COMPARING = tuple(
    (Code.COMPARATOR_MISMATCH, c.name, compiled(phrases)) for c, phrases in BEFORE.items()
)
_DECIDING = (
    (
        Code.NEGATION_MISMATCH,
        "ONLY",
        compiled(
            "only(?! (?:if|where|when|with|after|on|upon)\\b) | merely | solely | exclusively"
        ),
    ),
    (Code.COMPARATOR_MISMATCH, "BEFORE", compiled("before | prior to")),
    (Code.COMPARATOR_MISMATCH, "AFTER", compiled("after | following")),
    (Code.NUMBER_MISMATCH, "UP", re.compile(whole(UP), re.IGNORECASE)),
    (Code.NUMBER_MISMATCH, "DOWN", re.compile(whole(DOWN), re.IGNORECASE)),
    *(
        (Code.UNIT_MISMATCH, unit, compiled(f"{unit}s?"))
        for unit in (
            *("(?:business|working|banking) day", "calendar day"),
            *("second", "minute", "hour", "day", "week", "month", "quarter", "year"),
            *("hundred", "thousand", "million", "billion", "trillion"),
        )
    ),
)


# Beside "may" this is a promise; a rule may say it for "shall".
_WILL = (frozenset({Modality.OBLIGATION}), compiled("will"))
# "must not" and "need not" hold a negation each.
_NEGATIVE = {frozenset({Modality.PROHIBITION}), frozenset({Modality.EXEMPTION})}


@dataclass(frozen=True, slots=True)
class _Token:
    """A word by what it is compared as.

    Attributes:
        key: The same for words that mean the same.
        span: Where it stands.
        code: For a deciding word, what exchanging it is.
        bare: The stem without a negative prefix, if it has one.
        fact: For a figure, a date or a reference, that.
        forces: For a word that gives a verb its force, what that may be.
    """

    key: str
    span: Span
    code: Code | None = None
    bare: str = ""
    fact: Quantity | Date | Reference | None = None
    forces: frozenset[Modality] = frozenset()

    @property
    def kind(self) -> tuple[Code | None, str]:
        """Only words of one kind, and figures of one unit, are exchanged for each other."""
        unit = self.fact.unit if isinstance(self.fact, Quantity) else ""
        return self.code, f"figure {unit}" if self.fact else ""

    def carries(self, other: "_Token") -> bool:
        """Whether the other may stand for it: the same, or a bound or a year in which it lies."""
        match self.fact, other.fact:
            case Quantity() as mine, Quantity() as its:
                return self.key == other.key or is_near(mine, its)
            case Date() as mine, Date() as its:
                return mine.carries(its)
            case Reference() as mine, Reference() as its:
                return mine.kind == its.kind and mine.lies_in(its.number)
            case _:
                return bool(self.forces & other.forces) if self.forces else self.key == other.key


@dataclass(frozen=True, slots=True)
class _Gap:
    """Words of the statement and words of the source between two that they share."""

    ours: Sequence[_Token]
    theirs: Sequence[_Token]

    def exchanges(self) -> Iterator[tuple[_Token, _Token]]:
        """Each deciding word of ours that stands where the source has another of its kind."""
        for kind in {token.kind for token in self.ours if token.code}:
            mine = [token for token in self.ours if token.kind == kind]
            other = [token for token in self.theirs if token.kind == kind]
            if len(mine) == len(other):
                pairs = [(token, [there]) for token, there in zip(mine, other, strict=True)]
            else:
                pairs = [(token, other) for token in mine]
            for token, there in pairs:
                if there and not any(one.carries(token) for one in there):
                    yield token, there[0]

    def turns(self) -> tuple[int, int]:
        """How many more negations, and how many more exceptions, the statement has here."""
        if len(self.theirs) > len(self.ours) + MAX_TAKEN_OUT:
            return 0, 0  # A part of the source that was not taken over.
        exceptions = [
            sum(token.code is Code.OMITTED_CONDITION for token in side)
            for side in (self.ours, self.theirs)
        ]
        negations = _negations(self.ours, self.theirs) - _negations(self.theirs, self.ours)
        return negations, exceptions[0] - exceptions[1]


def _negations(side: Sequence[_Token], other: Sequence[_Token]) -> int:
    """The negations of one side, counting "unpaid" where the other has "paid"."""
    keys = {token.key for token in other}
    return sum(
        t.code is Code.NEGATION_MISMATCH or t.forces in _NEGATIVE or t.bare in keys for t in side
    )


def disagreements(statement: str, cited: Sequence[Cited]) -> Iterator[Reason]:
    """The deciding words that differ from the cited words that the statement all but repeats."""
    ours = _tokens(statement)
    if not 0 < len(ours) <= MAX_TOKENS:
        return
    derived = cache(lambda: {figure.span for figure in derivations(statement, cited)})
    for one in cited:
        theirs = _tokens(one.text)
        if len(theirs) <= MAX_TOKENS:
            yield from _changed(ours, theirs, one, derived)


def _changed(
    ours: Sequence[_Token],
    theirs: Sequence[_Token],
    cited: Cited,
    derived: Callable[[], Collection[Span]],
) -> Iterator[Reason]:
    shared = _shared(ours, theirs)
    content = sum(token.code is None for token in ours)
    if not shared or len(shared) < NEARLY_ALL * content:
        return
    gaps = list(_gaps(ours, theirs, shared))
    exchanged = [
        (mine, other)
        for gap in gaps
        for mine, other in gap.exchanges()
        if mine.fact is None or mine.span not in derived()
    ]
    for mine, other in exchanged:
        if isinstance(mine.fact, Quantity | Date) and _has_moved(
            (mine, other), ours, theirs, exchanged
        ):
            continue
        yield Reason(
            mine.code or Code.NO_ENTAILMENT,
            "The statement exchanges a word of the source for another.",
            contradicts=True,
            statement_span=mine.span,
            passage_id=cited.source.passage.id,
            passage_span=cited.in_source(other.span),
        )
    negations, exceptions = (
        sum(turns) for turns in zip(*(gap.turns() for gap in gaps), strict=True)
    )
    # "if not" for "unless" is no change; an exception that was dropped is one of conditions.py.
    if negations % 2 and not exceptions % 2:
        message = "A negation was put into the words of the source, or taken out of them."
        yield Reason(
            Code.NEGATION_MISMATCH, message, contradicts=True, passage_id=cited.source.passage.id
        )


def _has_moved(
    pair: tuple[_Token, _Token],
    ours: Sequence[_Token],
    theirs: Sequence[_Token],
    exchanged: Sequence[tuple[_Token, _Token]],
) -> bool:
    """Whether a figure stands at another place only, and the one of that place elsewhere.

    Two that have changed places with each other have not moved: each stands for the other.
    """
    mine, other = pair
    are_both_kept = any(one.key == other.key for one in ours) and any(
        one.key == mine.key for one in theirs
    )
    return are_both_kept and (other.key, mine.key) not in {
        (one.key, two.key) for one, two in exchanged
    }


def _shared(ours: Sequence[_Token], theirs: Sequence[_Token]) -> list[tuple[int, int]]:
    """The positions, on both sides, of the content words that both have in the same order."""
    mine, other = (
        [at for at, token in enumerate(side) if token.code is None] for side in (ours, theirs)
    )
    edits = Indel.opcodes([ours[at].key for at in mine], [theirs[at].key for at in other])
    return [
        (mine[edit.src_start + step], other[edit.dest_start + step])
        for edit in edits
        if edit.tag == "equal"
        for step in range(edit.src_end - edit.src_start)
    ]


def _gaps(
    ours: Sequence[_Token], theirs: Sequence[_Token], shared: Sequence[tuple[int, int]]
) -> Iterator[_Gap]:
    """What stands before, between and behind the shared words."""
    edges = [(-1, -1), *shared, (len(ours), len(theirs))]
    for (one, their_one), (following, their_following) in pairwise(edges):
        yield _Gap(ours[one + 1 : following], theirs[their_one + 1 : their_following])


def _tokens(text: str) -> list[_Token]:
    """The content words, facts and deciding words of a text, in order."""
    facts = read(text)
    tokens = [
        _Token(f"{abs(q.value).normalize()} {q.unit}", q.span, Code.NUMBER_MISMATCH, fact=q)
        for q in facts.quantities
    ]
    tokens += [
        _Token(str(date.parts), date.span, Code.DATE_MISMATCH, fact=date) for date in facts.dates
    ]
    tokens += [
        _Token(
            f"{reference.kind} {reference.number}",
            reference.span,
            Code.NUMBER_MISMATCH,
            fact=reference,
        )
        for reference in facts.references
    ]
    left = _blanked(text, [token.span for token in tokens])
    # How a date bounds is compared with the date.
    left = _blanked(left, [Span(date.bound_start, date.span.end) for date in facts.dates])
    for code, name, pattern in _COMPARING:
        found = _spans(pattern, left)
        tokens += [_Token(name, span, code) for span in found]
        left = _blanked(left, found)
    left = plain(left)
    for forces, pattern in (*CUES, _WILL):
        found = _spans(pattern, left)
        name = " ".join(sorted(forces))
        outer = [_outer_words(left, span) for span in found]
        tokens += [_Token(name, o[-1], Code.MODALITY_MISMATCH, forces=forces) for o in outer]
        left = _blanked(left, [span for spans in outer for span in spans])
    exceptions = (Code.OMITTED_CONDITION, "EXCEPTION", EXCEPTION)
    negations = (Code.NEGATION_MISMATCH, "NEGATION", negating(languages(text)))
    for code, name, pattern in (exceptions, negations, *_DECIDING):
        found = _spans(pattern, left)
        tokens += [_Token(name, span, code) for span in found]
        left = _blanked(left, found)
    tokens += [
        _Token(word.stem, word.span, bare=unprefixed(word))
        for word in words(left)
        if word.is_content
    ]
    return sorted(tokens, key=lambda token: token.span)


def _spans(pattern: re.Pattern[str], text: str) -> list[Span]:
    return [Span(found.start(), found.end()) for found in pattern.finditer(text)]


def _outer_words(text: str, span: Span) -> list[Span]:
    """The first and the last word of a cue: in "no member may" the subject stays."""
    first = text.find(" ", span.start, span.end)
    last = text.rfind(" ", span.start, span.end)
    if first < 0 or not text[span.start : first].lower().startswith(("no", "nei")):
        return [span]
    return [Span(span.start, first), Span(last, span.end)]


def _blanked(text: str, spans: Sequence[Span]) -> str:
    """The text with blanks at the spans."""
    for span in spans:
        text = text[: span.start] + " " * (span.end - span.start) + text[span.end :]
    return text
