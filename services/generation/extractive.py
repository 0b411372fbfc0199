"""Answers with sentences of the sources, word for word, or not at all.

The most relevant sentence answers if it covers enough of the question (`relevance.py`); of those
that are about equal, the one with most authority. Others follow while each covers a part of the
question that those before left open. A sentence that was objected to is not offered again.

Whether something complies is not judged here: the compliance of such a question is UNKNOWN, beside
the sentences that bear on it.
"""

import asyncio
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Self

from nupunkt import PunktSentenceTokenizer

from services.generation.drafter import Citation, Compliance, Draft, Passage, Statement, Task
from services.generation.relevance import Judgement, Question
from services.generation.sentences import reading, sentences
from services.generation.terms import Reader

# What one step of authority is worth: it decides only between sentences that are about equal.
_AUTHORITY = 0.02
_SAME = 0.8
_ASKS_COMPLIANCE = re.compile(
    r"\b(?:non-?)?compl(?:y|ies|ied|iant|iance)\b|\b(?:permitted|allowed|lawful|violat\w+|breach\w*)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Rules:
    """What can be tuned.

    Attributes:
        cut: The relevance, 0 to 1, below which nothing answers.
        limit: The most statements in a draft.
        follow: The relevance of a further sentence, at least, as a share of the best one's.
        gain: The share of the question that a further sentence must add.
    """

    cut: float = 0.48
    limit: int = 4
    follow: float = 0.6
    gain: float = 0.12


@dataclass(frozen=True, slots=True)
class _Candidate:
    passage: Passage
    start: int
    quote: str
    text: str
    terms: frozenset[str]
    judgement: Judgement

    @property
    def rank(self) -> float:
        return self.judgement.relevance + _AUTHORITY * self.passage.authority

    @property
    def statement(self) -> Statement:
        return Statement(self.text, (Citation(self.passage.id, self.quote),))

    def repeats(self, other: "_Candidate") -> bool:
        """Whether nearly all that the shorter of the two says is in the longer."""
        shorter = min(len(self.terms), len(other.terms))
        return len(self.terms & other.terms) >= _SAME * shorter


class Extractor:
    """Picks sentences. Not for two threads at once, as its reader is not."""

    def __init__(self, tokenizer: PunktSentenceTokenizer, rules: Rules) -> None:
        self._tokenizer = tokenizer
        self._rules = rules
        self._reader = Reader()

    def extract(self, task: Task) -> Draft:
        """The sentences that answer, documents by their relevance, each in its own order."""
        rejected = {_wording(objection.statement.text) for objection in task.objections}
        chosen = self._choose(
            [one for one in self._candidates(task) if _wording(one.text) not in rejected]
        )
        if not chosen:
            return Draft(())
        return Draft(
            tuple(one.statement for one in _in_reading_order(chosen)),
            Compliance.UNKNOWN if _ASKS_COMPLIANCE.search(task.question) else Compliance.NOT_ASKED,
        )

    def relevance(self, task: Task) -> float:
        """What the cut is compared with: the best sentence's relevance, 0 when there is none."""
        return max((one.judgement.relevance for one in self._candidates(task)), default=0.0)

    def _candidates(self, task: Task) -> Iterator[_Candidate]:
        passages = [self._reader.read(passage.text) for passage in task.passages]
        question = Question(task.question, self._reader.read(task.question), passages)
        for passage, read_passage in zip(task.passages, passages, strict=True):
            above = self._reader.read(" ".join((*passage.heading_path, _name(passage.source_name))))
            for found in sentences(passage.text, passage.heading_path, self._tokenizer):
                quote = passage.text[found.start : found.end]
                text = reading(quote)
                read = self._reader.read(text)
                yield _Candidate(
                    passage,
                    passage.start + found.start,
                    quote,
                    text,
                    frozenset(read.terms),
                    question.judge(text, read, read_passage, above),
                )

    def _choose(self, candidates: Sequence[_Candidate]) -> list[_Candidate]:
        answers = [one for one in candidates if one.judgement.relevance >= self._rules.cut]
        if not answers:
            return []
        best = max(answers, key=lambda one: one.rank)
        floor = self._rules.follow * best.judgement.relevance
        left = [one for one in candidates if one.judgement.relevance >= floor]
        chosen = [best]
        covered = dict(best.judgement.covered)
        while len(chosen) < self._rules.limit:
            left = [
                one
                for one in left
                if one.judgement.gain(covered) >= self._rules.gain
                and not any(one.repeats(other) for other in chosen)
            ]
            if not left:
                break
            chosen.append(max(left, key=lambda one: one.rank + one.judgement.gain(covered)))
            for term, part in chosen[-1].judgement.covered.items():
                covered[term] = max(part, covered.get(term, 0.0))
        return chosen


class ExtractiveDrafter:
    """Runs an extractor on a thread of its own, so that the event loop stays free."""

    generator = "extractive/1"

    def __init__(self, extractor: Extractor) -> None:
        self._extractor = extractor
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="extractive")

    async def draft(self, task: Task) -> Draft:
        """Sentences of the passages. A call that is cancelled while it waits is never run."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._extractor.extract, task)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)


def _in_reading_order(chosen: Sequence[_Candidate]) -> list[_Candidate]:
    documents = list(dict.fromkeys(one.passage.document_id for one in chosen))
    return sorted(chosen, key=lambda one: (documents.index(one.passage.document_id), one.start))


def _name(source_name: str) -> str:
    """A file's name as words: TechCorp_Q3_2024.pdf is about TechCorp, Q3 2024."""
    return re.sub(r"[\W_]+", " ", source_name.rsplit(".", 1)[0])


def _wording(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\w+", text.casefold()))
