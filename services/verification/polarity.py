"""Whether a statement turns what it cites: negation, force, and plain opposites."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import partial

from services.verification.clauses import Clause, Modality, clauses
from services.verification.evidence import Code, Reason
from services.verification.source import Cited
from services.verification.words import stem

# Of the cited clauses that share a word, this many are looked at.
MAX_CLAUSES = 200
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
        ("accept approve authorize", "reject"),
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


def disagreements(statement: str, cited: Sequence[Cited]) -> Iterator[Reason]:
    """Where a clause of the statement says the opposite of its nearest, or with another force."""
    theirs = [(c, clause) for c in cited for clause in clauses(c.text)]
    by_stem: dict[str, list[int]] = defaultdict(list)
    for number, (_, clause) in enumerate(theirs):
        for known in clause.subject_stems:
            by_stem[known].append(number)
    for ours in clauses(statement):
        shared = Counter(n for known in ours.subject_stems for n in by_stem[known][:MAX_CLAUSES])
        most = max(shared.values(), default=0)
        nearest = [theirs[number] for number, count in shared.items() if count == most]
        problems = [_differs(ours, clause, one) for one, clause in nearest]
        if problems and all(problems):
            yield from problems[0]


def _differs(ours: Clause, theirs: Clause, cited: Cited) -> list[Reason]:
    reason = partial(
        Reason,
        statement_span=ours.span,
        passage_id=cited.source.passage.id,
        passage_span=cited.in_source(theirs.span),
    )
    found = []
    if (ours.negations(theirs) - theirs.negations(ours)) % 2:
        message = "One of statement and source is negated, the other is not."
        found.append(reason(Code.NEGATION_MISMATCH, message, contradicts=True))
    elif any(_are_opposed(ours, theirs, one, other) for one, other in _OPPOSITES):
        message = "Statement and source use opposite words."
        found.append(reason(Code.NEGATION_MISMATCH, message, contradicts=True))
    mine, other = ours.modalities, theirs.modalities
    if mine and other and not mine & other:
        found.append(reason(Code.MODALITY_MISMATCH, _forces(mine, other), contradicts=True))
    elif (mine and not other) or (not mine and other and other <= _WEAKER):
        found.append(reason(Code.MODALITY_MISMATCH, _forces(mine, other)))
    return found


def _are_opposed(ours: Clause, theirs: Clause, one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether each clause uses words of one end of a scale only, and not of the same."""
    ends = [(bool(clause.stems & one), bool(clause.stems & other)) for clause in (ours, theirs)]
    return ends in ([(True, False), (False, True)], [(False, True), (True, False)])


def _forces(ours: frozenset[Modality], theirs: frozenset[Modality]) -> str:
    mine = " and ".join(sorted(ours)) or "a plain fact"
    other = " and ".join(sorted(theirs)) or "a plain fact"
    return f"The statement speaks of {mine}, the source of {other}."
