"""Answers with sentences of the sources, word for word, or not at all.

How a sentence is judged, without a model:

- The question is read as terms (`terms.py`), each with a weight: more the fewer passages hold it, and
  double for a name with digits in it (form 8832, Q3 2024), because a sentence about another form is no
  answer.
- A sentence covers a term by holding it, by stating a bound that the question's figure lies within, or,
  at half weight, by standing under a heading or in a document that holds it.
- Its relevance is the share of the question's weight it covers, blended with the share its passage
  holds, less if the question asks for a date, a number or a duty and the sentence has none.
- The best sentence below the cut: no answer. Otherwise sentences are added while each covers a part
  of the question that those before it left open.

It does not judge compliance: where a question asks for that, it says UNKNOWN beside the sentences.
"""

import asyncio
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from nupunkt import PunktSentenceTokenizer

from services.generation.drafter import Citation, Compliance, Draft, Passage, Statement, Task
from services.generation.sentences import reading, sentences
from services.generation.terms import Reader, Text

_BY_HEADING = 0.5
_BY_PASSAGE = 0.3
_NAMED = 2.0
_RARITY = 0.5
# Passages without any of the terms that are counted in, so that two passages that both hold a word do
# not make it common.
_UNSEEN = 8
_WRONG_FORM = 0.7
_AUTHORITY = 0.02

_ASKS_COMPLIANCE = re.compile(
    r"\b(?:compl(?:y|ies|iant|iance)|non-?complian\w+|permitted|allowed|violat\w+|breach\w*|lawful)\b",
    re.IGNORECASE,
)
# What a question asks for, and what a sentence that answers it must show.
_FORMS = (
    (
        re.compile(r"\b(?:when|(?:what|which) (?:date|day|month|year))\b", re.IGNORECASE),
        re.compile(
            r"\d|\b(?:january|february|march|april|may|june|july|august|september|october|november"
            r"|december|day|week|month|year|century|after|before|until|when|once)",
            re.IGNORECASE,
        ),
    ),
    (
        re.compile(r"\bhow (?:many|much|long|old|far|tall|big|large|often)\b", re.IGNORECASE),
        re.compile(
            r"\d|\b(?:no|once|twice|daily|weekly|monthly|one|two|three|four|five|six|seven|eight|nine"
            r"|ten|eleven|twelve|dozen|hundred|thousand|million|billion|half)\b",
            re.IGNORECASE,
        ),
    ),
    (
        re.compile(
            r"\b(?:must|should|shall|require[ds]?|requirements?|obligations?|action|allowed|permitted"
            r"|ha(?:s|ve) to|needs? to)\b",
            re.IGNORECASE,
        ),
        re.compile(
            r"\b(?:must|shall|may|should|require[sd]?|prohibited|permitted|allowed|cannot|ha(?:s|ve) to"
            r"|needs? to|obliged)\b",
            re.IGNORECASE,
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Rules:
    """What can be tuned.

    Attributes:
        cut: Relevance, 0 to 1, below which nothing answers.
        limit: Most statements in a draft.
        gain: Share of the question that a further sentence must add.
        follow: Relevance of a further sentence, as a share of the best one's.
    """

    cut: float = 0.475
    limit: int = 4
    gain: float = 0.12
    follow: float = 0.65


@dataclass(frozen=True, slots=True)
class _Candidate:
    passage: Passage
    start: int
    quote: str
    text: str
    terms: frozenset[str]
    covered: Mapping[str, float]
    relevance: float


class Extractor:
    """Picks sentences. Not safe for two threads at once."""

    def __init__(self, tokenizer: PunktSentenceTokenizer, rules: Rules) -> None:
        self._tokenizer = tokenizer
        self._rules = rules
        self._reader = Reader()

    def extract(self, task: Task) -> Draft:
        """The sentences that answer; a sentence that was objected to is not offered again."""
        question = self._reader.read(task.question)
        rejected = {_key(objection.statement.text) for objection in task.objections}
        candidates = [
            candidate
            for candidate in self._candidates(task.question, question, task.passages)
            if _key(candidate.text) not in rejected
        ]
        chosen = self._choose(candidates)
        if not chosen:
            return Draft(())
        return Draft(
            tuple(
                Statement(one.text, (Citation(one.passage.id, one.quote),))
                for one in _in_reading_order(chosen)
            ),
            Compliance.UNKNOWN if _ASKS_COMPLIANCE.search(task.question) else Compliance.NOT_ASKED,
        )

    def relevance(self, task: Task) -> float:
        """That of the best sentence, 0 when there is none: what the cut is compared with."""
        question = self._reader.read(task.question)
        found = self._candidates(task.question, question, task.passages)
        return max((candidate.relevance for candidate in found), default=0.0)

    def _candidates(
        self, words: str, question: Text, passages: Sequence[Passage]
    ) -> Iterator[_Candidate]:
        held = [frozenset(self._reader.read(passage.text).terms) for passage in passages]
        weights = _weights(question, held)
        if not weights:
            return
        shows_form = _form(words)
        for passage, in_passage in zip(passages, held, strict=True):
            above = " ".join((*passage.heading_path, _name(passage.source_name)))
            context = {
                **dict.fromkeys(in_passage, _BY_PASSAGE),
                **dict.fromkeys(self._reader.read(above).terms, _BY_HEADING),
            }
            for found in sentences(passage.text, passage.heading_path, self._tokenizer):
                quote = passage.text[found.start : found.end]
                text = reading(quote)
                read = self._reader.read(text)
                covered = _covered(weights, question, read, context)
                relevance = sum(covered.values()) * (1.0 if shows_form(text) else _WRONG_FORM)
                yield _Candidate(
                    passage,
                    found.start,
                    quote,
                    text,
                    frozenset(read.terms),
                    covered,
                    relevance,
                )

    def _choose(self, candidates: Sequence[_Candidate]) -> list[_Candidate]:
        rules = self._rules
        chosen: list[_Candidate] = []
        left = sorted(candidates, key=_rank, reverse=True)
        if not left or left[0].relevance < rules.cut:
            return []
        floor = left[0].relevance * rules.follow
        open_terms: dict[str, float] = {}
        while left and len(chosen) < rules.limit:
            best = left.pop(0)
            chosen.append(best)
            for term, share in best.covered.items():
                open_terms[term] = max(open_terms.get(term, 0.0), share)
            left = [
                one
                for one in left
                if one.relevance >= floor
                and _gain(one, open_terms) >= rules.gain
                and not _repeats(one, chosen)
            ]
            left.sort(key=lambda one: _rank(one) + _gain(one, open_terms), reverse=True)
        return chosen


class ExtractiveDrafter:
    """Runs an extractor on one thread of its own, so that the event loop stays free."""

    generator = "extractive/1"

    def __init__(self, extractor: Extractor) -> None:
        self._extractor = extractor
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="extractive")

    async def draft(self, task: Task) -> Draft:
        """Sentences of the passages; a call cancelled while it waits for the thread never runs."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._extractor.extract, task)

    def __enter__(self) -> "ExtractiveDrafter":
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)


def _weights(question: Text, held: Sequence[frozenset[str]]) -> dict[str, float]:
    """The question's terms with their shares of its weight; the shares add up to 1."""
    count = Counter(term for terms in held for term in terms)
    passages = len(held) + _UNSEEN
    raw = {}
    for term in dict.fromkeys(question.terms):
        rarity = math.log((passages + 1) / (count[term] + 1)) / math.log(passages + 1)
        raw[term] = (_NAMED if _is_name(term, question) else 1.0) * (1 + _RARITY * rarity)
    total = sum(raw.values())
    return {term: weight / total for term, weight in raw.items()}


def _is_name(term: str, question: Text) -> bool:
    """Whether the term is a thing's name with digits in it, and not a measured quantity."""
    quantity = question.quantities.get(term)
    return not quantity.unit if quantity else any(letter.isdigit() for letter in term)


def _covered(
    weights: Mapping[str, float], question: Text, sentence: Text, context: Mapping[str, float]
) -> dict[str, float]:
    held = set(sentence.terms)
    covered = {}
    for term, weight in weights.items():
        if term in held or _within_a_bound(term, question, sentence):
            covered[term] = weight
        elif term in context:
            covered[term] = weight * context[term]
    return covered


def _within_a_bound(term: str, question: Text, sentence: Text) -> bool:
    asked = question.quantities.get(term)
    return asked is not None and any(
        stated.admits(asked) for stated in sentence.quantities.values()
    )


def _form(question: str) -> Callable[[str], bool]:
    shown = [answer for asks, answer in _FORMS if asks.search(question)]
    return lambda sentence: all(answer.search(sentence) for answer in shown)


def _rank(candidate: _Candidate) -> float:
    return candidate.relevance + _AUTHORITY * candidate.passage.authority


def _gain(candidate: _Candidate, covered: Mapping[str, float]) -> float:
    return sum(
        max(0.0, share - covered.get(term, 0.0)) for term, share in candidate.covered.items()
    )


def _repeats(candidate: _Candidate, chosen: Sequence[_Candidate]) -> bool:
    """Whether most of what the shorter of two sentences says is in the other."""
    return any(
        len(candidate.terms & other.terms)
        >= 0.8 * max(1, min(len(candidate.terms), len(other.terms)))
        for other in chosen
    )


def _in_reading_order(chosen: Sequence[_Candidate]) -> list[_Candidate]:
    """Documents by their best sentence, sentences as they stand in the document."""
    documents = list(dict.fromkeys(one.passage.document_id for one in chosen))
    return sorted(
        chosen,
        key=lambda one: (
            documents.index(one.passage.document_id),
            one.passage.start + one.start,
        ),
    )


def _name(source_name: str) -> str:
    """A file's name as words: TechCorp_Q3_2024.pdf is about TechCorp, Q3 2024."""
    return re.sub(r"[_\W]+", " ", source_name.rsplit(".", 1)[0])


def _key(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
