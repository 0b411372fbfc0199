"""The clauses of a text: what each speaks of, with what force, and how often it is negated."""

# ruff: noqa: RUF001 - typographic apostrophes are meant

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import pairwise

from services.verification.evidence import Span
from services.verification.phrases import compiled
from services.verification.scope import NEGATION
from services.verification.words import Word, stem, words

_BREAK = re.compile(
    r"[,;:.()!?]\s|\n\n|\b(?:but|because|while|whereas|although|though|since|if|unless|except"
    r"|when|where|which|who|so that)\b",
    re.IGNORECASE,
)
# These hold a "not" or "no" that negates nothing of the clause.
_NO_NEGATION = compiled(
    r"""
    not (?:only|just|merely)
    (?:not|no) (?:later|more|less|fewer|greater|higher|lower|earlier|longer) than
    not exceed\w* | no\.\s?\d+ | nor | whether or not
    """
)
_REJECTION = compiled(
    r"""
    (?:fail(?:s|ed|ing)?|failure) to | refus\w+ | den(?:y|ies|ied) | prohibit\w*
    forb[iaoe]d\w* | bann?ed | impossible | unlikely | false | lack(?:s|ed|ing)? | non(?=[-‐‑])
    """
)
_NEGATIVE_PREFIX = re.compile(r"(?:un|in|im|ir|il|non|dis)(?=[a-z]{3})")


class Modality(StrEnum):
    """What a clause makes of its verb."""

    OBLIGATION = "an obligation"
    PERMISSION = "a permission"
    PROHIBITION = "a prohibition"
    EXEMPTION = "an exemption"
    ADVICE = "advice"
    POSSIBILITY = "a possibility"


# In this order: what one cue has taken is no longer there for the next.
CUES = {
    Modality.EXEMPTION: compiled(
        r"""
        (?:not|n['’]t|never) (?:be )?(?:required|obliged|obligated|necessary|mandatory)
        needs? not | needn['’]t | (?:not|n['’]t) (?:have|need) to | not (?:require|need)
        no (?:obligation|requirement|need) | exempt\w* | optional
        """
    ),
    Modality.PROHIBITION: compiled(
        r"""
        (?:must|shall|may|can|could) not | (?:must|may|ca|could)n['’]t | cannot
        (?:not|n['’]t|never) (?:be )?(?:permitted|allowed|entitled)
        prohibit\w* | forb[iaoe]d\w* | bann?ed | no \w+(?: \w+)? (?:may|shall|must)
        """
    ),
    Modality.OBLIGATION: compiled(
        "must | shall | requir\\w+ | (?:has|have|had) to | needs? to | oblig\\w+ | mandatory"
    ),
    Modality.PERMISSION: compiled("(?-i:may) | can | permit\\w* | allow\\w* | entitled"),
    Modality.ADVICE: compiled("should | ought to | recommend\\w* | advis\\w+ | encourag\\w+"),
    Modality.POSSIBILITY: compiled("might | could | possib\\w+ | potential\\w* | likely"),
}


@dataclass(frozen=True)
class Clause:
    """A part of a text that says one thing."""

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
        text, found = self.text, set()
        for modality, cue in CUES.items():
            if cue.search(text):
                found.add(modality)
                text = cue.sub(" ", text)
        return frozenset(found)

    def negations(self, other: "Clause") -> int:
        """How often it is negated, counting "unpaid" where the other clause says "paid"."""
        text = _NO_NEGATION.sub(" ", self.text)
        prefixed = (unprefixed(w) in other.stems and w.stem not in other.stems for w in self.words)
        return len(NEGATION.findall(text)) + len(_REJECTION.findall(text)) + sum(prefixed)


def clauses(text: str) -> list[Clause]:
    """The clauses of a text in order; those that speak of nothing are left out."""
    edges = [0, *(found.start() for found in _BREAK.finditer(text)), len(text)]
    pieces = (Clause(text[start:end], Span(start, end)) for start, end in pairwise(edges))
    return [piece for piece in pieces if piece.subject_stems]


def unprefixed(word: Word) -> str:
    """The stem without a negative prefix; empty when there is none."""
    found = _NEGATIVE_PREFIX.match(word.text.lower())
    return stem(word.text[found.end() :]) if found else ""
