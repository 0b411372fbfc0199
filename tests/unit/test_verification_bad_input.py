"""Whatever is quoted from whatever text: a typed result, no false pass, and linear time."""

# ruff: noqa: RUF001 - marks of several scripts are what is tested

import pytest
from effort import ends_in_time

from services.verification.citing import check_citation
from services.verification.evidence import (
    Citation,
    Code,
    DraftCitation,
    Passage,
    Reason,
    Region,
    Span,
)
from services.verification.source import Source

TEXT = "The fee of 25 euros is due on signing. The client pays it."
MEGABYTE = 1_000_000

NOTHING = [
    "",
    " ",
    "\n\t\r\f\v",
    "\u200b\u2060\ufeff",
    "\u00a0\u3000",
    "...",
    "“ ”",
    "—",
    "•",
    "[…] (...)",
]
NOTHING += [
    "\u202e",
    "\u00ad",
    "\u0640\u0640",
    "\u0301",
    "\x00",
    "\ud800",
    "25",
    "1,234.5",
    "(",
    "$",
    "*",
]

ODD = {
    "NUL": "The\x00 fee is\x00 due on signing.",
    "lone surrogate": "The fee \ud800 is due \udfff on signing.",
    "right-to-left override": "The fee \u202eis due\u202c on signing.",
    "isolates": "The \u2066fee\u2069 is due on signing.",
    "noncharacter": "The fee \ufffe is due on signing.",
    "private use": "The fee \ue000 is due on signing.",
    "tag characters": "The fee \U000e0041 is due on signing.",
    "a hundred marks": "The fee" + "\u0301" * 100 + " is due on signing.",
    "only breaks": "\n\f\r\v\u2028\u2029" * 20,
    "nothing": "",
}
HOSTILE = (
    *(
        "a",
        "a ",
        "a-",
        "a-\n",
        "- ",
        "\n- ",
        "• ",
        "* ",
        "\n* ",
        "…",
        "a … ",
        "... ",
        "[...]",
        "not ",
    ),
    *("if, ", "if a, ", "no longer than ", "1,", "1 111 ", "(1", "$", "-1", "\f", "12\n\f", "\n\n"),
    *("Page 1 of 9\n\f", "head\n\f", "a\n\f", ":\n(a) b", "ﬁ", "e\u0301\u0327", "\u200b", "\u00ad"),
    *(
        "\u202e",
        "\ud800",
        "\x00",
        "不",
        "如果，",
        "場合、",
        "는 경우 ",
        "न ",
        "तो ",
        "לא ",
        "ا\u0640",
    ),
    *("“", "'", '"', "٣٫", "十", "第", "A. ", "U-\nS"),
)


def checked(quote: str, text: str) -> Citation | Reason:
    source = Source(Passage("p", text))
    return check_citation(DraftCitation("p", quote), source, [source])


@pytest.mark.parametrize("quote", NOTHING, ids=ascii)
def test_what_says_nothing_is_too_short(quote):
    for text in (TEXT, quote, quote * 3 + TEXT, f"{TEXT} {quote} {TEXT}"):
        assert checked(quote, text).code is Code.QUOTE_TOO_SHORT


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_an_odd_text_is_quoted_as_it_is_or_not_at_all(text):
    result = checked("The fee of 25 euros is due on signing", text)
    assert result.code is Code.QUOTE_NOT_FOUND
    if text.strip():
        whole = checked(text, text)
        assert whole.quote == text.strip()


@pytest.mark.parametrize(
    "text", [*ODD.values()][:1] + [*ODD.values()][3:4], ids=["NUL", "isolates"]
)
def test_an_invisible_character_is_not_taken_for_a_letter(text):
    assert isinstance(checked("The fees are due on signing", text), Reason)


def test_what_turns_the_direction_is_no_presentation():
    assert checked("pay 52 euros of the fee", "pay \u202e52\u202c euros of the fee").code is (
        Code.QUOTE_NOT_FOUND
    )


@pytest.mark.parametrize("unit", ["The fee is due. ", "a", " ", "\u200b", "…", "not "], ids=ascii)
def test_a_quote_of_a_megabyte_has_a_result(unit):
    quote = unit * (MEGABYTE // len(unit))
    assert isinstance(checked(quote, TEXT), Reason)
    checked(quote, quote)


@pytest.mark.parametrize("unit", HOSTILE, ids=ascii)
def test_no_text_takes_more_than_linear_time(unit):
    text = unit * (50_000 // len(unit))
    with ends_in_time():
        checked("The fee is due", text)
        checked(text, "The fee is due")
        checked(text, text)
        checked(f"{text[: len(text) // 2]} … {text[: len(text) // 3]}", text)


def test_lines_that_lie_outside_their_passage_are_not_shown():
    lines = (Region(Span(0, 10**6), 3), Region(Span(500, 900), 4), Region(Span(9, 2), 5))
    source = Source(Passage("p", TEXT, regions=lines))
    citation = check_citation(DraftCitation("p", "The client pays it."), source, [source])
    assert citation.quote == "The client pays it."
    assert citation.page_number == 3
