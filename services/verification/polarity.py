"""Whether a statement turns what it cites: negation, force, and plain opposites."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from services.verification.clauses import Clause, clauses
from services.verification.evidence import Code, Reason
from services.verification.languages import languages
from services.verification.modality import Modality, modalities
from services.verification.negation import plain
from services.verification.source import Cited
from services.verification.words import stem

# Of the cited clauses that share a word, this many are looked at.
MAX_CLAUSES = 200
_WEAKER = frozenset(
    {Modality.PERMISSION, Modality.ADVICE, Modality.POSSIBILITY, Modality.EXEMPTION}
)
# The words of each end of a scale, and what it is to take one end for the other beside a figure;
# without a figure it is a negation.
_OPPOSITES = [
    (code, frozenset(map(stem, one.split())), frozenset(map(stem, other.split())))
    for code, one, other in (
        (
            Code.NUMBER_MISMATCH,
            "increase rise rose grew grow growth climb gain higher widen raise improve",
            "decrease fall fell decline drop shrink lower narrow reduce worsen",
        ),
        (Code.NUMBER_MISMATCH, "profit surplus", "loss deficit"),
        (Code.COMPARATOR_MISMATCH, "before prior", "after following"),
        (Code.COMPARATOR_MISMATCH, "above exceed over", "below under"),
        (Code.COMPARATOR_MISMATCH, "maximum highest largest most", "minimum lowest smallest least"),
        (Code.NEGATION_MISMATCH, "accept approve authorize", "reject"),
        (Code.NEGATION_MISMATCH, "include inclusive", "exclude exclusive"),
        (Code.NEGATION_MISMATCH, "success succeed", "failure fail"),
        (Code.NEGATION_MISMATCH, "mandatory compulsory required", "voluntary optional"),
        (Code.NEGATION_MISMATCH, "domestic", "foreign"),
        (Code.NEGATION_MISMATCH, "indicated", "contraindicated"),
        (Code.NEGATION_MISMATCH, "public", "private"),
        (Code.NEGATION_MISMATCH, "internal", "external"),
        (Code.NEGATION_MISMATCH, "direct", "indirect"),
        (Code.NEGATION_MISMATCH, "open", "close"),
        (Code.NEGATION_MISMATCH, "start begin began", "end stop cease"),
    )
]


def disagreements(statement: str, cited: Sequence[Cited]) -> Iterator[Reason]:
    """Where a clause of the statement says the opposite of its nearest, or with another force."""
    theirs = [(c, clause) for c in cited for clause in clauses(c.text)]
    by_stem: dict[str, list[int]] = defaultdict(list)
    for number, (_, clause) in enumerate(theirs):
        for known in clause.subject_stems:
            by_stem[known].append(number)
    both = _Both(
        modalities(plain(statement)),
        frozenset[Modality]().union(*(modalities(plain(c.text)) for c in cited)),
        languages(statement).union(*(languages(c.text) for c in cited)),
    )
    for ours in clauses(statement):
        shared = Counter(n for known in ours.subject_stems for n in by_stem[known][:MAX_CLAUSES])
        most = max(shared.values(), default=0)
        # In the order of the text: that of a set differs from process to process.
        nearest = [theirs[number] for number in sorted(shared) if shared[number] == most]
        problems = [_differs(ours, clause, one, both) for one, clause in nearest]
        if problems and all(problems):
            yield from problems[0]


@dataclass(frozen=True, slots=True)
class _Both:
    """What a statement and its source have in all of their clauses: forces and languages."""

    said: frozenset[Modality]
    cited: frozenset[Modality]
    spoken: frozenset[str]


def _differs(ours: Clause, theirs: Clause, cited: Cited, both: _Both) -> list[Reason]:
    """What is wrong between a clause of a statement and its nearest."""
    reason = partial(
        Reason,
        statement_span=ours.span,
        passage_id=cited.source.passage.id,
        passage_span=cited.in_source(theirs.span),
    )
    found = []
    if (ours.negations(theirs, both.spoken) - theirs.negations(ours, both.spoken)) % 2:
        message = "One of statement and source is negated, the other is not."
        found.append(reason(Code.NEGATION_MISMATCH, message, contradicts=True))
    elif code := _opposed(ours, theirs):
        message = "Statement and source use opposite words."
        found.append(reason(code, message, contradicts=True))
    mine, other = ours.modalities, theirs.modalities
    if mine and other and not mine & other:
        found.append(reason(Code.MODALITY_MISMATCH, _forces(mine, other), contradicts=True))
    # A force that another clause has may have moved with its words; "the minimum is" obliges too.
    elif mine and not other:
        if not mine & both.cited and not (theirs.is_bound and Modality.OBLIGATION in mine):
            found.append(reason(Code.MODALITY_MISMATCH, _forces(mine, other)))
    elif not mine and other and other <= _WEAKER and not other & both.said:
        found.append(reason(Code.MODALITY_MISMATCH, _forces(mine, other)))
    return found


def _opposed(ours: Clause, theirs: Clause) -> Code | None:
    """What it is that each clause uses words of one end of a scale only, and not of the same."""
    for code, one, other in _OPPOSITES:
        ends = [(bool(clause.stems & one), bool(clause.stems & other)) for clause in (ours, theirs)]
        if ends in ([(True, False), (False, True)], [(False, True), (True, False)]):
            has_figures = all(any(char.isdigit() for char in c.text) for c in (ours, theirs))
            return code if has_figures else Code.NEGATION_MISMATCH
    return None


def _forces(ours: frozenset[Modality], theirs: frozenset[Modality]) -> str:
    mine = " and ".join(sorted(ours)) or "a plain fact"
    other = " and ".join(sorted(theirs)) or "a plain fact"
    return f"The statement speaks of {mine}, the source of {other}."
