"""Answers with sentences of the sources and rows of their tables, word for word, or not at all.

The most relevant sentence comes first (`relevance.py`); of those that are about equal, the one with
most authority. Others follow while each covers a part of the question that those before left open.
When too little is covered, nothing answers: of a question that asks one thing, one sentence must
cover enough; of a question that asks n things, one sentence an n-th of it, and all of them enough.
A row is offered only where the question names it by its whole label.
A sentence that was objected to is not offered again, nor is one that states a fact of somebody else
than the question names (`subjects.py`). Statements that are kept from drafts before count as
chosen: what they cover is covered, and only what adds to them follows.

Whether something complies is not judged here: the compliance of such a question is UNKNOWN, beside
the sentences that bear on it.
"""

import asyncio
import re
import threading
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from itertools import chain

from nupunkt import PunktSentenceTokenizer

from services.chassis.errors import DeadlineExceeded
from services.generation import followup
from services.generation.drafter import (
    Citation,
    Compliance,
    Draft,
    Passage,
    Resolution,
    Statement,
    Task,
    Turn,
)
from services.generation.relevance import Judgement, Question, is_rule
from services.generation.sentences import reading, rows, sentences
from services.generation.subjects import Subjects, names
from services.generation.terms import Reader, Text

# What one step of authority is worth: it decides only between sentences that are about equal.
_AUTHORITY = 0.02
_SAME = 0.8
_NOTHING = Text({})
_ASKS_COMPLIANCE = re.compile(
    r"\b(?:non-?)?compl(?:y|ies|ied|iant|iance)\b|\b(?:permitted|allowed|lawful|violat\w+|breach\w*)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Rules:
    """What can be tuned.

    Attributes:
        cut: What is enough, as a share of the question, 0 to 1.
        limit: The most statements in a draft.
        follow: The relevance of a further sentence, at least, as a share of the best one's.
        gain: The share of the question that a further sentence must add.
    """

    cut: float = 0.46
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


@dataclass(frozen=True, slots=True)
class _Selection:
    chosen: Sequence[_Candidate]
    covered: float


class Extractor:
    """Picks sentences. May run on several threads at once."""

    def __init__(self, tokenizer: PunktSentenceTokenizer, rules: Rules) -> None:
        self._tokenizer = tokenizer
        self._rules = rules
        self._reader = Reader()

    def extract(self, task: Task, proceed: Callable[[], None] = lambda: None) -> Draft:
        """The sentences that answer, documents by their relevance, each in its own order.

        Args:
            task: What is asked, from what.
            proceed: Called at each sentence; raises when nobody waits for the draft any more.
        """
        selection = self._select(task, proceed)
        if selection.covered < self._rules.cut or not selection.chosen:
            return Draft()
        return Draft(
            tuple(one.statement for one in _in_reading_order(selection.chosen)),
            Compliance.UNKNOWN if _ASKS_COMPLIANCE.search(task.question) else Compliance.NOT_ASKED,
        )

    def covered(self, task: Task) -> float:
        """What the cut is compared with: the highest cut at which the task would be answered."""
        return self._select(task, lambda: None).covered

    def _select(self, task: Task, proceed: Callable[[], None]) -> _Selection:
        rejected = {_wording(objection.statement.text) for objection in task.objections}
        passages = [self._reader.read(passage.text) for passage in task.passages]
        question = Question(task.question, self._reader.read(task.question), passages)
        strangers = self._strangers(task, passages)
        candidates = []
        for passage, read in zip(task.passages, passages, strict=True):
            for candidate in self._candidates(question, passage, read):
                proceed()
                is_beside = passage.document_id in strangers and not is_rule(candidate.text)
                if not is_beside and _wording(candidate.text) not in rejected:
                    candidates.append(candidate)
        if not candidates:
            return _Selection((), 0.0)
        kept = [self._kept(question, statement) for statement in task.kept]
        best = max(candidate.judgement.relevance for candidate in (*candidates, *kept))
        chosen, together = self._choose(candidates, kept, floor=best * self._rules.follow)
        return _Selection(chosen, min(best * question.parts, together))

    def _strangers(self, task: Task, passages: Sequence[Text]) -> frozenset[str]:
        """The documents that are about others than the question is."""
        documents = defaultdict[str, set[str]](set)
        for passage, read in zip(task.passages, passages, strict=True):
            documents[passage.document_id].update(read.terms, self._above(passage).terms)
        named = (frozenset(self._reader.read(name).terms) for name in names(task.question))
        return Subjects(tuple(filter(None, named))).strangers(documents)

    def _above(self, passage: Passage) -> Text:
        """What stands above a passage: its headings and its document's name."""
        return self._reader.read(" ".join((*passage.heading_path, _name(passage.source_name))))

    def _candidates(self, question: Question, passage: Passage, read: Text) -> Iterator[_Candidate]:
        above = self._above(passage)
        told = sentences(passage.text, passage.heading_path, self._tokenizer)
        for found in chain(told, rows(passage.text)):
            if found.label and not question.names(self._reader.read(found.label)):
                continue
            quote = passage.text[found.start : found.end]
            text = reading(quote)
            sentence = self._reader.read(" ".join((text, *question.acronyms.told(text))))
            yield _Candidate(
                passage,
                passage.start + found.start,
                quote,
                text,
                frozenset(sentence.terms),
                question.judge(text, sentence, read, above),
            )

    def _kept(self, question: Question, statement: Statement) -> _Candidate:
        """A statement of an earlier draft, as if it were chosen already."""
        read = self._reader.read(statement.text)
        judgement = question.judge(statement.text, read, _NOTHING, _NOTHING)
        terms = frozenset(read.terms)
        return _Candidate(Passage("", ""), 0, "", statement.text, terms, judgement)

    def _choose(
        self, candidates: Sequence[_Candidate], kept: Sequence[_Candidate], floor: float
    ) -> tuple[Sequence[_Candidate], float]:
        """Sentences in the order of what each adds, and the share that all cover together."""
        chosen = list(kept) or [max(candidates, key=lambda one: one.rank)]
        covered = dict[str, float]()
        for one in chosen:
            _cover(covered, one)
        left = [one for one in candidates if one.judgement.relevance >= floor]
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
            _cover(covered, chosen[-1])
        return chosen[len(kept) :], sum(covered.values())


class ExtractiveDrafter:
    """Runs an extractor off the event loop, and stops it when nobody waits any more.

    Args:
        extractor: What is run.
        executor: Where; its size bounds how many drafts are made at once.
    """

    generator = "extractive/1"

    def __init__(self, extractor: Extractor, executor: Executor) -> None:
        self._extractor = extractor
        self._executor = executor

    async def stream(self, task: Task) -> AsyncGenerator[Statement | Draft]:
        """All at once: no sentence is chosen before the last one was read."""
        draft = await self.draft(task)
        for statement in draft.statements:
            yield statement
        yield draft

    async def resolve(self, question: str, history: Sequence[Turn]) -> Resolution:
        """By rules of the words alone."""
        return followup.resolve(question, history)

    async def draft(self, task: Task) -> Draft:
        """Sentences of the passages. A call that is cancelled while it waits is never run."""
        abandoned = threading.Event()

        def proceed() -> None:
            if abandoned.is_set():
                raise DeadlineExceeded("Nobody waits for this draft any more.")

        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(
                self._executor, self._extractor.extract, task, proceed
            )
        except asyncio.CancelledError:
            abandoned.set()
            raise


def _cover(covered: dict[str, float], one: _Candidate) -> None:
    for term, part in one.judgement.covered.items():
        covered[term] = max(part, covered.get(term, 0.0))


def _in_reading_order(chosen: Sequence[_Candidate]) -> list[_Candidate]:
    documents = list(dict.fromkeys(one.passage.document_id for one in chosen))
    return sorted(chosen, key=lambda one: (documents.index(one.passage.document_id), one.start))


def _name(source_name: str) -> str:
    """A file's name as words: TechCorp_Q3_2024.pdf is about TechCorp, Q3 2024."""
    return re.sub(r"[\W_]+", " ", source_name.rsplit(".", 1)[0])


def _wording(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\w+", text.casefold()))
