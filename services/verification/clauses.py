"""The clauses of a text: what each speaks of, with what force, and how often it is negated."""

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from services.verification import negation
from services.verification.evidence import Span
from services.verification.modality import Modality, is_bound, modalities
from services.verification.negation import unprefixed
from services.verification.words import Word, words

_BREAK = re.compile(
    r"[,;:.()!?]\s|\n\n|\b(?:but|because|while|whereas|although|though|since|if|unless|except"
    r"|when|where|which|who|so that)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Clause:
    """A part of a text that says one thing.

    Attributes:
        text: Its words, with what is twice negated said straight.
        span: Where it stands.
    """

    text: str
    span: Span

    @cached_property
    def words(self) -> tuple[Word, ...]:
        return words(self.text)

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset(word.stem for word in self.words)

    @cached_property
    def subject_stems(self) -> frozenset[str]:
        """What it speaks of: its content words, and "paid" where it says "unpaid"."""
        bare = {unprefixed(word) for word in self.words}
        return (frozenset(w.stem for w in self.words if w.is_content) | bare) - {""}

    @cached_property
    def modalities(self) -> frozenset[Modality]:
        return modalities(self.text)

    @cached_property
    def is_bound(self) -> bool:
        return is_bound(self.text)

    def negations(self, other: "Clause", spoken: frozenset[str]) -> int:
        """How often it is negated beside another clause, in the languages that are spoken.

        "unpaid" counts where the other says "paid", "unless" where it says of what, and "except"
        where it says "not".
        """
        prefixed = (unprefixed(w) in other.stems and w.stem not in other.stems for w in self.words)
        excepted = negation.exceptions(self.text, other.stems)
        if excepted and not (
            negation.excepts_a_case(self.text)
            or negation.count(other.text, spoken)
            or negation.EXCEPTION.search(other.text)
        ):
            excepted = 0
        return negation.count(self.text, spoken) + sum(prefixed) + excepted


def clauses(text: str) -> list[Clause]:
    """The clauses of a text in order; those that speak of nothing are left out."""
    plain = negation.plain(text)
    edges = [0, *(found.start() for found in _BREAK.finditer(plain)), len(plain)]
    pieces = (Clause(plain[start:end], Span(start, end)) for start, end in pairwise(edges))
    return [piece for piece in pieces if piece.subject_stems]
