"""The words of a text by what they are compared as, with those that decide what it says."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from services.verification.agreement import is_near
from services.verification.bounds import BEFORE, DOWN, UP
from services.verification.dates import Date
from services.verification.evidence import Code, Span
from services.verification.languages import languages
from services.verification.modality import CUES, Modality
from services.verification.negation import EXCEPTION, negating, plain, unprefixed
from services.verification.phrases import compiled, whole
from services.verification.quantities import Quantity
from services.verification.reading import read
from services.verification.references import Reference
from services.verification.words import words

# What decides, in the order in which each takes its words. Words of one name mean the same.
_SHARES = {
    "ALL": r"all | every(?! \d) | each | both",
    "SOME": r"(?:some|many)(?! \d) | several | certain | (?<!at )most | few",
}
_COMPARING = tuple(
    (Code.COMPARATOR_MISMATCH, name, compiled(phrases))
    for name, phrases in (*_SHARES.items(), *((c.name, cues) for c, cues in BEFORE.items()))
)
_DECIDING = (
    (
        Code.NEGATION_MISMATCH,
        "ONLY",
        compiled(
            "only(?! (?:if|where|when|with|after|on|upon)\\b) | merely | solely | exclusively"
        ),
    ),
    (Code.COMPARATOR_MISMATCH, "BEFORE", compiled("before | prior to")),
    (Code.COMPARATOR_MISMATCH, "AFTER", compiled("after | following")),
    (Code.NUMBER_MISMATCH, "UP", re.compile(whole(UP), re.IGNORECASE)),
    (Code.NUMBER_MISMATCH, "DOWN", re.compile(whole(DOWN), re.IGNORECASE)),
    *(
        (Code.UNIT_MISMATCH, unit, compiled(f"{unit}s?"))
        for unit in (
            *("(?:business|working|banking) day", "calendar day"),
            *("second", "minute", "hour", "day", "week", "month", "quarter", "year"),
            *("hundred", "thousand", "million", "billion", "trillion"),
        )
    ),
)


# Beside "may" this is a promise; a rule may say it for "shall".
_WILL = (frozenset({Modality.OBLIGATION}), compiled("will"))


@dataclass(frozen=True, slots=True)
class Token:
    """A word by what it is compared as.

    Attributes:
        key: The same for words that mean the same.
        span: Where it stands.
        code: For a deciding word, what exchanging it is.
        bare: The stem without a negative prefix, if it has one.
        fact: For a figure, a date or a reference, that.
        forces: For a word that gives a verb its force, what that may be.
    """

    key: str
    span: Span
    code: Code | None = None
    bare: str = ""
    fact: Quantity | Date | Reference | None = None
    forces: frozenset[Modality] = frozenset()

    @property
    def kind(self) -> tuple[Code | None, str]:
        """Only words of one kind, and figures of one unit, are exchanged for each other."""
        if self.key in _SHARES:
            return self.code, "share"
        unit = self.fact.unit if isinstance(self.fact, Quantity) else ""
        return self.code, f"figure {unit}" if self.fact else ""

    def carries(self, other: "Token") -> bool:
        """Whether the other may stand for it: the same, or a bound or a year in which it lies."""
        match self.fact, other.fact:
            case Quantity() as mine, Quantity() as its:
                return self.key == other.key or is_near(mine, its)
            case Date() as mine, Date() as its:
                return mine.carries(its)
            case Reference() as mine, Reference() as its:
                return mine.kind == its.kind and mine.lies_in(its.number)
            case _:
                return bool(self.forces & other.forces) if self.forces else self.key == other.key


def tokens_of(text: str) -> list[Token]:
    """The content words, facts and deciding words of a text, in order."""
    facts = read(text)
    tokens = [
        Token(f"{abs(q.value).normalize()} {q.unit}", q.span, Code.NUMBER_MISMATCH, fact=q)
        for q in facts.quantities
    ]
    tokens += [
        Token(str(date.parts), date.span, Code.DATE_MISMATCH, fact=date) for date in facts.dates
    ]
    tokens += [
        Token(
            f"{reference.kind} {reference.number}",
            reference.span,
            Code.NUMBER_MISMATCH,
            fact=reference,
        )
        for reference in facts.references
    ]
    left = _blanked(text, [token.span for token in tokens])
    # How a date bounds is compared with the date.
    left = _blanked(left, [Span(date.bound_start, date.span.end) for date in facts.dates])
    for code, name, pattern in _COMPARING:
        found = _spans(pattern, left)
        tokens += [Token(name, span, code) for span in found]
        left = _blanked(left, found)
    left = plain(left)
    for forces, pattern in (*CUES, _WILL):
        found = _spans(pattern, left)
        name = " ".join(sorted(forces))
        outer = [_outer_words(left, span) for span in found]
        tokens += [Token(name, o[-1], Code.MODALITY_MISMATCH, forces=forces) for o in outer]
        left = _blanked(left, [span for spans in outer for span in spans])
    exceptions = (Code.OMITTED_CONDITION, "EXCEPTION", EXCEPTION)
    negations = (Code.NEGATION_MISMATCH, "NEGATION", negating(languages(text)))
    for code, name, pattern in (exceptions, negations, *_DECIDING):
        found = _spans(pattern, left)
        tokens += [Token(name, span, code) for span in found]
        left = _blanked(left, found)
    tokens += [
        Token(word.stem, word.span, bare=unprefixed(word))
        for word in words(left)
        if word.is_content
    ]
    return sorted(tokens, key=lambda token: token.span)


def _spans(pattern: re.Pattern[str], text: str) -> list[Span]:
    return [Span(found.start(), found.end()) for found in pattern.finditer(text)]


def _outer_words(text: str, span: Span) -> list[Span]:
    """The first and the last word of a cue: in "no member may" the subject stays."""
    first = text.find(" ", span.start, span.end)
    last = text.rfind(" ", span.start, span.end)
    if first < 0 or not text[span.start : first].lower().startswith(("no", "nei")):
        return [span]
    return [Span(span.start, first), Span(last, span.end)]


def _blanked(text: str, spans: Sequence[Span]) -> str:
    """The text with blanks at the spans."""
    for span in spans:
        text = text[: span.start] + " " * (span.end - span.start) + text[span.end :]
    return text
