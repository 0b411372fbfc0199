"""Whether a statement that all but repeats a cited sentence changed a word that decides.

The other checks compare what two texts say, and must let honest paraphrases pass. Where a statement
takes over a sentence nearly word for word there is no paraphrase to allow for: a deciding word that
was exchanged for another of its kind, or a negation put in or taken out, is a change of meaning.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from rapidfuzz.distance import Indel

from services.verification.dates import Date
from services.verification.deciding import Token, tokens_of
from services.verification.evidence import Code, Reason, Span
from services.verification.facts import derivations, ends_of_spans
from services.verification.modality import Modality
from services.verification.quantities import Quantity
from services.verification.reading import read
from services.verification.source import Cited

# A statement repeats a sentence when it shares this much of its own words with it, in their order.
NEARLY_ALL = 0.75
# A longer stretch that is left out is a part not taken over, not a word taken out.
MAX_TAKEN_OUT = 3
# Longer texts are no sentences; the other checks have them.
MAX_TOKENS = 400

# "must not" and "need not" hold a negation each.
_NEGATIVE = {frozenset({Modality.PROHIBITION}), frozenset({Modality.EXEMPTION})}


@dataclass(frozen=True, slots=True)
class _Gap:
    """Words of the statement and words of the source between two that they share."""

    ours: Sequence[Token]
    theirs: Sequence[Token]

    def exchanges(self) -> Iterator[tuple[Token, Token]]:
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


def _negations(side: Sequence[Token], other: Sequence[Token]) -> int:
    """The negations of one side, counting "unpaid" where the other has "paid"."""
    keys = {token.key for token in other}
    return sum(
        t.code is Code.NEGATION_MISMATCH or t.forces in _NEGATIVE or t.bare in keys for t in side
    )


def disagreements(statement: str, cited: Sequence[Cited]) -> Iterator[Reason]:
    """The deciding words that differ from the cited words that the statement all but repeats."""
    ours = tokens_of(statement)
    if not 0 < len(ours) <= MAX_TOKENS:
        return
    kept = cache(
        lambda: {
            *(figure.span for figure in derivations(statement, cited)),
            *ends_of_spans(read(statement)),
        }
    )
    for one in cited:
        theirs = tokens_of(one.text)
        if len(theirs) <= MAX_TOKENS:
            yield from _changed(ours, theirs, one, kept)


def _changed(
    ours: Sequence[Token],
    theirs: Sequence[Token],
    cited: Cited,
    kept: Callable[[], Collection[Span]],
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
        if mine.fact is None or mine.span not in kept()
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
    pair: tuple[Token, Token],
    ours: Sequence[Token],
    theirs: Sequence[Token],
    exchanged: Sequence[tuple[Token, Token]],
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


def _shared(ours: Sequence[Token], theirs: Sequence[Token]) -> list[tuple[int, int]]:
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
    ours: Sequence[Token], theirs: Sequence[Token], shared: Sequence[tuple[int, int]]
) -> Iterator[_Gap]:
    """What stands before, between and behind the shared words."""
    edges = [(-1, -1), *shared, (len(ours), len(theirs))]
    for (one, their_one), (following, their_following) in pairwise(edges):
        yield _Gap(ours[one + 1 : following], theirs[their_one + 1 : their_following])
