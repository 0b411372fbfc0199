"""Whether a statement turns what it cites: negation, obligation against permission, and plain opposites."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property

from services.verification.evidence import Code, Reason, Span
from services.verification.quotes import Cited
from services.verification.scope import NEGATION
from services.verification.words import Word, stem, words

_CLAUSE_BREAK = re.compile(
    r"[,;:.()!?]\s|\n\n|\b(?:but|because|while|whereas|although|though|since|if|unless|except|when|where|which|who|so that)\b",
    re.IGNORECASE,
)
# These hold a "not" or "no" that negates nothing of the clause: comparators, "not only", an abbreviation.
_NO_NEGATION = re.compile(
    r"\b(?:not|no) (?:only|just|merely|later|more|less|fewer|greater|lower|earlier|longer)\b|\bnot exceed\w*|\bno\.\s?\d|\bnor\b"
    r"|\bwhether or not\b",
    re.IGNORECASE,
)
_REJECTION = re.compile(
    r"\b(?:fail(?:s|ed|ing)?|failure) to\b|\brefus\w+|\bden(?:y|ies|ied)\b|\bprohibit\w*|\bforb[iaoe]d\w*|\bimpossible\b|\bunlikely\b"
    r"|\bfalse\b|\bbann?ed\b|\black(?:s|ed|ing)?\b",
    re.IGNORECASE,
)
_NEGATIVE_PREFIX = re.compile(r"(?:un|in|im|ir|il|non|dis)(?=[a-z]{3})")


class Modality(Enum):
    """What a clause makes of its verb."""

    OBLIGATION = auto()
    PERMISSION = auto()
    PROHIBITION = auto()
    EXEMPTION = auto()
    ADVICE = auto()
    POSSIBILITY = auto()


_MODALITIES = (
    (Modality.EXEMPTION, r"(?:not|n['’]t|never) (?:be )?(?:required|obliged|obligated|necessary|mandatory)|(?:need|needs) not|needn['’]t"
                         r"|(?:not|n['’]t) (?:have|need) to|not (?:require|need)|no (?:obligation|requirement|need)|exempt\w*|optional"),
    (Modality.PROHIBITION, r"(?:must|shall|may|can|could)(?: not|n['’]t)|cannot|(?:not|n['’]t|never) (?:be )?(?:permitted|allowed|entitled)"
                           r"|prohibit\w*|forb[iaoe]d\w*|no \w+(?: \w+)? (?:may|shall|must)|bann?ed"),
    (Modality.OBLIGATION, r"must|shall|requir\w+|(?:has|have|had) to|needs? to|oblig\w+|mandatory|is to be|are to be"),
    (Modality.PERMISSION, r"(?-i:may)|can|permit\w*|allow\w*|entitled"),
    (Modality.ADVICE, r"should|ought to|recommend\w*|advis\w+|encourag\w+"),
    (Modality.POSSIBILITY, r"might|could|possib\w+|potential\w*|likely"),
)  # fmt: skip
_MODALITY_CUES = [
    (m, re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE)) for m, pattern in _MODALITIES
]
_WEAKER = frozenset(
    {Modality.PERMISSION, Modality.ADVICE, Modality.POSSIBILITY, Modality.EXEMPTION}
)
_OPPOSITES = [
    (frozenset(map(stem, one.split())), frozenset(map(stem, other.split())))
    for one, other in (
        (
            "increase rise rose grew grow growth climb gain higher",
            "decrease fall fell decline drop shrink lower",
        ),
        ("permit allow accept approve authorize", "prohibit forbid reject refuse ban deny"),
        ("before prior", "after following"),
        ("above exceed over", "below under"),
        ("include inclusive", "exclude exclusive"),
        ("buy purchase acquire bought", "sell sold dispose"),
        ("profit surplus", "loss deficit"),
        ("success succeed", "failure fail"),
        ("maximum highest largest most", "minimum lowest smallest least"),
        ("mandatory compulsory required", "voluntary optional"),
        ("domestic", "foreign"),
        ("public", "private"),
        ("internal", "external"),
        ("direct", "indirect"),
        ("open", "close"),
        ("start begin began", "end stop cease"),
    )
]


@dataclass(frozen=True)
class Clause:
    """A part of a text that says one thing."""

    text: str
    span: Span

    @cached_property
    def words(self) -> list[Word]:
        return words(self.text)

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset(word.stem for word in self.words if word.is_content)

    @cached_property
    def all_stems(self) -> frozenset[str]:
        return frozenset(word.stem for word in self.words)

    @cached_property
    def modalities(self) -> frozenset[Modality]:
        text, found = self.text, set()
        for modality, cue in _MODALITY_CUES:
            if cue.search(text):
                found.add(modality)
                text = cue.sub(" ", text)
        return frozenset(found)

    def negations(self, other: "Clause") -> int:
        """How often it is negated, counting "unpaid" where the other clause says "paid"."""
        text = _NO_NEGATION.sub(" ", self.text)
        return (
            len(NEGATION.findall(text))
            + len(_REJECTION.findall(text))
            + sum(_unprefixed(w) in other.stems and w.stem not in other.stems for w in self.words)
        )

    def shared(self, other: "Clause") -> int:
        mine = self.stems | {_unprefixed(w) for w in self.words}
        theirs = other.stems | {_unprefixed(w) for w in other.words}
        return len((mine & theirs) - {""})


def disagreements(statement: str, cited: Sequence[Cited]) -> Iterator[Reason]:
    """Where a clause of the statement says the opposite, or with another force, of the one it is nearest to."""
    theirs = [(c, clause) for c in cited for clause in clauses(c.text)]
    for ours in clauses(statement):
        ranked = sorted(
            ((ours.shared(clause), c, clause) for c, clause in theirs), key=lambda r: -r[0]
        )
        if not ranked or not ranked[0][0]:
            continue
        nearest = [(c, clause) for shared, c, clause in ranked if shared == ranked[0][0]]
        problems = [_differs(ours, c, clause) for c, clause in nearest]
        if all(problems):
            yield from problems[0]


def clauses(text: str) -> list[Clause]:
    """The clauses of a text in order; those without a word are left out."""
    edges = [0, *(m.start() for m in _CLAUSE_BREAK.finditer(text)), len(text)]
    pieces = (Clause(text[a:b], Span(a, b)) for a, b in zip(edges, edges[1:], strict=False))
    return [piece for piece in pieces if piece.stems]


def _differs(ours: Clause, cited: Cited, theirs: Clause) -> list[Reason]:
    there = theirs.span.shifted(cited.span.start)

    def reason(code: Code, message: str, *, contradicts: bool) -> Reason:
        return Reason(code, message, contradicts, ours.span, cited.source.passage.id, there)

    found = []
    if (ours.negations(theirs) - theirs.negations(ours)) % 2:
        found.append(
            reason(
                Code.NEGATION_MISMATCH,
                "One of statement and source is negated, the other is not.",
                contradicts=True,
            )
        )
    elif any(_opposed(ours, theirs, one, other) for one, other in _OPPOSITES):
        found.append(
            reason(
                Code.NEGATION_MISMATCH, "Statement and source use opposite words.", contradicts=True
            )
        )
    mine, other = ours.modalities, theirs.modalities
    if mine and other and not mine & other:
        found.append(reason(Code.MODALITY_MISMATCH, _forces(mine, other), contradicts=True))
    elif (mine and not other) or (not mine and other and other <= _WEAKER):
        found.append(reason(Code.MODALITY_MISMATCH, _forces(mine, other), contradicts=False))
    return found


def _opposed(ours: Clause, theirs: Clause, one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether each clause uses words of one end of the scale only, and not of the same."""
    sides = [(bool(c.all_stems & one), bool(c.all_stems & other)) for c in (ours, theirs)]
    return sides in ([(True, False), (False, True)], [(False, True), (True, False)])


def _forces(ours: frozenset[Modality], theirs: frozenset[Modality]) -> str:
    def name(forces: frozenset[Modality]) -> str:
        return " and ".join(sorted(f.name.lower() for f in forces)) or "a plain fact"

    return f"The statement speaks of {name(ours)}, the source of {name(theirs)}."


def _unprefixed(word: Word) -> str:
    found = _NEGATIVE_PREFIX.match(word.text.lower())
    return stem(word.text[found.end() :]) if found else ""
