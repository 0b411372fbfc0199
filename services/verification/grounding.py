"""Checks any text against any facts: sentence by sentence, with the citations it should have had."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from services.verification.entailment import MIN_COVERAGE
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
from services.verification.markers import cited_facts, without_markers
from services.verification.source import Cited, Source
from services.verification.sentences import spans, states_something
from services.verification.verdict import check_citation, conclude, judge, sources_of, unchecked
from services.verification.words import content_stems, words

_QUOTED = re.compile(r"[“\"„«]([^“”\"„«»]{3,})[”\"“»]")
_MIN_QUOTED_WORDS = 3
# A sentence is held against this many sentences of the facts at most, taken together.
MAX_EVIDENCE = 3
# A stem that stands in more sentences than this tells them apart no more.
MAX_POSTINGS = 2_000


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence of the checked text; `span` is where it is there."""

    span: Span
    finding: Finding
    needs_check: bool
    support: float = 0.0


@dataclass(slots=True)
class _Index:
    """Which sentences and which facts hold a stem."""

    sources: list[Source]
    sentences: list[Cited] = field(default_factory=list)
    owners: list[int] = field(default_factory=list)
    by_stem: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    facts_by_stem: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))


def check(
    answer: str,
    facts: Sequence[Passage],
    proceed: Callable[[], None],
    min_coverage: float = MIN_COVERAGE,
) -> list[Claim]:
    """The claims of an answer in order.

    Args:
        answer: Any text, with or without citation markers.
        facts: What it may rest on.
        proceed: Called between the steps; raises when the work is no longer wanted.
        min_coverage: The share of content words below which a sentence is not entailed.
    """
    index = _index(list(sources_of(facts).values()), proceed)
    blank = without_markers(answer)
    found = spans(blank)
    claims = []
    for position, span in enumerate(found):
        proceed()
        # Markers behind the full stop belong to the sentence before them.
        end = found[position + 1].start if position + 1 < len(found) else len(answer)
        claims.append(_check(answer, Span(span.start, end), span, index, min_coverage))
    return claims


def support(claims: Sequence[Claim]) -> float:
    """SUPPORTED sentences over those that need a check; 1 when none needs one."""
    checked = [claim for claim in claims if claim.needs_check]
    supported = sum(claim.finding.verdict is Verdict.SUPPORTED for claim in checked)
    return supported / len(checked) if checked else 1.0


def _check(answer: str, marked: Span, span: Span, index: _Index, min_coverage: float) -> Claim:
    text = answer[span.start : span.end]
    bare = without_markers(text)
    try:
        if not states_something(bare):
            return Claim(span, Finding(text, Verdict.UNSPECIFIED), needs_check=False)
        named = list(
            cited_facts(answer[marked.start : marked.end], [s.passage.id for s in index.sources])
        )
        finding = _find(text, bare, named, index, min_coverage)
        return Claim(span, finding, needs_check=True, support=_support(bare, index))
    except Exception as error:  # noqa: BLE001 - rule 1: whatever goes wrong in a check, nothing passes
        return Claim(span, unchecked(text, error), needs_check=True)


def _find(
    text: str, bare: str, named: Sequence[int | None], index: _Index, min_coverage: float
) -> Finding:
    if not index.sources:
        reason = Reason(Code.NO_CITATION, "There are no facts to rest on.")
        return Finding(text, Verdict.UNCITED, (reason,))
    allowed = {n for n in named if n is not None} or set(range(len(index.sources)))
    failed = [Reason(Code.UNKNOWN_PASSAGE, "A citation names none of the given facts.")] * (
        None in named
    )
    quoted, wrong = _quotes(bare, [index.sources[n] for n in sorted(allowed)], index.sources)
    failed += wrong
    # The fewest sentences that carry the text are its citations: each one more may bring a condition.
    best: tuple[list[Reason], list[Cited]] | None = None
    ranked = _rank(bare, allowed, index)
    for count in range(min(1, len(ranked)), min(MAX_EVIDENCE, len(ranked)) + 1):
        cited = [*quoted, *ranked[:count]]
        reasons = judge(bare, cited, min_coverage) if cited else [_NOTHING_LIKE_IT]
        if best is None or len(reasons) < len(best[0]):
            best = reasons, cited
        if not reasons:
            break
    reasons, cited = best or ([_NOTHING_LIKE_IT], [])
    citations = tuple(Citation(c.source.passage, c.span, Match.EXACT) for c in cited)
    reasons = [*failed, *reasons]
    return Finding(text, conclude(reasons), tuple(reasons), citations)


_NOTHING_LIKE_IT = Reason(Code.NO_ENTAILMENT, "No fact speaks of this.")


def _quotes(
    bare: str, allowed: Sequence[Source], sources: Sequence[Source]
) -> tuple[list[Cited], list[Reason]]:
    """Where the words in quotation marks stand; words in quotation marks must be verbatim."""
    cited, reasons = [], []
    known = {source.passage.id: source for source in sources}
    for found in _QUOTED.finditer(bare):
        if len(words(found[1])) < _MIN_QUOTED_WORDS:
            continue
        checked = [check_citation(DraftCitation(s.passage.id, found[1]), known) for s in allowed]
        places = [c for c in checked if isinstance(c, Citation)]
        if places:
            cited.append(Cited(known[places[0].passage.id], places[0].span))
            continue
        span = Span(found.start(1), found.end(1))
        # Of several failures the one that found the words, if any, says most.
        failures = sorted(
            (c for c in checked if isinstance(c, Reason)), key=lambda r: r.passage_span is None
        )
        reasons.append(replace(failures[0], statement_span=span))
    return cited, reasons


def _rank(bare: str, allowed: set[int], index: _Index) -> list[Cited]:
    """The sentences of the facts that together carry most of a text, greedily, best first."""
    wanted = _stems(bare)
    carries: dict[int, set[str]] = defaultdict(set)
    for stem in wanted:
        for sentence in index.by_stem.get(stem, ())[:MAX_POSTINGS]:
            if index.owners[sentence] in allowed:
                carries[sentence].add(stem)
    weight = {stem: 1 / (1 + len(index.by_stem.get(stem, ()))) + 1 for stem in wanted}
    chosen: list[Cited] = []
    left = set(wanted)
    while len(chosen) < MAX_EVIDENCE and carries:
        best = max(carries, key=lambda s: (sum(weight[stem] for stem in carries[s] & left), -s))
        if not carries[best] & left:
            break
        left -= carries.pop(best)
        chosen.append(index.sentences[best])
    return chosen


def _support(bare: str, index: _Index) -> float:
    """The share of content words that the best single fact carries."""
    stems = content_stems(bare)
    counts = Counter(fact for stem in stems for fact in index.facts_by_stem.get(stem, ()))
    return max(counts.values(), default=0) / len(stems) if stems else 0.0


def _index(sources: list[Source], proceed: Callable[[], None]) -> _Index:
    index = _Index(sources)
    for number, source in enumerate(sources):
        proceed()
        for span in source.sentences:
            sentence = Cited(source, span)
            for stem in _stems(sentence.text):
                index.by_stem[stem].append(len(index.sentences))
                index.facts_by_stem[stem].add(number)
            index.sentences.append(sentence)
            index.owners.append(number)
    return index


def _stems(text: str) -> frozenset[str]:
    """Content words and numbers: both tell which sentence is meant."""
    return frozenset(w.stem for w in words(text) if w.is_content or w.text[0].isdigit())
