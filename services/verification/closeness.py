"""Whether a draft keeps to the words of the sentences it cites, their order and their limits.

A drafter is told to repeat its sources, so that what it adds, moves or leaves out needs none of the
allowance for honest paraphrase that any other text has. Each part of a statement must stand in one
cited sentence, word after word; and what of that sentence is left out must not limit the rest.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise

from services.verification.evidence import Code, DerivedFigure, Reason, Span
from services.verification.languages import LITTLE_WORDS, languages
from services.verification.negation import plain
from services.verification.openings import attribution, idle, label
from services.verification.phrases import listed
from services.verification.reading import overlaps, read, read_cited
from services.verification.scope import lead_in
from services.verification.source import Cited
from services.verification.telling import is_attribution, tells
from services.verification.turns import binding, negating
from services.verification.words import Word, stem, words

# Function words that a statement may not add either, by what they are compared as.
_KEPT = {
    word: name
    for name, group in {
        "ALL": "all any each every both always everyone everything anyone",
        "SOME": "some several many most few",
        "OR": "or",
    }.items()
    for word in listed(group)
}
# These say that figures are taken together.
_JOINING = frozenset(
    map(stem, listed("together total combined sum average mean difference altogether respectively"))
)
# A stretch behind one of these stands for itself.
_SEPARATOR = re.compile(r"[,;:](?=\s)|[.!?](?=\s+[A-Z])|[()\u2013\u2014]")
_LABEL_END = re.compile(r"[;:.!?](?=\s)")
_JOINS = re.compile(r"\W*(?:and|but|or)\b", re.IGNORECASE)
_PART_END = re.compile(r"[,;:()\u2013\u2014]\s|\b(?:and|but|und|et|y|e|en|и)\b", re.IGNORECASE)
_PRONOUN = re.compile(r"\W*(?:it|he|she|they|this|these|those|its|their|his|her)\b", re.IGNORECASE)
# What opens a limit, where otherwise another thing is said of the same subject.
_OPENS_LIMIT = frozenset(
    listed(
        "with within without under over above below by to from for of in on at after before until"
        " during while when where if unless who whom whose which that as holding having being than"
        " only but except nor not"
    )
)
# A bound that follows: "but not less than CHF 1,500".
_BOUND = re.compile(r"\bbut (?:not|no|only|never|at (?:least|most))\b", re.IGNORECASE)
# "Was to be repaid", "a tenth of the shares".
_TO_COME = re.compile(r"\b(?:is|are|was|were) to\b", re.IGNORECASE)
_AND = re.compile(r"\b(?:and|or)\b", re.IGNORECASE)
_PART_OF = re.compile(r"\bof\W+(?:(?:the|an?|its|their|all)\W+)?\Z", re.IGNORECASE)
# Of longer texts which word stands for which cannot be told; they are no drafts of a sentence.
MAX_TOKENS = 400
# A sentence of which a statement says less is quoted for something else beside another.
FEWEST = 2
SHORT = 2


@dataclass(frozen=True, slots=True)
class _Token:
    key: str
    word: Word


class _Sentence:
    """A cited sentence and its words."""

    def __init__(self, cited: Cited) -> None:
        self.cited = cited
        self.text = cited.text
        self.name = cited.source.passage.source_name
        self.tokens = _tokens(self.text)

    @cached_property
    def nearby(self) -> frozenset[str]:
        """Words that a statement may take from around it: headings, names, what a pronoun means."""
        above = read_cited(self.cited).context.removeprefix(self.cited.around.text)
        if _PRONOUN.match(self.text):
            before = [s for s in self.cited.source.sentences if s.end <= self.cited.span.start]
            above += "\n" + "".join(self.cited.source.text[s.start : s.end] for s in before[-1:])
        return frozenset(token.key for token in _tokens(above))

    @cached_property
    def section(self) -> str:
        """The number that the nearest sentence above has, or it itself; else its passage's."""
        source = self.cited.source
        above = [s for s in source.sentences if s.start <= self.cited.span.start]
        numbers = (label(source.text[s.start : s.end]) for s in reversed(above))
        return next(filter(None, numbers), source.passage.section_id)

    @cached_property
    def leads_in(self) -> Cited | None:
        """What leads in to the list that it is an item of."""
        source = self.cited.source
        at = [s.start for s in source.sentences].index(self.cited.span.start)
        lead = lead_in(source.body, source.sentences, at)
        return Cited(source, lead) if lead else None

    def places(self, tokens: Sequence[_Token]) -> set[int] | None:
        """Where it has these words in this order, close together; None where it does not."""
        own = [token.key for token in self.tokens]
        wanted = [token.key for token in tokens if token.key in own]
        if any(token.key not in own and token.key not in self.nearby for token in tokens):
            return None
        at = -1
        for key in wanted:
            if key not in own[at + 1 :]:
                return None
            at = own.index(key, at + 1)
        found, end = set[int](), at + 1
        for key in reversed(wanted):
            end = max(n for n in range(end) if own[n] == key)
            found.add(end)
        return found


def departures(
    statement: str, cited: Sequence[Cited], derived: Sequence[DerivedFigure] = ()
) -> Iterator[Reason]:
    """What a statement adds to the words it cites, moves in them, or wrongly leaves out."""
    sentences = [_Sentence(one) for stretch in cited for one in stretch.sentences]
    opened = min((attribution(statement, one.name, one.section) for one in sentences), default=0)
    statement = " " * opened + statement[opened:]
    parts = list(_parts(statement, [figure.span for figure in derived]))
    if sum(map(len, parts)) > MAX_TOKENS or any(len(s.tokens) > MAX_TOKENS for s in sentences):
        yield Reason(Code.NO_ENTAILMENT, "A sentence is too long to be compared.")
        return
    taken: dict[int, set[int]] = {}
    beside: set[int] | None = None
    for part in parts:
        places = {
            n: found for n, one in enumerate(sentences) if (found := one.places(part)) is not None
        }
        # A short part says nothing by itself: it belongs to the sentence of the one before.
        if beside is not None and len(part) <= SHORT and not derived:
            places = {number: found for number, found in places.items() if number in beside}
        if not places:
            span = Span(part[0].word.span.start, part[-1].word.span.end)
            shown = " ".join(statement[span.start : span.end][:200].split())
            message = f'No cited sentence says this in these words: "{shown}".'
            yield Reason(Code.NO_ENTAILMENT, message, statement_span=span)
            return
        beside = set(places)
        for number, found in places.items():
            taken.setdefault(number, set()).update(found)
    if derived:
        return  # Of a sentence that gives a figure to a sum, nothing else is said.
    fullest = max(map(len, taken.values()), default=0)
    said = {sentences[number].cited.key for number, found in taken.items() if found}
    for number, found in taken.items():
        if found and len(found) >= min(FEWEST, fullest):
            yield from _left_out(statement, sentences[number], found)
            yield from _without_lead(sentences[number], said)


def _without_lead(sentence: _Sentence, said: Collection[tuple[str, Span]]) -> Iterator[Reason]:
    """The words that lead in to a list, where an item needs them and they are not said."""
    lead = sentence.leads_in
    if lead is None or lead.key in said:
        return
    bare = sentence.text[idle(sentence.text) :].lstrip(" -*\u2022\u2013")
    if bare[:1].islower() or tells(lead.text, languages(lead.text)):
        shown = " ".join(lead.text[:200].split())
        yield Reason(
            Code.OMITTED_CONDITION,
            f'The source leads in: "{shown}".',
            passage_id=lead.source.passage.id,
            passage_span=lead.span,
        )


def _left_out(statement: str, sentence: _Sentence, taken: set[int]) -> Iterator[Reason]:
    """The first stretch of a sentence that is left out, and that limits what is taken."""
    text, all_words = sentence.text, words(sentence.text)
    little, facts = _little(text), read(text).spans
    opening = idle(text)
    telling = {t.word.span.start for t in sentence.tokens if t.word.span.start >= opening}
    kept_starts = {sentence.tokens[at].word.span.start for at in taken}
    kept = [at for at, word in enumerate(all_words) if word.span.start in kept_starts]
    for before, after in pairwise([-1, *kept, len(all_words)]):
        start = all_words[before].span.end if before >= 0 else 0
        end = all_words[after].span.start if after < len(all_words) else len(text)
        span, stretch = Span(start, end), all_words[before + 1 : after]
        content = [
            word
            for word in stretch
            if word.span.start in telling
            and word.text.lower() not in little
            and not overlaps(word.span, facts)
        ]
        if _is_cut(statement, text[start:end]) or (
            content and _limits(text, span, stretch[0], content)
        ):
            shown = " ".join(text[start:end][:200].strip(" ,;:.").split())
            yield Reason(
                Code.OMITTED_CONDITION,
                f'The source adds: "{shown}".',
                passage_id=sentence.cited.source.passage.id,
                passage_span=sentence.cited.in_source(span),
            )
            return


def _is_cut(statement: str, left: str) -> bool:
    """Whether little words and figures that are left out bound or take back what is not."""
    if any(one.search(left) and not one.search(statement) for one in (_BOUND, _TO_COME)):
        return True
    if not _PART_OF.search(left):
        return False
    stated = {(q.value, q.unit) for q in read(statement).quantities}
    return any((q.value, q.unit) not in stated for q in read(left).quantities)


def _limits(text: str, span: Span, first: Word, content: Sequence[Word]) -> bool:
    """Whether what is left out turns or narrows what is not.

    Args:
        text: The sentence.
        span: What of it is left out.
        first: Its first word.
        content: Those of its words that say something.
    """
    left = text[span.start : span.end]
    lead, rest = text[span.start : content[0].span.start + 1], text[content[-1].span.end : span.end]
    spoken = languages(text)
    is_told = tells(left, spoken)
    # "Ann holds the shares and is the owner": another thing, said of the same subject.
    joins = _JOINS.match(rest) is not None
    if span.start == 0 and _LABEL_END.search(rest):
        return is_told and not rest.startswith(";")
    opening = first.text.lower()
    if binding(spoken).search(left) or (span.start and opening in {"but", "except"}):
        return True
    if span.start == 0:
        return is_told or not joins
    if apart := _SEPARATOR.search(lead):
        return apart[0] not in ";:.!?" and is_attribution(left[apart.end() :], spoken)
    if span.end == len(text):
        return _AND.search(lead) is None
    is_limit = opening in _OPENS_LIMIT or opening.endswith(("ed", "ing"))
    return is_told or is_limit or not joins


def _parts(statement: str, derived: Sequence[Span]) -> Iterator[list[_Token]]:
    """The words of a statement, between its commas and its conjunctions."""
    edges = [found.start() for found in _PART_END.finditer(statement)]
    allowed = _JOINING if derived else frozenset[str]()

    def number(token: _Token) -> int:
        return sum(edge <= token.word.span.start for edge in edges)

    for _, tokens in groupby(_tokens(statement), number):
        part = [token for token in tokens if token.key not in allowed]
        if part and not derived:
            yield part
        elif part:
            # What is computed is of several sentences: each of its words may be of another.
            yield from ([token] for token in part)


def _tokens(text: str) -> list[_Token]:
    """The words that carry something, without those of figures, dates and references."""
    facts = read(text).spans
    turned = [Span(*found.span()) for found in negating(languages(text)).finditer(plain(text))]
    return [
        _Token(_KEPT.get(word.text.lower(), word.stem), word)
        for word in words(text)
        if (word.is_content or word.text.lower() in _KEPT)
        and not overlaps(word.span, facts)
        and not overlaps(word.span, turned)
    ]


def _little(text: str) -> frozenset[str]:
    """The little words of its languages, of which none says anything."""
    return frozenset(
        word
        for name in languages(text)
        if name in LITTLE_WORDS
        for word in LITTLE_WORDS[name].split()
    )
