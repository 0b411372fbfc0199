"""What a text is about, as terms that two ways of saying the same thing share."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from threading import Lock

from snowballstemmer import stemmer


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words that carry grammar and no content. Negation is not among them: "not notarized" is not
# "notarized".
_FUNCTION_WORDS = _words("""
    a about above after again all also am an and any are as at be because been before being below
    between both but by can could describe did do does doing during each either etc explain few for
    from further get gets give got had has have having he her here hers him his how however i if in
    into is it its itself just let list may me might more most much must my name of off on once one
    only or other our out over own per please same say says shall she should so some such tell than
    that the their them then there these they this those through to too under until upon us very was
    we were what whatever when where whether which while who whom whose why will with within would
    you your
""")
# Words of a question for the kind of answer it wants. An answer shows it and does not say it.
KINDS_OF_ANSWER = _words("""
    action amount cause causes difference differences example examples fact facts figure happen
    happened happens identify kind located mean meaning meant means number percentage purpose rate
    reason reasons show type types value way ways
""")
_NEGATIONS = _words("cannot never no not without")
# Different words for one thing where no stemmer helps. Kept to the movement of a figure, which
# every report words differently; more is a model's work.
_MOVEMENTS = {
    **dict.fromkeys(
        _words("gain grew grow growing grown growth higher increase rise risen rose up"), "increase"
    ),
    **dict.fromkeys(
        _words("decline decrease down drop fall fallen fell lower reduction shrank shrink"),
        "decrease",
    ),
}
_SCALES = {
    "k": 10**3,
    "thousand": 10**3,
    "m": 10**6,
    "mn": 10**6,
    "million": 10**6,
    "bn": 10**9,
    "billion": 10**9,
}
_QUARTERS = {"first": "q1", "second": "q2", "third": "q3", "fourth": "q4"}
# Wordings of one thing that have several words; each becomes one.
_PHRASES: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"\bhow (?:many|much|long|often|old|far|big|large)\b"), "how"),
    (re.compile(r"\b([1-4])q\s?(\d\d)\b"), r"q\1 20\2"),
    (re.compile(r"\b([1-4])q\b"), r"q\1"),
    (
        re.compile(r"\b(first|second|third|fourth)[\s-]quarter\b"),
        lambda match: _QUARTERS[match[1]],
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
    r"|(?P<currency>[$\u20ac\u00a3\u00a5])?\s?(?P<number>\d[\d,]*(?:\.\d+)?)"
    r"(?:\s?(?P<scale>billion|bn|million|mn|m|thousand|k)\b)?"
    r"(?:\s?(?P<percent>%|percent\b|per cent\b))?"
    r"|(?P<word>[^\W\d_]+(?:'[^\W\d_]+)?)"
)
_BOUND = re.compile(
    r"(?:(?P<above>(?:more|greater|higher) than|above|over|exceed(?:s|ing)?)"
    r"|(?P<least>at least|(?:not|no) less than|minimum of)"
    r"|(?P<below>(?:less|lower|fewer) than|below|under)"
    r"|(?P<most>at most|(?:not|no) more than|up to|maximum of))\s*$"
)
_LONGEST_BOUND = 16
_STEMS = 20_000


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number, its unit ("%", a currency's sign or nothing), and what it bounds, if anything."""

    value: Decimal
    unit: str
    bound: str

    def admits(self, other: "Quantity") -> bool:
        """Whether `other` lies within this bound: 30% lies within "more than 25%"."""
        if not self.unit or self.unit != other.unit:
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
    """A text's terms in the order in which they first occur, with the quantities that some are."""

    terms: Mapping[str, Quantity | None]

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """Those of its terms that are quantities."""
        return tuple(filter(None, self.terms.values()))

    def is_name(self, term: str) -> bool:
        """Whether the term names something by its digits, and does not measure anything."""
        quantity = self.terms[term]
        return not quantity.unit if quantity else any(letter.isdigit() for letter in term)


class Reader:
    """Turns text into terms."""

    def __init__(self) -> None:
        self._stemmer = stemmer("english")
        self._stemming = Lock()  # The stemmer keeps state.
        self._stem = lru_cache(maxsize=_STEMS)(self._stem_anew)

    def read(self, text: str) -> Text:
        """The text's terms."""
        folded = unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'")
        for pattern, replacement in _PHRASES:
            folded = pattern.sub(replacement, folded)
        return Text(dict(self._terms(folded)))

    def _terms(self, folded: str) -> Iterator[tuple[str, Quantity | None]]:
        for match in _TOKEN.finditer(folded):
            if match["identifier"]:
                yield match["identifier"], None
            elif match["number"]:
                quantity = _quantity(match, folded)
                yield f"#{_digits(match, quantity)}{quantity.unit}", quantity
            elif term := self._term(match["word"].removesuffix("'s")):
                yield term, None

    def _term(self, word: str) -> str:
        if word in _MOVEMENTS:
            return _MOVEMENTS[word]
        if word in _NEGATIONS or word.endswith("n't"):
            return "not"
        if len(word) == 1 or word in _FUNCTION_WORDS or word in KINDS_OF_ANSWER:
            return ""
        stem = self._stem(word)
        return _MOVEMENTS.get(stem, stem)

    def _stem_anew(self, word: str) -> str:
        with self._stemming:
            return str(self._stemmer.stemWord(word))


def _digits(match: re.Match[str], quantity: Quantity) -> str:
    """Amounts by value, names as printed: section 4.20 is not section 4.2."""
    if quantity.unit or match["scale"]:
        return f"{quantity.value.normalize():f}"
    return match["number"].replace(",", "")


def _quantity(match: re.Match[str], folded: str) -> Quantity:
    value = Decimal(match["number"].replace(",", "")) * _SCALES.get(match["scale"] or "", 1)
    unit = "%" if match["percent"] else match["currency"] or ""
    bound = _BOUND.search(folded, max(0, match.start() - _LONGEST_BOUND), match.start())
    return Quantity(value, unit, bound.lastgroup or "" if bound else "")
