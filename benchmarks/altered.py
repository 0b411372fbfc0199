"""Quotes that were changed in meaning, each in one place, by kind of change."""

# ruff: noqa: RUF001 - look-alikes are what is changed

import re
import unicodedata
from collections.abc import Callable, Iterator
from random import Random

Change = Callable[[str, Random], Iterator[str]]

NEGATIONS = {
    "en": (
        "not",
        ["is", "are", "was", "were", "must", "shall", "should", "may", "will", "has", "can"],
    ),
    "de": ("nicht", ["ist", "sind", "wird", "kann", "darf", "haftet", "muss"]),
    "fr": ("pas", ["est", "sont", "peut", "doit"]),
    "es": ("no", ["El", "La", "Los", "Las"]),
    "it": ("non", ["Il", "La"]),
    "ru": ("не", ["Банк", "вправе", "обязан", "Договор"]),
    "el": ("δεν", ["Ο", "Η", "τράπεζα"]),
    "ar": ("لا", ["البنك", "المقترض", "المستأجر"]),
    "he": ("לא", ["הבנק", "השוכר", "הלווה"]),
    "hi": ("नहीं", ["है", "बैंक"]),
}
# Vowel signs of Devanagari, which are no \w.
_SIGNS = "\u0900-\u0903\u093a-\u094f"
NEGATIVE = (
    r"not|never|no|neither|nor|without|cannot|nicht|kein|keine|keinen|pas|jamais|sans|nunca|non|не|нет"
    r"|без|δεν|μη|χωρίς|لا|لم|لن|غير|بدون|לא|אין|אינו|ללא|नहीं|न|बिना"
)
MODALS = [
    ("shall", "may"), ("must", "may"), ("may", "must"), ("should", "must"), ("can", "must"),
    ("will", "may"), ("darf", "muss"), ("kann", "muss"), ("peut", "doit"), ("doit", "peut"),
    ("podrá", "deberá"), ("deve", "può"), ("вправе", "обязан"), ("обязан", "вправе"),
    ("μπορεί", "πρέπει"), ("πρέπει", "μπορεί"), ("يجوز", "يجب"), ("רשאי", "חייב"),
]  # fmt: skip
COMPARATORS = [
    ("more than", "at least"), ("at least", "more than"), ("less than", "more than"),
    ("at most", "at least"), ("not exceeding", "exceeding"), ("no later than", "no earlier than"),
    ("up to", "over"), ("above", "below"), ("below", "above"), ("before", "after"),
    ("after", "before"), ("within", "after"), ("rose", "fell"), ("increased", "decreased"),
    ("higher", "lower"), ("greater", "smaller"), ("minimum", "maximum"), ("first", "last"),
    (">", "≥"), ("≥", ">"), ("<", "≤"), ("mindestens", "höchstens"), ("не менее", "не более"),
    ("τουλάχιστον", "το πολύ"), ("以上", "以下"), ("以下", "以上"),
]  # fmt: skip
UNITS = [
    ("%", " percentage points"), ("%", "‰"), ("percent", "percentage points"), ("per cent", "bps"),
    ("$", "€"), ("€", "£"), ("£", "$"), ("EUR", "USD"), ("USD", "EUR"), ("million", "billion"),
    ("billion", "million"), ("thousand", "million"), ("days", "weeks"), ("days", "months"),
    ("hours", "days"), ("months", "years"), ("years", "months"), ("mg", "g"), ("km", "m"),
    ("MW", "mW"), ("万", "亿"), ("тыс", "млн"), ("euros", "dollars"), ("weeks", "days"),
]  # fmt: skip
WORDS = [
    ("and", "or"), ("or", "and"), ("all", "some"), ("any", "no"), ("each", "no"), ("every", "no"),
    ("including", "excluding"), ("with", "without"), ("unless", "if"), ("if", "unless"),
    ("only", "also"), ("except", "including"), ("always", "never"), ("both", "neither"),
    ("January", "June"), ("March", "May"), ("September", "December"), ("annual", "monthly"),
    ("yearly", "daily"), ("lender", "borrower"), ("buyer", "seller"), ("Commission", "Council"),
    ("US", "us"), ("WHO", "who"),
]  # fmt: skip
NUMBERS = (
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "nine",
    "ten",
    "twenty",
    "thirty",
    "sixty",
)
FLAT = {c: unicodedata.normalize("NFKD", c) for c in "²³¹⁰⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉"} | {
    "½": "1/2", "¼": "1/4", "¾": "3/4",
}  # fmt: skip


def _at(text: str, start: int, end: int, new: str) -> str:
    return text[:start] + new + text[end:]


def _each(pattern: str, new: Callable[[re.Match[str], Random], str]) -> Change:
    compiled = re.compile(pattern)

    def change(text: str, chance: Random) -> Iterator[str]:
        found = list(compiled.finditer(text))
        if found:
            one = chance.choice(found)
            yield _at(text, *one.span(), new(one, chance))

    return change


def _swaps(pairs: list[tuple[str, str]]) -> Change:
    def change(text: str, chance: Random) -> Iterator[str]:
        places = [
            (found.span(), new) for old, new in pairs for found in re.finditer(_word(old), text)
        ]
        if places:
            span, new = chance.choice(places)
            yield _at(text, *span, new)

    return change


def _word(word: str) -> str:
    left = r"(?<!\w)" if word[0].isalpha() and word.isascii() else ""
    right = r"(?!\w)" if word[-1].isalpha() and word.isascii() else ""
    return left + re.escape(word) + right


def _other_digit(found: re.Match[str], chance: Random) -> str:
    return chance.choice([digit for digit in "0123456789" if digit != found[0]])


def _negated(text: str, chance: Random) -> Iterator[str]:
    for word, hosts in NEGATIONS.values():
        found = [f for host in hosts for f in re.finditer(rf"(?<!\w){host}(?= \w)", text)]
        if found:
            at = chance.choice(found).end()
            yield _at(text, at, at, f" {word}")


def _prefixed(text: str, chance: Random) -> Iterator[str]:
    found = list(
        re.finditer(r"(?<= )(?=(?:lawful|able|available|usual|limited|known|authorised)\w*)", text)
    )
    found += list(re.finditer(r"(?<= )(?:un|in|non-)(?=[a-z]{5})", text))
    if found:
        one = chance.choice(found)
        yield _at(text, *one.span(), "" if one[0] else "un")


def _cut_in_word(text: str, chance: Random) -> Iterator[str]:
    """From inside a word on, or up to inside one."""
    words = [f for f in re.finditer(r"[^\W\d_]{4,}", text) if 12 < f.start() < len(text) - 12]
    if words:
        one = chance.choice(words)
        at = chance.randrange(one.start() + 1, one.end())
        yield text[at:] if chance.random() < 0.5 else text[:at]


def _cut_in_number(text: str, chance: Random) -> Iterator[str]:
    numbers = list(re.finditer(r"\d[\d.,]*\d", text))
    if numbers:
        one = chance.choice(numbers)
        at = chance.randrange(one.start() + 1, one.end())
        yield text[at:] if chance.random() < 0.5 else text[:at]


def _swapped(text: str, chance: Random) -> Iterator[str]:
    """Two names or nouns of the sentence in each other's place."""
    names = list(
        re.finditer(
            r"(?<=[a-z,;] )[A-Z]\w{2,}|\b(?:client|bank|lender|borrower|board|entity)\b", text
        )
    )
    names += list(re.finditer(r"(?<=[^\W\d_A-Za-z] )[^\W\d_A-Za-z]{4,}", text))
    pairs = [(a, b) for a in names for b in names if a.start() < b.start() and a[0] != b[0]]
    if pairs:
        a, b = chance.choice(pairs)
        yield text[: a.start()] + b[0] + text[a.end() : b.start()] + a[0] + text[b.end() :]


def _reordered(text: str, chance: Random) -> Iterator[str]:
    words = text.split(" ")
    places = [n for n in range(len(words) - 1) if words[n].casefold() != words[n + 1].casefold()]
    if places:
        n = chance.choice(places)
        yield " ".join([*words[:n], words[n + 1], words[n], *words[n + 2 :]])


def _dropped(text: str, chance: Random) -> Iterator[str]:
    words = text.split(" ")
    if len(words) > 6:
        n = chance.randrange(1, len(words) - 1)
        yield " ".join(words[:n] + words[n + 1 :])


def _elided(text: str, chance: Random) -> Iterator[str]:
    """The sentence without the stretch that holds its negation or condition."""
    turning = re.compile(
        rf"(?<!\w)(?:{NEGATIVE}|unless|except|provided that|subject to|if|wenn|sofern|если)"
        rf"(?![\w{_SIGNS}])"
    )
    found = [
        f
        for f in turning.finditer(text)
        if text[: f.start()].count(" ") > 1 and text[f.end() :].count(" ") > 2
    ]
    if found:
        one = chance.choice(found)
        rest = text[one.end() :]
        skip = chance.randrange(min(3, rest.count(" ") - 1))
        for _ in range(skip + 1):
            rest = rest[rest.index(" ") + 1 :]
        yield text[: one.start()].rstrip(" ,;") + chance.choice([" … ", " [...] ", " ... "]) + rest


def _unaccented(text: str, chance: Random) -> Iterator[str]:
    bare = [
        (n, unicodedata.normalize("NFD", c)[0])
        for n, c in enumerate(text)
        if unicodedata.normalize("NFD", c) != c
    ]
    bare = [(n, c) for n, c in bare if not unicodedata.combining(c) and not "가" <= text[n] <= "힣"]
    if bare:
        n, plain = chance.choice(bare)
        yield _at(text, n, n + 1, plain)


CHANGES: dict[str, Change] = {
    "digit changed": _each(r"\d", _other_digit),
    "digit dropped": _each(r"(?<=\d)\d|\d(?=\d)", lambda *_: ""),
    "digit added": _each(r"(?<=\d)", lambda _, chance: chance.choice("123456789")),
    "digits transposed": _each(r"(\d)(?!\1)(\d)", lambda found, _: found[2] + found[1]),
    "decimal mark moved": _each(r"(\d)([.,٫])(\d)(?=\d)", lambda f, _: f[1] + f[3] + f[2]),
    "decimal for thousands": _each(r"(?<=\d)[.,](?=\d)", lambda f, _: "." if f[0] == "," else ","),
    "mark dropped": _each(r"(?<=\d)[.,٫٬'](?=\d)", lambda *_: ""),
    "sign dropped": _each(r"(?<=\s)[-−–](?=[\d$€£])", lambda *_: ""),
    "sign added": _each(r"(?<=\s)(?=\d)", lambda *_: "-"),
    "brackets dropped": _each(r"\(([\d.,\s]*\d[\d.,\s]*)\)", lambda f, _: f[1]),
    "brackets added": _each(r"(?<=[\s])(\d[\d.,]*)(?=\s)", lambda f, _: f"({f[1]})"),
    "unit or currency swapped": _swaps(UNITS),
    "unit dropped": _each(r"(?<=\d)\s?(?:%|million|billion|thousand)|[$€£](?=\d)", lambda *_: ""),
    "script flattened": _each("[" + "".join(FLAT) + "]", lambda f, _: FLAT[f[0]]),
    "number word changed": _each(
        rf"\b(?:{'|'.join(NUMBERS)})\b", lambda f, c: c.choice([n for n in NUMBERS if n != f[0]])
    ),
    "negation inserted": _negated,
    "negation dropped": _each(rf"(?<!\w)(?:{NEGATIVE})\s", lambda *_: ""),
    "n't dropped": _each(r"n['’]t\b", lambda *_: ""),
    "negative prefix": _prefixed,
    "modal changed": _swaps(MODALS),
    "comparator changed": _swaps(COMPARATORS),
    "word changed": _swaps(WORDS),
    "cut inside a word": _cut_in_word,
    "cut inside a number": _cut_in_number,
    "hyphen dropped": _each(r"(?<=[^\W\d_])-(?=[^\W\d_])", lambda *_: ""),
    "hyphen added": _each(r"(?<=[a-z]{3})(?=[a-z]{3})", lambda *_: "-"),
    # Beside Han and Kana a space is presentation.
    "words joined": _each(
        r"(?<=[^\W\d_]) (?=[^\W\d_\u2e80-\u9fff])(?<![\u2e80-\u9fff\uff00-\uffef] )", lambda *_: ""
    ),
    "word split": _each(r"(?<=[a-z]{2})(?=[a-z]{2})", lambda *_: " "),
    "parties swapped": _swapped,
    "words reordered": _reordered,
    "word dropped": _dropped,
    "elided negation or condition": _elided,
    "accent dropped": _unaccented,
}


def altered(text: str, source: str, chance: Random) -> Iterator[tuple[str, str]]:
    """Each kind of change that can be made to a quote, where it leaves nothing its source says."""
    said = _plain(source)
    for kind, change in CHANGES.items():
        for new in change(text, chance):
            parts = [part for part in re.split(r"\s*(?:\[\.\.\.\]|…|\.\.\.)\s*", new) if part]
            if new != text and not (len(parts) == 1 and _is_said(parts[0], said, kind)):
                yield kind, new


def _is_said(new: str, said: str, kind: str) -> bool:
    """Whether the words, by a plain comparison of letters, also stand somewhere whole."""
    if kind.startswith("cut "):
        return re.search(rf"(?<!\w){re.escape(_plain(new))}(?!\w)", said) is not None
    return _plain(new) in said


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())
