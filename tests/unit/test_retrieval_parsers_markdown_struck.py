"""Markdown: what is struck out is no part of what replaces it, and code is as it is."""

import pytest
from effort import ends_in_time

from services.retrieval.parsers import markdown


def text(written):
    return markdown.parse(written).text


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("The fee is ~~5~~6%.", "The fee is 6%."),
        ("The fee is ~~5%~~**6%**.", "The fee is **6%**."),
        ("The fee is <del>5</del>6%, or <S class=a>7</s>8%.", "The fee is 6%, or 8%."),
        ("The fee ~~is 5%\nfrom May.~~ is 6%.", "The fee  is 6%."),
        ("> - The fee is ~~5~~6% and ~~7~~8%.", "> - The fee is 6% and 8%."),
        ("# Fees of ~~5~~6%", "# Fees of 6%"),
        ("<div>\nThe fee is <del>5</del>6%.\n</div>", "<div>\nThe fee is 6%.\n</div>"),
        ("| Fee | Rate |\n|---|---|\n| A | ~~5~~6% |", "| Fee | Rate |\n|---|---|\n| A | 6% |"),
        ("`a` ~~5~~6 `b`, and ``c` ~~7~~8", "`a` 6 `b`, and ``c` 8"),
    ],
)
def test_what_is_struck_out_is_left_out(written, read):
    assert text(written) == read


@pytest.mark.parametrize(
    "written",
    [
        "Run `a ~~5~~6` and ``b ` <del>7</del>8``.",
        "```\n~~5~~6\n```\n\n    ~~7~~8\n",
        "~~~\nThe fee is <del>5</del>6.\n~~~\n",
        "From ~~5 to ~~6, ~5 to ~6, and ~~ 7 ~~.",
        "This ~~~5~~~ and \\~~5~~6 are no marks.",
        "| Fee ~~5 | 6~~ |\n|---|---|\n| ~~7 | 8~~ |",
        "It ~~begins here.\n\nIt ends~~ there.",
        "---\ntitle: ~~5~~6\n---\n\nWords.",
        "<div>\n~~5~~6\n</div>",
        "The <delta>5</delta> is </del>6.",
    ],
)
def test_what_only_looks_as_if_it_were_struck_out_stays(written):
    assert text(written) == written


def test_spans_are_those_of_what_is_left():
    document = markdown.parse("~~Old~~\n\n# 4.2 ~~Holders~~ Owners\n\n~~5~~6\n")
    assert [(h.section_id, h.title) for h in document.headings] == [("4.2", "4.2 Owners")]
    assert [document.text[h.start : h.end] for h in document.headings] == ["# 4.2  Owners"]
    assert [document.text[line.start : line.end] for line in document.lines] == [
        *("# 4.2  Owners", "6")
    ]


@pytest.mark.parametrize("unit", ["~~a ", "`a ``b ", "<del>", "~~a~~ ", "|~~", "\\", "<del "])
def test_a_hundred_thousand_marks_are_read_in_time(unit):
    with ends_in_time():
        text(unit * 100_000)
        text("| a |\n|---|\n| " + unit * 10_000)
