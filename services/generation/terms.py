"""What a text is about, as terms that two ways of saying the same thing share."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from snowballstemmer import stemmer

# Words that carry grammar and no content. Negation is not among them: "not notarized" is not
# "notarized".
_FUNCTION_WORDS = frozenset(
    """
    a about above after again all also am an and any are as at be because been before being below
    between both but by can could did do does doing down during each either etc few for from further
    get gets got had has have having he her here hers him his how however i if in into is it its itself
    just list let may me might more most much my name of off on once one only or other our out over own
    per please same say says shall she should so some such tell than that the their them then there
    these they this those through to too under until up upon us very was we were what whatever when
    where whether which while who whom whose why will with within would you your give describe explain
    must
    """.split()
)
# Different words for one thing where a stemmer cannot help. Kept to movement of a figure, which every
# report words differently; anything more belongs to a model.
_SAME = {
    word: group
    for group, words in {
        "increase": "grow grew grown growth growing increase rise rose risen up gain higher",
        "decrease": "decline decrease fall fell fallen drop down shrink shrank lower reduction",
    }.items()
    for word in words.split()
}
_ORDINALS = {"first": "1", "second": "2", "third": "3", "fourth": "4"}
_SCALES = {
    "billion": 10**9,
    "bn": 10**9,
    "million": 10**6,
    "mn": 10**6,
    "m": 10**6,
    "thousand": 10**3,
    "k": 10**3,
}
_PHRASES = (
    (re.compile(r"\bhow (?:many|much|long|often|old|far|big|large)\b"), "how"),
    (re.compile(r"\b([1-4])q\s?(\d\d)\b"), r"q\1 20\2"),
    (re.compile(r"\b([1-4])q\b"), r"q\1"),
    (
        re.compile(r"\b(first|second|third|fourth)[\s-]quarter\b"),
        lambda match: "q" + _ORDINALS[match[1]],
    ),
    # A quarter and its year are one term: a Q3 and a 2024 that stand apart are another period.
    (
        re.compile(r"\bq([1-4])(?:\s+(?:of|in|for))?(?:\s+(?:fiscal|fy))?(?:\s*year)?\s*(\d{4})\b"),
        r"fy\2q\1",
    ),
    (
        re.compile(
            r"\byear[\s-](?:over|on)[\s-]year\b|\by/y\b|\byoy\b|\b(?:from|than|with|over) "
            r"(?:a|the) (?:year (?:earlier|ago|before)|(?:prior|previous)[\s-]year)\b"
        ),
        "yearonyear",
    ),
)
_TOKEN = re.compile(
    r"(?P<identifier>[a-z]+[-/]?\d[\w-]*)"
    r"|(?P<currency>[$€£¥])?\s?(?P<number>\d[\d,]*(?:\.\d+)?)"
    r"(?:\s?(?P<scale>billion|bn|million|mn|m|thousand|k)\b)?"
    r"(?:\s?(?P<percent>%|percent\b|per cent\b))?"
    r"|(?P<word>[^\W\d_]+(?:'[^\W\d_]+)?)"
)
_COMPARATOR = re.compile(
    r"(?P<above>(?:more|greater|higher) than|above|over|exceed(?:s|ing)?)"
    r"|(?P<least>at least|not less than|no less than|minimum of)"
    r"|(?P<below>(?:less|lower|fewer) than|below|under)"
    r"|(?P<most>at most|not more than|no more than|up to|maximum of)"
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit ("%", a currency sign or nothing) and the bound it states, if any."""

    value: Decimal
    unit: str
    bound: str = ""

    def admits(self, other: "Quantity") -> bool:
        """Whether `other` lies within the bound: 30% is within "more than 25%"."""
        if self.unit != other.unit or not self.unit:
            return False
        match self.bound:
            case "above":
                return other.value > self.value
            case "least":
                return other.value >= self.value
            case "below":
                return other.value < self.value
            case "most":
                return other.value <= self.value
            case _:
                return False


@dataclass(frozen=True, slots=True)
class Text:
    """The terms of a text, each with its place in order, and its quantities by term."""

    terms: tuple[str, ...]
    quantities: dict[str, Quantity]


class Reader:
    """Turns text into terms. Not safe for use by two threads at once: the stemmer keeps state."""

    def __init__(self) -> None:
        self._stemmer = stemmer("english")

    def read(self, text: str) -> Text:
        """The terms of `text`, in order, repeated as often as they occur."""
        folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
        for pattern, replacement in _PHRASES:
            folded = pattern.sub(replacement, folded)
        quantities: dict[str, Quantity] = {}
        terms = tuple(self._terms(folded, quantities))
        return Text(terms, quantities)

    def _terms(self, folded: str, quantities: dict[str, Quantity]) -> Iterator[str]:
        for match in _TOKEN.finditer(folded):
            if match["number"]:
                quantity = _quantity(match, folded)
                if quantity is None:
                    continue
                term = f"#{quantity.value.normalize():f}{quantity.unit}"
                quantities[term] = quantity
                yield term
            elif match["identifier"]:
                yield match["identifier"]
            else:
                word = match["word"].removesuffix("'s")
                if word in _SAME:
                    yield _SAME[word]
                elif word.endswith("n't") or word in {"not", "no", "never", "without", "cannot"}:
                    yield "not"
                elif word not in _FUNCTION_WORDS and len(word) > 1:
                    stem = self._stemmer.stemWord(word)
                    yield _SAME.get(stem, stem)


def _quantity(match: re.Match[str], folded: str) -> Quantity | None:
    try:
        value = Decimal(match["number"].replace(",", "")) * _SCALES.get(match["scale"] or "", 1)
    except InvalidOperation:
        return None
    unit = "%" if match["percent"] else match["currency"] or ""
    before = folded[max(0, match.start() - 24) : match.start()]
    bounds = list(_COMPARATOR.finditer(before))
    bound = bounds[-1].lastgroup or "" if bounds and not before[bounds[-1].end() :].strip() else ""
    return Quantity(value, unit, bound)
