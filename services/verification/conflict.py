"""Whether another source in force gives another value for what a statement states."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from services.verification.dates import Date
from services.verification.evidence import Citation, Code, Match, Reason, Span
from services.verification.measures import CHANGE, Figure, Value, alternatives, figures
from services.verification.one_fact import are_of_one_fact, differ, key, section, told
from services.verification.reading import read
from services.verification.source import Cited, Source

# A statement has this many conflicts at most; one is enough to stop it.
MAX_CONFLICTS = 3
# A stem is its word's beginning but for its last letters.
_PREFIX = 4

# The sentences that may hold a stem of each group, or name one of the sections.
Nearby = Callable[[Sequence[Collection[str]], Collection[str]], Iterable[Cited]]


class Conflicts:
    """Looks for other values among the sources of one request, reading each sentence once.

    Args:
        nearby: Finds what may speak of the same; may give too much.
        today: The day, as YYYY-MM-DD, on which a source must be in force to count; empty: any.
    """

    def __init__(self, nearby: Nearby, today: str) -> None:
        self._nearby = nearby
        self._today = today
        self._read: dict[Cited, list[Figure]] = {}

    def of(self, statement: str, cited: Sequence[Cited]) -> list[Reason]:
        """A reason for each value of a statement for which another source in force has another.

        A statement that gives both values tells of the conflict itself, and is left alone.

        Args:
            statement: What is stated; it agrees with what it cites.
            cited: The words it rests on.
        """
        facts = read(statement)
        values: list[Value] = [*facts.quantities, *facts.dates]
        said = {key(value): value.span for value in values}
        all_told = set(map(told, values))
        sentences = {sentence.key: sentence for one in cited for sentence in one.sentences}
        return [
            _reason(ours, theirs, said[key(ours.value)])
            for sentence in sentences.values()
            for ours in self._figures(sentence)
            if key(ours.value) in said
            for theirs in self._others(ours)
            if told(theirs.value) not in all_told
        ][:MAX_CONFLICTS]

    def _others(self, figure: Figure) -> Iterator[Figure]:
        """The figures that are of the same fact and of another value."""
        sections = {number for kind, number in figure.places if kind == "section"}
        groups = [alternatives(one) for one in figure.about - {CHANGE}]
        for sentence in self._nearby(groups, sections | {section(figure)} - {""}):
            if sentence.key == figure.cited.key:
                continue
            for theirs in self._figures(sentence):
                if are_of_one_fact(figure, theirs) and differ(figure, theirs):
                    yield theirs

    def _figures(self, sentence: Cited) -> list[Figure]:
        """The figures of a sentence that are in force."""
        if not sentence.source.passage.is_in_force(self._today):
            return []
        if sentence not in self._read:
            self._read[sentence] = [f for f in figures(sentence) if self._has_begun(f)]
        return self._read[sentence]

    def _has_begun(self, figure: Figure) -> bool:
        return not (figure.starts and self._today) or _iso(figure.starts) <= self._today


def among(sources: Iterable[Source]) -> Nearby:
    """Looks for letters first, which is quick where there are few sources."""
    given = list(sources)

    def nearby(groups: Sequence[Collection[str]], sections: Collection[str]) -> Iterator[Cited]:
        beginnings = [{stem[:_PREFIX] for stem in group} for group in groups]

        def may_hold(text: str) -> bool:
            return all(any(form in text for form in forms) for forms in beginnings)

        for source in given:
            is_named = any(n in source.text or n == source.passage.section_id for n in sections)
            if is_named or may_hold(source.lowered):
                for span in source.sentences:
                    if is_named or may_hold(source.lowered[span.start : span.end]):
                        yield Cited(source, span)

    return nearby


def _iso(date: Date) -> str:
    return f"{date.year:04}-{date.month:02}-{date.day:02}"


def _reason(ours: Figure, theirs: Figure, span: Span) -> Reason:
    passage = theirs.cited.source.passage
    return Reason(
        Code.CONFLICTING_SOURCES,
        f'Sources in force differ: "{_words(ours)}" in {_name(ours)}, "{_words(theirs)}" in'
        f" {_name(theirs)}. Give both values with their sources in one statement, or neither.",
        contradicts=True,
        statement_span=span,
        passage_id=passage.id,
        passage_span=theirs.cited.in_source(theirs.value.span),
        citations=tuple(
            Citation(figure.cited.source.passage, figure.cited.span, Match.EXACT)
            for figure in (ours, theirs)
        ),
    )


def _words(figure: Figure) -> str:
    span = figure.value.span
    return figure.cited.text[span.start : span.end]


def _name(figure: Figure) -> str:
    passage = figure.cited.source.passage
    return passage.source_name or passage.id
