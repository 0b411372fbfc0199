"""How much of a question a sentence answers, judged by its words alone.

- The question is read as terms (`terms.py`), each with a share of its weight: the more, the fewer
  of the passages hold it, and double for a name with digits in it (form 8832, Q3 2021) that none of
  them holds, because then they are about something else; three times for a section's number.
- A sentence covers a term by holding it or, where the term is a figure, by stating a bound that the
  figure lies within: 30% is covered by "more than 25%". It covers a part of a term that its
  heading, its document's name or its passage holds.
- Relevance is the share of the question that is covered, less if the question asks for a date, a
  number or a duty and the sentence shows none, or if the question names a period and the sentence
  names only others. A question that asks several things asks for no one form.
- It is less, too, where all that a sentence itself covers stands in its headings or its document's
  name already: that a report is TechCorp's is no answer to what TechCorp earned.
- And it is less where nothing in particular is asked (`topics.py`): of a mere topic, half of the
  words may stand in any sentence.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from services.generation.acronyms import Acronyms
from services.generation.terms import Text
from services.generation.topics import is_topic

# Measured on CLAP NQ's development questions: none of these matters much, between half and double.
_RARITY = 0.5
_MISSING_NAME = 2.0
_MISSING_SECTION = 3.0
_BY_HEADING = 0.5
_BY_PASSAGE = 0.3
_BESIDE_THE_POINT = 0.7
# Passages without any of the terms that are counted in, so that two passages which both hold a word
# do not make it common.
_UNSEEN = 8

_PERIODS = (re.compile(r"fy\d{4}q\d"), re.compile(r"#(?:19|20)\d\d"))
_SECTION_NUMBER = re.compile(r"\b(?:section|article|part|no)\.?\s+\d[\d.]*", re.IGNORECASE)
# Where a question begins, or goes on to ask the next thing.
_ASKS = re.compile(
    r"(?:^|[?.;,]|\band\b|\bor\b)\s*(?:(?:at|by|for|from|in|on|to|under) )?"
    r"(?:who|whom|whose|what|when|where|which|why|how)\b",
    re.IGNORECASE,
)
_ASKS_FIGURE = re.compile(
    r"\b(?:what|which|how (?:much|many|high|large|big)|figures?|amounts?|rates?)\b", re.IGNORECASE
)
_ASKS_ELSE = re.compile(r"\b(?:who|whom|whose|where|why|when)\b", re.IGNORECASE)
# What a question asks for, and what a sentence that answers it must show.
_ASKS_WHEN = r"\b(?:when|(?:what|which) (?:date|day|month|year))\b"
_SHOWS_WHEN = (
    r"\d|\b(?:january|february|march|april|may|june|july|august|september|october|november"
    r"|december|days?|weeks?|months?|years?|century|after|before|until|when|once|if)\b"
)
_ASKS_HOW_MUCH = r"\bhow (?:many|much|long|old|far|big|large|often)\b"
_SHOWS_HOW_MUCH = (
    r"\d|\b(?:no|once|twice|daily|weekly|monthly|yearly|one|two|three|four|five|six|seven|eight"
    r"|nine|ten|eleven|twelve|dozen|hundred|thousand|million|billion|half)\b"
)
_ASKS_DUTY = (
    r"\b(?:must|should|shall|require[ds]?|requirements?|obligations?|action|allowed|permitted"
    r"|ha(?:s|ve) to|needs? to)\b"
)
_SHOWS_DUTY = (
    r"\b(?:must|shall|may|should|require[sd]?|prohibited|permitted|allowed|cannot|obliged"
    r"|ha(?:s|ve) to|needs? to)\b"
)
_DUTY = re.compile(_SHOWS_DUTY, re.IGNORECASE)
_FORMS = tuple(
    (re.compile(asks, re.IGNORECASE), re.compile(shows, re.IGNORECASE))
    for asks, shows in (
        (_ASKS_WHEN, _SHOWS_WHEN),
        (_ASKS_HOW_MUCH, _SHOWS_HOW_MUCH),
        (_ASKS_DUTY, _SHOWS_DUTY),
    )
)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a sentence covers of a question, in shares of the whole, and what that is worth.

    Attributes:
        covered: The share of each term that it covers.
        relevance: What it is worth, 0 to 1.
        says_more: Whether it covers by itself what is not in its headings or its document's name.
    """

    covered: Mapping[str, float]
    relevance: float
    says_more: bool

    def gain(self, over: Mapping[str, float]) -> float:
        """The share of the question that is covered here and not yet there."""
        if not self.says_more:
            return 0.0
        return sum(max(0.0, part - over.get(term, 0.0)) for term, part in self.covered.items())


class Question:
    """A question, to be compared with the sentences of some passages.

    Attributes:
        parts: How many things it asks.
        acronyms: What its words and short forms may be called besides.

    Args:
        wording: The question as it was asked.
        read: Its terms.
        passages: The terms of each passage.
    """

    def __init__(self, wording: str, read: Text, passages: Sequence[Text]) -> None:
        self._read = read
        self.acronyms = Acronyms(wording)
        self._is_topic = is_topic(wording)
        self.parts = max(1, len(_ASKS.findall(wording)))
        self._shown = [shows for asks, shows in _FORMS if asks.search(wording)]
        if self.parts > 1:
            self._shown = []
        self._asks_figure = bool(_ASKS_FIGURE.search(wording)) and not _ASKS_ELSE.search(wording)
        self._shares = _shares(read, passages, _sections(wording))
        self._periods = [
            (period, asked)
            for period in _PERIODS
            if (asked := set(filter(period.fullmatch, read.terms)))
        ]

    def judge(self, sentence: str, read: Text, passage: Text, headings: Text) -> Judgement:
        """What one sentence is worth, given its passage and what stands above it."""
        covered = {}
        says_more = headings.terms.keys() >= self._shares.keys()
        for term, share in self._shares.items():
            if term in read.terms or self._is_bounded(term, read):
                covered[term] = share
                says_more = says_more or term not in headings.terms
            elif term in headings.terms:
                covered[term] = share * _BY_HEADING
            elif term in passage.terms:
                covered[term] = share * _BY_PASSAGE
        relevance = sum(covered.values())
        if not self._has_form(sentence):
            relevance *= _BESIDE_THE_POINT
        if self._is_of_another_period(read):
            relevance *= _BESIDE_THE_POINT
        if not says_more:
            relevance *= _BESIDE_THE_POINT
        if self._is_topic:
            relevance *= _BESIDE_THE_POINT
        return Judgement(covered, relevance, says_more)

    def names(self, label: Text) -> bool:
        """Whether it asks for a figure by all that its label says: "net sales" is not "sales"."""
        if not self._asks_figure or not label.terms:
            return False
        return label.terms.keys() <= self._read.terms.keys()

    def _is_bounded(self, term: str, sentence: Text) -> bool:
        asked = self._read.terms[term]
        return asked is not None and any(
            stated.admits(asked) or asked.admits(stated) for stated in sentence.quantities
        )

    def _has_form(self, sentence: str) -> bool:
        shown = _SECTION_NUMBER.sub(" ", sentence)
        return all(shows.search(shown) for shows in self._shown)

    def _is_of_another_period(self, sentence: Text) -> bool:
        for period, asked in self._periods:
            named = set(filter(period.fullmatch, sentence.terms))
            if named and not asked & named:
                return True
        return False


def is_rule(sentence: str) -> bool:
    """Whether a sentence states what is to be done, and not what is."""
    return _DUTY.search(sentence) is not None


def _sections(question: str) -> frozenset[str]:
    """The terms of the sections that a question names."""
    named = _SECTION_NUMBER.findall(question)
    return frozenset("#" + name.split()[-1].rstrip(".") for name in named)


def _shares(
    question: Text, passages: Sequence[Text], sections: Collection[str]
) -> dict[str, float]:
    holding = Counter(term for passage in passages for term in passage.terms)
    seen = len(passages) + _UNSEEN
    weights = {}
    for term in question.terms:
        rarity = math.log((seen + 1) / (holding[term] + 1)) / math.log(seen + 1)
        missing = not holding[term] and question.is_name(term)
        strange = _MISSING_SECTION if term in sections else _MISSING_NAME
        weights[term] = (1 + _RARITY * rarity) * (strange if missing else 1.0)
    total = sum(weights.values())
    return {term: weight / total for term, weight in weights.items()}
