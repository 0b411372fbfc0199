"""Checks any text against any facts, sentence by sentence, with the citations each should have."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from services.verification.citing import check_citation
from services.verification.conflict import Conflicts
from services.verification.entailment import MIN_COVERAGE, coverage
from services.verification.evidence import (
    Citation,
    Code,
    DraftCitation,
    Finding,
    Match,
    Passage,
    Reason,
    Span,
    Verdict,
)
from services.verification.index import Index
from services.verification.markers import Naming, without_markers
from services.verification.remarks import is_remark, without_lead
from services.verification.sentences import spans, states_something
from services.verification.source import Cited, Source
from services.verification.verdict import (
    Comparison,
    Examined,
    compare,
    conclude,
    unchecked,
    with_rest,
)
from services.verification.words import words

# A sentence is held against this many sentences of the facts at most, taken together.
MAX_EVIDENCE = 3
# Fewer words in quotation marks are a term, not a quotation.
MIN_QUOTED_WORDS = 3
_QUOTED = re.compile(r"[“\"„«]([^“”\"„«»]{3,})[”\"“»]")

_NO_FACTS = Reason(Code.NO_CITATION, "There are no facts to rest on.")
_NOTHING_NEAR = Reason(Code.NO_ENTAILMENT, "No fact speaks of this.")
_NO_SUCH_FACT = Reason(Code.UNKNOWN_PASSAGE, "A citation names none of the given facts.")

# How likely some words carry a text of which that much is wrong, 0 to 1.
Score = Callable[[str, Sequence[Cited], Sequence[Reason]], float]


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence of the checked text; `span` is where it is there."""

    span: Span
    examined: Examined
    needs_check: bool
    support: float = 0.0

    @property
    def finding(self) -> Finding:
        return self.examined.finding


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence of the answer, what of it is checked, and the facts that its markers name."""

    span: Span
    text: str
    bare: str
    named: Sequence[int | None]


def check(
    answer: str,
    facts: Sequence[Passage],
    proceed: Callable[[], None],
    *,
    min_coverage: float = MIN_COVERAGE,
    today: str = "",
    score: Score | None = None,
) -> list[Claim]:
    """The claims of an answer in order.

    Args:
        answer: Any text, with or without citation markers.
        facts: What it may rest on.
        proceed: Called between the steps; raises when the work is no longer wanted.
        min_coverage: The share of content words below which a sentence is not entailed.
        today: The day on which facts must be in force to contradict each other; empty: any.
        score: How likely the facts carry a sentence; None: by the share of its words they have.
    """
    index = Index([Source(fact) for fact in facts], proceed)
    conflicts = Conflicts(index.holding, today)
    naming = Naming(answer, [fact.id for fact in facts])
    blank = without_markers(answer)
    sentences = spans(blank)
    # A marker behind a full stop belongs to the sentence before it.
    ends = [span.start for span in sentences[1:]] + [len(answer)]
    claims = []
    for span, end in zip(sentences, ends, strict=True):
        proceed()
        sentence = _Sentence(
            span,
            answer[span.start : span.end],
            without_lead(blank[span.start : span.end]),
            list(naming.cited(answer[span.start : end])),
        )
        claims.append(_check(sentence, index, conflicts, min_coverage, score or _share))
    return claims


def support(claims: Sequence[Claim]) -> float:
    """SUPPORTED sentences over those that need a check; 1 when none needs one."""
    checked = [claim for claim in claims if claim.needs_check]
    supported = sum(claim.finding.verdict is Verdict.SUPPORTED for claim in checked)
    return supported / len(checked) if checked else 1.0


def _check(
    sentence: _Sentence, index: Index, conflicts: Conflicts, min_coverage: float, score: Score
) -> Claim:
    span, text = sentence.span, sentence.text
    if is_remark(sentence.bare) or not states_something(sentence.bare):
        return Claim(span, Examined(Finding(text, Verdict.UNSPECIFIED)), needs_check=False)
    try:
        found, cited = _examine(sentence, index, min_coverage)
        reasons = found.reasons or conflicts.of(sentence.bare, cited)
        support = score(sentence.bare, cited, reasons) if cited else 0.0
        citations = tuple(Citation(one.source.passage, one.span, Match.EXACT) for one in cited)
        finding = Finding(text, conclude(reasons), tuple(reasons), citations)
        examined = with_rest(finding, sentence.bare, cited, is_quote=found.is_quote)
    except Exception as error:  # noqa: BLE001 - whatever goes wrong in a check, nothing passes
        return Claim(span, Examined(unchecked(text, error)), needs_check=True)
    return Claim(span, examined, needs_check=True, support=support)


def _share(text: str, cited: Sequence[Cited], _: Sequence[Reason]) -> float:
    return coverage(text, cited)


def _examine(
    sentence: _Sentence, index: Index, min_coverage: float
) -> tuple[Comparison, list[Cited]]:
    """What is wrong with a sentence, and the sentences of the facts it was held against."""
    bare, named = sentence.bare, sentence.named
    if not index.sources:
        return Comparison([_NO_FACTS]), []
    allowed = {n for n in named if n is not None} or set(range(len(index.sources)))
    quoted, failed = _quotations(bare, [index.sources[n] for n in sorted(allowed)])
    if None in named:
        failed.append(_NO_SUCH_FACT)
    near = index.nearest(bare, allowed, MAX_EVIDENCE)
    # The fewest sentences that carry it are its citations: each one more may bring a condition.
    tries = [[*quoted, *near[:count]] for count in range(1, len(near) + 1)] or [quoted]
    enough = [cited for cited in tries if coverage(bare, cited) >= min_coverage] or tries[-1:]
    best, rests_on = Comparison([_NOTHING_NEAR]), list[Cited]()
    for cited in filter(None, enough):
        found = compare(bare, cited, min_coverage)
        if not rests_on or len(found.reasons) < len(best.reasons):
            best, rests_on = found, cited
        if not found.reasons:
            break
    return replace(best, reasons=[*failed, *best.reasons]), rests_on


def _quotations(bare: str, allowed: Sequence[Source]) -> tuple[list[Cited], list[Reason]]:
    """Where the words in quotation marks stand, and those that stand nowhere as they are quoted."""
    cited, failed = [], []
    for found in _QUOTED.finditer(bare):
        if len(words(found[1])) < MIN_QUOTED_WORDS:
            continue
        checked = [
            (source, check_citation(DraftCitation(source.passage.id, found[1]), source, allowed))
            for source in allowed
        ]
        places = [Cited(s, place.span) for s, place in checked if isinstance(place, Citation)]
        if places:
            cited.append(places[0])
        else:
            # Of the failures, one that found the words says most.
            reasons = [place for _, place in checked if isinstance(place, Reason)]
            worst = min(reasons, key=lambda reason: reason.passage_span is None)
            failed.append(replace(worst, statement_span=Span(found.start(1), found.end(1))))
    return cited, failed
