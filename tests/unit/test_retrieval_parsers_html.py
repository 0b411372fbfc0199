"""HTML: what is read of a page, and in which words."""

from itertools import pairwise

import pytest
from effort import ends_in_time
from hypothesis import given
from hypothesis import strategies as st

from services.chassis.errors import InvalidInput
from services.retrieval.parsers import html, parse


def read(body):
    return html.parse(
        f"<!DOCTYPE html><html><head><title>T</title></head><body>{body}</body></html>"
    )


def text(body):
    return read(body).text


def test_words_are_those_that_a_browser_shows():
    assert text("<p>It  costs\n &euro;5&nbsp;m,<br>or &lt; <b>1</b>0<i>%</i>. <p>Next") == (
        "It costs €5\xa0m,\nor < 10%.\n\nNext"
    )
    assert text("<pre>\na  b\n  c\n</pre><p>d") == "a  b\n  c\n\nd"
    assert text("See <a href='x'>Section&#32;4.2</a>!") == "See Section 4.2!"


def test_what_has_no_width_is_no_word():
    assert text("<p>a<p>&#8203;<p>&nbsp;&#8203;b&#8203;c&#xfeff; <p>d") == "a\n\nb\u200bc\n\nd"


def test_the_mark_of_a_note_does_not_become_a_figures_last_digit():
    assert text("<p>It was 5,000<sup>1</sup> on 1<sup>st</sup> May") == "It was 5,000¹ on 1st May"


@pytest.mark.parametrize(
    ("raised", "read"),
    [
        ("10<sup>-6</sup>", "10⁻⁶"),
        ("10<sup>&minus;12</sup>", "10⁻¹²"),
        ("10<sup>&ndash;6</sup>", "10⁻⁶"),
        ("SO<sub>4</sub><sup>2-</sup>", "SO4²⁻"),
        # Those of more than one note, a day, a grade.
        ("rose<sup>1-3</sup>", "rose¹-³"),
        ("20<sup>-th</sup>", "20-th"),
        ("A<sup>-</sup>", "A-"),
    ],
)
def test_a_raised_minus_stays_with_the_figure_that_it_is_of(raised, read):
    assert text(f"<p>{raised} of it") == f"{read} of it"


@pytest.mark.parametrize(
    "unseen",
    [
        "<script>x</script>",
        "<style>x</style>",
        "<nav>x</nav>",
        "<div role=navigation>x</div>",
        "<div hidden>x<p>x</p></div>",
        "<p style='color: red; DISPLAY : none'>x</p>",
        "<span style='visibility:hidden'>x</span>",
        "<!-- x -->",
        "<select><option>x</select>",
        "<svg><text>x</text></svg>",
        "<table hidden><tr><td>x<td>x</table>",
    ],
)
def test_what_nobody_sees_or_leads_elsewhere_is_left_out(unseen):
    assert text(f"Before.<div>{unseen}</div>After.") == "Before.\n\nAfter."


@pytest.mark.parametrize(
    "struck",
    [
        "<del>5</del>",
        "<s>5</s>",
        "<strike>5</strike>",
        "<span style='text-decoration: line-through'>5</span>",
        "<span style='color:red;text-decoration-line:underline line-through'>5</span>",
    ],
)
def test_a_figure_that_is_struck_out_is_no_digit_of_the_one_that_replaces_it(struck):
    assert text(f"<p>The fee is {struck}<ins>6</ins>%.") == "The fee is 6%."
    assert text("<p>The <span style='text-decoration:underline'>fee</span> is 6%.") == (
        "The fee is 6%."
    )


def test_headings_have_their_levels_and_numbers():
    document = read(
        "<h1>Group <em>policy</em></h1><p>Intro.<h2>4.2 Owners</h2><div>Any entity.</div>"
        "<p>4.3 The owners of it are named in the second annex.</p>"
    )
    assert [(h.level, h.section_id, h.title) for h in document.headings] == [
        (1, "", "Group policy"),
        (2, "4.2", "4.2 Owners"),
        (3, "4.3", "4.3"),
    ]


def test_a_numbered_paragraph_is_a_heading_above_a_list_too_and_goes_on_from_the_headings():
    document = html.parse(
        "<h2>4 Owners</h2><p>4.1</p><p>They are named.</p><p>Section 4.2 Duties</p>"
        "<ul><li>4.3</li><li>Section 4.4: care</li></ul><p>Article 5<br>Care is due.<br>"
        "Article 6: Fees<br>They are due.</p><table><tr><th>4.3<th>b<tr><td>1<td>2</table>"
    )
    assert [(h.level, h.section_id, h.title) for h in document.headings] == [
        (2, "4", "4 Owners"),
        (3, "4.1", "4.1"),
        (3, "4.2", "Section 4.2 Duties"),
        (3, "5", "Article 5"),
        (3, "6", "Article 6"),
    ]


def test_lists_keep_their_bullets_and_numbers():
    document = read(
        "<ul><li>One<li><p>Two</p><p>More</p><ol start=3><li>three<li>four</ol></ul>"
        "<ol><li><li>2nd</ol>"
    )
    assert document.text == "• One\n• Two\n\nMore\n\n3. three\n4. four\n2. 2nd"
    assert document.headings == ()


@pytest.mark.parametrize(
    ("items", "marks"),
    [
        ("<ol type=a><li>x<li>x<li value=28>x</ol>", "a. b. ab."),
        ("<ol type=A start=3><li>x</ol>", "C."),
        ("<ol type=i start=4><li>x</ol>", "iv."),
        ("<ol type=I><li value=9>x<li>x</ol>", "IX. X."),
        ("<ol style='margin:0; list-style: inside Lower-Roman'><li>x<li>x</ol>", "i. ii."),
        ("<ol><li style='list-style-type:upper-latin'>x<li>x</ol>", "A. 2."),
        ("<ol><li value=7>x<li>x</ol>", "7. 8."),
        ("<ol start=0><li>x<li>x</ol>", "0. 1."),
        ("<ol start=-1 type=a><li>x<li>x<li>x</ol>", "-1. 0. a."),
        ("<ol reversed><li>x<li>x<ol><li>x</ol><li>x</ol>", "3. 2. 1. 1."),
        ("<ul><li value=7>x<ol type=a><li>x</ol><li>x</ul>", "• a. •"),
    ],
)
def test_the_items_of_a_list_are_counted_as_a_browser_counts_them(items, marks):
    assert text(items).split() == [part for mark in marks.split() for part in (mark, "x")]


def test_each_cell_below_a_header_has_its_columns_header_before_it():
    document = read(
        "<p>Before<table><caption>Table 1</caption><thead>"
        "<tr><th rowspan=2>Item<th colspan=2>Revenue<tr><th>2024<th>2023</thead>"
        "<tr><th rowspan=2>A<td>1<td>2<tr><td>3<td><p>4<p>5<tr><td colspan=3>Of which</table>After"
    )
    assert document.text == (
        "Before\n\nTable 1\n\n"
        "Item | Revenue\nItem | 2024 | 2023\n"
        "Item: A | Revenue 2024: 1 | Revenue 2023: 2\n"
        "Item: A | Revenue 2024: 3 | Revenue 2023: 4 5\n"
        "Of which\n\nAfter"
    )
    assert [document.text[start:end][:4] for start, end in document.tables] == ["Item"]


def test_a_table_without_a_header_keeps_its_rows_and_one_that_arranges_the_page_is_none():
    assert text("<table><tr><td>Name<td>Jane<tr><td><td>1980</table>") == "Name | Jane\n | 1980"
    arranged = (
        "<table><tr><td><h2>Left</h2>a<td>b</table><table role=presentation><tr><td>c<td>d</table>"
    )
    document = read(arranged)
    assert document.text == "Left\n\na\n\nb\n\nc\n\nd"
    assert document.tables == ()


def test_the_sites_header_and_footer_are_furniture_and_an_articles_are_not():
    document = read(
        "<header>Site</header><article><header>By Jane</header><p>Text.</article>"
        "<footer>Imprint</footer><header><h1>Title</h1></header>"
    )
    assert [document.text[start:end] for start, end in document.furniture] == ["Site", "Imprint"]
    assert [heading.title for heading in document.headings] == ["Title"]


@pytest.mark.parametrize(
    ("data", "declared"),
    [
        ('<meta charset="iso-8859-2"><p>Źródło'.encode("iso-8859-2"), "text/html"),
        ("<p>Źródło".encode("iso-8859-2"), "text/html; charset=ISO-8859-2"),
        (
            '<meta http-equiv=a content="text/html; charset=cp1250"><p>Źródło'.encode("cp1250"),
            "",
        ),
        ('<?xml version="1.0" encoding="iso-8859-2"?><html><p>Źródło'.encode("iso-8859-2"), ""),
        ("<meta charset=utf-16><p>Źródło".encode(), ""),
        ("<meta charset=latin1><p>Źródło".encode("utf-8-sig"), ""),
    ],
)
def test_a_page_is_in_the_encoding_that_it_or_its_sender_declares(data, declared):
    assert parse(data, "page.html", declared).text == "Źródło"


@pytest.mark.parametrize("unit", ["<div>", "<b>", "<table><tr><td>", "<ul><li>", "<blockquote>"])
def test_ten_thousand_nested_tags_are_refused_in_time(unit):
    with ends_in_time(), pytest.raises(InvalidInput) as caught:
        text("first " + unit * 10_000 + " deep")
    assert caught.value.reason == "TOO_LARGE"
    assert "deep" in text("first " + unit * 1_000 + " deep")


@pytest.mark.parametrize("unit", ["<span><p>", "<p>", "<!--", "<a"])
def test_ten_thousand_tags_that_are_not_closed_are_read_in_time(unit):
    with ends_in_time():
        assert text("first " + unit * 10_000 + " deep").startswith("first")


def test_a_span_over_endless_rows_and_columns_takes_no_endless_memory():
    wide = "<td rowspan=99999999 colspan=99999999>x<td>y</td>"
    assert "x" in text(f"<table>{f'<tr>{wide}' * 100}</table>")


TAGS = [
    *("<p>", "</p>", "<li>", "<ol>", "</ol>", "<h2>", "</h2>", "<sup>", "<br>", "<pre>", "</pre>"),
    *("<table>", "<tr>", "<td>", "<th rowspan=2>", "</table>", "<header>", "</header>", "</body>"),
    *("word ", "4.2 A", "\x00", "\f"),
]


@given(st.lists(st.sampled_from(TAGS), max_size=30).map("".join))
def test_whatever_the_tags_are_all_words_are_read_once_and_spans_are_in_order(body):
    document = html.parse(body)
    assert document.text.count("word") >= body.count("word ")
    assert "\f" not in document.text
    spans = sorted(
        [*document.tables, *document.furniture, *((h.start, h.end) for h in document.headings)]
    )
    assert all(0 <= start < end <= len(document.text) for start, end in spans)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))
