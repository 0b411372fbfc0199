"""What holds for every quote: presentation changes nothing, a change of meaning everything."""

# ruff: noqa: RUF001 - typographic characters are what is tested

import random
import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.verification.evidence import Passage
from services.verification.folding import fold
from services.verification.hints import closest
from services.verification.quotes import locate
from services.verification.source import Source

TEXT = (
    "Any corporate entity with a beneficial owner holding more than 25% of its equity must submit"
    " a notarized proof of funds within 30 days of the client's first application. Fees of"
    " $1,250.75 are due on 12 March 2024, and interest of 3.5 percentage points accrues from the"
    " first non-working day after it. The final office file — see Annex B – is kept for five years."
    " Offices in the US file difficult affidavits efficiently; “waived” fees stay waived."
)
# What a quote may begin and end with: a word, or a number with its bound and its unit.
ATOMS = [
    found.span()
    for found in re.finditer(r"more than 25%|30 days|3\.5 percentage points|five years|[^ ]+", TEXT)
]
LIGATURES = {"ffi": "ﬃ", "ffl": "ﬄ", "fi": "ﬁ", "fl": "ﬂ", "ff": "ﬀ"}
SPACES = (" ", " ", "\n", "  ", "\r\n", "\u00a0", "\u2009", " \n ", "\u200b ")
SOURCE = Source(Passage("p", TEXT))

seeds = st.integers(0, 2**32).map(random.Random)


def stretch(chance: random.Random, least: int = 6) -> tuple[int, int]:
    """Where some adjacent atoms stand."""
    start = chance.randrange(len(ATOMS) - least)
    end = chance.randrange(start + least, len(ATOMS))
    return ATOMS[start][0], ATOMS[end - 1][1]


def printed(text: str, chance: random.Random) -> str:
    """The text as another tool would print it."""
    out = []
    at = 0
    while at < len(text):
        ligature = next((plain for plain in LIGATURES if text.startswith(plain, at)), "")
        if ligature and chance.random() < 0.5:
            out.append(LIGATURES[ligature])
            at += len(ligature)
            continue
        char, around = text[at], (text[at - 1 : at] + text[at + 1 : at + 2])
        if char == " ":
            char = chance.choice(SPACES)
        elif char == "-" and len(around) == 2 and around.isalpha():
            char = chance.choice(("-", "-\n", "- \n  ", "\u2010", "\u2011"))
        elif char in "—–":
            char = chance.choice("—–-")
        elif char in "“”":
            char = chance.choice('“”"„')
        elif char == "'":
            char = chance.choice("'’")
        elif char.isalpha() and at and text[at - 1].isalpha() and chance.random() < 0.05:
            char = chance.choice(("-\n", "\u00ad", "\u00ad\n", "\u200b")) + char
        out.append(char)
        at += 1
    return "".join(out)


@given(seeds)
@settings(max_examples=400, deadline=None)
def test_a_true_quote_is_found_at_its_place_however_it_is_printed(chance):
    start, end = stretch(chance)
    found = locate(SOURCE, printed(TEXT[start:end], chance))
    assert (found.span.start, found.span.end, found.cut) == (start, end, None)


@given(seeds)
@settings(max_examples=400, deadline=None)
def test_a_true_quote_is_cut_from_its_source_however_that_is_printed(chance):
    source = printed(TEXT, chance)
    start, end = stretch(chance)
    found = locate(Source(Passage("p", source)), TEXT[start:end])
    assert bare(source[found.span.start : found.span.end]) == bare(TEXT[start:end])


@given(seeds)
@settings(max_examples=400, deadline=None)
def test_one_changed_digit_is_enough_to_reject_a_quote(chance):
    start, end = stretch(chance)
    digits = [at for at in range(start, end) if TEXT[at].isdigit()]
    if digits:
        at = chance.choice(digits)
        other = chance.choice([digit for digit in "0123456789" if digit != TEXT[at]])
        assert locate(SOURCE, TEXT[start:at] + other + TEXT[at + 1 : end]) is None


@given(seeds)
@settings(max_examples=400, deadline=None)
def test_a_word_put_in_or_taken_out_is_enough_to_reject_a_quote(chance):
    start, end = stretch(chance)
    words = TEXT[start:end].split(" ")
    at = chance.randrange(1, len(words) - 1)
    more = [*words[:at], chance.choice(("not", "never", "no", "may")), *words[at:]]
    assert locate(SOURCE, " ".join(more)) is None
    assert locate(SOURCE, " ".join(words[:at] + words[at + 1 :])) is None


@given(seeds)
@settings(max_examples=200, deadline=None)
def test_a_quote_that_begins_or_ends_inside_a_word_is_rejected(chance):
    start, end = stretch(chance)
    cuts = [at for at in range(start + 1, end) if TEXT[at - 1 : at + 1].isalpha()]
    at = chance.choice(cuts)
    for part in (TEXT[start:at], TEXT[at:end]):
        found = locate(SOURCE, part)
        assert found is None or found.span.start not in (start, at)


# Without page breaks: what is printed beside one may lie inside a quote.
@given(
    st.text(st.characters(exclude_characters="\f")),
    st.text(st.characters(exclude_characters="\f"), min_size=1, max_size=8),
)
@settings(max_examples=300, deadline=None)
def test_what_is_found_in_any_text_has_the_letters_of_the_quote(text, quote):
    found = locate(Source(Passage("p", f"{text} {quote} {text}")), quote)
    if found:
        cut = f"{text} {quote} {text}"[found.span.start : found.span.end]
        assert letters(cut) == letters(quote)


@given(st.text(max_size=60))
@settings(max_examples=300, deadline=None)
def test_every_folded_character_comes_from_the_source_in_order(text):
    folded = fold(text)
    assert len(folded.text) == len(folded.key)
    starts = [folded.source_start(at) for at in range(len(folded.text))]
    known = [start for start in starts if start is not None]
    assert known == sorted(known)
    assert all(0 <= start < len(text) for start in known)
    ends = [folded.source_end(at) for at in range(1, len(folded.text) + 1)]
    assert all(0 < end <= len(text) for end in ends if end is not None)


@pytest.mark.parametrize(
    "hostile",
    [
        *("a", "a ", "-", "a-", "a-\n", " ", "- ", "\u200b", "1,", "1 111 ", "(", "not ", "if, "),
        *(
            "ﬁ",
            "\ud800",
            "\x00",
            "\u202e",
            "... ",
            "Section ",
            "\n\n",
            "e\u0301\u0327\u0301",
            "£1 ",
        ),
    ],
    ids=ascii,
)
def test_hostile_text_takes_linear_time(hostile):
    """A quadratic algorithm would need minutes; this takes less than a second each."""
    text = hostile * (100_000 // len(hostile))
    source = Source(Passage("p", text))
    assert locate(source, "The fee is due") is None
    assert locate(Source(Passage("p", "The fee is due")), text) is None
    locate(source, text)
    closest(text, [source])


def bare(text: str) -> str:
    """The text without what `printed` changes."""
    plain = unicodedata.normalize("NFKC", re.sub(r"[-\u00ad\u200b\u2010\u2011–—\s]", "", text))
    return re.sub("[“”„]", '"', plain).replace("’", "'")


def letters(text: str) -> str:
    lowered = unicodedata.normalize("NFKC", text).lower().replace("ς", "σ")
    return "".join(char for char in lowered if char.isalnum())
