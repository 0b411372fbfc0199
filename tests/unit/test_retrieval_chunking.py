"""How a document's text is cut into passages."""

import re
from dataclasses import replace

import pytest
from effort import ends_in_time
from hypothesis import given, settings
from hypothesis import strategies as st

from services.retrieval.chunking import chunk
from services.retrieval.document import Chunk, Heading, Line, Page, ParsedDocument
from services.retrieval.embedded_text import passage_text_for_embedding
from services.retrieval.parsers import markdown, plain


def words(text):
    return len(text.split())


def cut(document, max_tokens=200, count_tokens=words):
    return chunk(document, count_tokens=count_tokens, max_tokens=max_tokens)


def texts(document, chunks):
    return [document.text[c.start : c.end] for c in chunks]


def embedded(document, chunks):
    return [passage_text_for_embedding(document, c) for c in chunks]


def paged(*pages, running=()):
    """A document of pages as PDF gives them; lines that are in `running` are furniture."""
    text = "\n\f".join(pages)
    starts = [0]
    for page in pages:
        starts.append(starts[-1] + len(page) + 2)
    spans = [Page(n, start, starts[n]) for n, start in enumerate(starts[:-1], start=1)]
    spans[-1] = replace(spans[-1], end=len(text))
    lines = [
        Line(line.start(), line.end(), page.number, None)
        for page in spans
        for line in re.finditer(r"[^\n\f]+", text[: page.end])
        if line.start() >= page.start
    ]
    return ParsedDocument(
        text=text,
        pages=tuple(spans),
        lines=tuple(lines),
        headings=(),
        furniture=tuple((n.start, n.end) for n in lines if text[n.start : n.end] in running),
        content_type="application/pdf",
        has_page_images=True,
    )


PIECES = st.sampled_from(
    [
        *("A sentence here. ", "Mr. Low pays 3.5 percent. ", "word ", "!?", "x" * 90),
        *("\n", "\n\n", "\f", "\u2028", " " * 40),
        *("# H\n\n", "## 4.2 Owners\n\n", "Section 7: so. ", "| a |\n|---|\n| b |\n\n"),
    ]
)


@given(st.lists(PIECES, max_size=40).map("".join), st.integers(1, 12))
@settings(deadline=None)
def test_chunks_joined_are_the_text_whatever_it_is(text, max_tokens):
    for document in (plain.parse(text or "x"), markdown.parse(text or "x")):
        chunks = cut(document, max_tokens)
        assert "".join(texts(document, chunks)) == document.text
        assert all(c.start < c.end for c in chunks)
        pages = {page.number: page for page in document.pages}
        for c in chunks:
            visible = re.compile(r"\S").search(document.text, c.start, c.end)
            where = visible.start() if visible else c.start
            assert pages[c.page_number].start <= where < pages[c.page_number].end


@given(st.lists(PIECES, max_size=40).map("".join), st.integers(3, 12))
@settings(deadline=None)
def test_no_chunk_crosses_a_heading_or_has_too_many_tokens(text, max_tokens):
    document = markdown.parse(text or "x")
    for c in cut(document, max_tokens):
        inside = [h for h in document.headings if c.start <= h.start < c.end]
        body = document.text[inside[-1].end if inside else c.start : c.end]
        assert words(body) <= max_tokens
        if inside:
            assert c.start <= inside[0].start
            assert not document.text[c.start : inside[0].start].strip()
            # A title above another of its level, without a number, opens that one's section.
            path = [
                h for n, h in enumerate(inside) if all(h.level < o.level for o in inside[n + 1 :])
            ]
            assert [h.title for h in path] == list(c.heading_path)[-len(path) :]
            assert all(h in path or not h.section_id for h in inside)


def test_short_paragraphs_of_a_section_share_a_chunk_and_sections_do_not():
    document = markdown.parse("# A\n\nOne.\n\nTwo.\n\n# B\n\nThree.\n")
    chunks = cut(document)
    assert texts(document, chunks) == ["# A\n\nOne.\n\nTwo.\n\n", "# B\n\nThree.\n"]
    assert [c.heading_path for c in chunks] == [("A",), ("B",)]


def test_a_paragraph_that_does_not_fit_beside_others_starts_a_chunk():
    document = markdown.parse("One two three.\n\nFour five six. Seven eight nine.\n")
    assert texts(document, cut(document, 7)) == [
        "One two three.\n\n",
        "Four five six. Seven eight nine.\n",
    ]


def test_a_long_paragraph_is_cut_between_sentences_and_not_after_an_abbreviation():
    document = markdown.parse("Mr. Low pays 3.5 percent. Dr. Hay of No. 5 pays nothing. All agree.")
    assert texts(document, cut(document, 8)) == [
        "Mr. Low pays 3.5 percent. ",
        "Dr. Hay of No. 5 pays nothing. ",
        "All agree.",
    ]


def test_a_sentence_is_cut_only_when_it_alone_has_too_many_tokens():
    document = markdown.parse("one two three four five six seven\neight nine ten\neleven.")
    assert texts(document, cut(document, 11)) == [document.text]
    assert texts(document, cut(document, 4)) == [
        "one two three ",
        "four five six seven\n",
        "eight nine ten\neleven.",
    ]


def test_a_heading_stays_with_its_text_though_both_together_are_over_the_limit():
    document = markdown.parse("# A heading of five words\n\nOne two three four.\n")
    assert len(cut(document, 4)) == 1


def test_a_chapter_heading_goes_with_its_first_section_and_an_empty_section_stays_alone():
    document = markdown.parse(
        "# 4 Owners\n\n## 4.1 Reserved\n\n## 4.2 Limits\n\nText.\n\n### Of trusts\n\nMore.\n"
    )
    chunks = cut(document)
    assert texts(document, chunks) == [
        "# 4 Owners\n\n## 4.1 Reserved\n\n",
        "## 4.2 Limits\n\nText.\n\n",
        "### Of trusts\n\nMore.\n",
    ]
    assert [c.section_id for c in chunks] == ["4.1", "4.2", "4.2"]
    assert chunks[2].heading_path == ("4 Owners", "4.2 Limits", "Of trusts")


def test_a_table_is_whole_when_it_fits_and_cut_between_rows_when_not():
    table = "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n"
    document = markdown.parse(f"Some words before it.\n\n{table}\nAfter.\n")
    assert texts(document, cut(document, 18))[1].strip() == table.strip() + "\n\nAfter."
    assert texts(document, cut(document, 10)) == [
        "Some words before it.\n\n| a | b |\n|---|---|\n",
        "| 1 | 2 |\n| 3 | 4 |\n\n",
        "After.\n",
    ]


def test_rows_that_a_table_goes_on_with_are_embedded_with_its_head():
    document = markdown.parse("# H\n\n| year | sum |\n|---|---|\n| 2022 | 7 |\n| 2023 | 8 |\n")
    assert embedded(document, cut(document, 10)) == [
        "H\n| year | sum | |---|---|",
        "H\n| year | sum | |---|---| | 2022 | 7 | | 2023 | 8 |",
    ]


@pytest.mark.parametrize(
    ("above", "head"),
    [
        (
            "52 Weeks Ended\nAugust 29,\n2021\nAugust 30,\n2020\nREVENUE\n",
            "52 Weeks Ended August 29, 2021 August 30, 2020 REVENUE ",
        ),
        ("Item 2021 2020\n", "Item 2021 2020 "),
        (
            "x" * 150 + "\nYears ended December 31\nItem 2021 2020\n",
            "Years ended December 31 Item 2021 2020 ",
        ),
        ("Item\n2021\n2020\nRevenue\n100\n200\n", "Item 2021 2020 Revenue "),
        ("", ""),
    ],
)
def test_the_head_of_a_table_is_what_stands_above_its_first_row_of_figures(above, head):
    rows = "Sales $ 192 $ 163\nFees 3 1\n"
    last = "Costs 170,684 144,939\n"
    document = paged(above + rows + last)
    document = replace(document, tables=((0, len(document.text)),))
    start = len(above + rows)
    passage = Chunk(start, len(document.text), 1, "", ())
    assert embedded(document, [passage]) == [f"{head}{last.strip()}"]


def test_of_a_table_without_figures_the_first_two_lines_are_the_head():
    above = "Term Meaning\nOwner one who owns\nClerk one who writes\n"
    document = paged(f"{above}Bank one who keeps\n")
    document = replace(document, tables=((0, len(document.text)),))
    passage = Chunk(len(above), len(document.text), 1, "", ())
    assert embedded(document, [passage]) == ["Term Meaning Owner one who owns Bank one who keeps"]


def test_a_table_keeps_its_caption():
    table = "| a | b |\n|---|---|\n| 1 | 2 |\n"
    document = markdown.parse(f"Some words go before it.\n\nTable 3: Sums\n\n{table}\n")
    assert texts(document, cut(document, 16)) == [
        "Some words go before it.\n\n",
        f"Table 3: Sums\n\n{table}\n",
    ]


def test_the_last_chunk_of_a_section_is_no_mere_remainder():
    document = markdown.parse("One two three. Four five six. Seven eight nine. Ten.")
    assert texts(document, cut(document, 9)) == [
        "One two three. Four five six. ",
        "Seven eight nine. Ten.",
    ]


def test_a_title_above_a_title_opens_its_section_and_is_embedded_with_it():
    document = markdown.parse("# A\n\n## Malta\n\n## Terms\n\nText.\n\n## Other\n\nMore.\n")
    assert texts(document, cut(document)) == [
        "# A\n\n## Malta\n\n## Terms\n\nText.\n\n",
        "## Other\n\nMore.\n",
    ]
    assert embedded(document, cut(document))[0] == "A > Terms\n## Malta Text."


def test_a_sentence_goes_on_over_the_page_break_and_the_header_in_it():
    document = paged(
        "Policy\nThe owner shall give\nPage 1",
        "Policy\nnotice at once. Nobody else does.\nPage 2",
        running=("Policy", "Page 1", "Page 2"),
    )
    chunks = cut(document, 7)
    assert texts(document, chunks) == [
        "Policy\nThe owner shall give\nPage 1\n\fPolicy\nnotice at once. ",
        "Nobody else does.\nPage 2",
    ]
    assert [c.page_number for c in chunks] == [1, 2]
    assert embedded(document, chunks) == [
        "The owner shall give notice at once.",
        "Nobody else does.",
    ]


def test_a_chunk_is_on_the_page_of_its_first_words_not_of_the_white_space_before():
    document = plain.parse("\n\n\f\n\fHere.")
    assert [c.page_number for c in cut(document)] == [3]


def test_the_embedded_text_has_the_headings_once_and_its_words_on_one_line():
    document = markdown.parse("# 4 Owners\n\n## 4.2 *Limits*\n\nThe third-\nparty  shall\npay.\n")
    assert embedded(document, cut(document)) == [
        "4 Owners > 4.2 Limits\nThe third-party shall pay."
    ]


def test_what_the_model_would_not_read_whole_is_left_out_the_outermost_heading_first():
    table = "| year | sum |\n|---|---|\n| 2022 | 7 |\n| 2023 | 8 |\n"
    document = markdown.parse(f"# A b\n\n## C d\n\n{table}")
    rows = cut(document, 10)[1]
    seen = {
        most: passage_text_for_embedding(document, rows, fits=lambda t, most=most: words(t) <= most)
        for most in (22, 18, 12, 3)
    }
    body = "| 2022 | 7 | | 2023 | 8 |"
    assert seen == {
        22: f"A b > C d\n| year | sum | |---|---| {body}",
        18: f"A b > C d\n{body}",
        12: f"C d\n{body}",
        3: body,
    }


def test_a_run_in_heading_is_not_repeated_in_the_embedded_text():
    document = plain.parse("Section 4.2: Any entity must\nsubmit proof.")
    chunks = cut(document)
    assert embedded(document, chunks) == ["Section 4.2\nAny entity must submit proof."]
    assert chunks[0].section_id == "4.2"


def test_text_of_nothing_but_headings_is_kept():
    document = plain.parse("x")
    document = replace(document, headings=(Heading(0, 1, 1, "", "x"),))
    chunks = cut(document)
    assert texts(document, chunks) == ["x"]
    assert embedded(document, chunks) == ["x"]


def test_each_sentence_is_counted_once():
    counted = []

    def count_tokens(text):
        counted.append(text)
        return words(text)

    document = markdown.parse("# A\n\nOne is here. Two is here.\n\nThree is here.\n")
    cut(document, count_tokens=count_tokens)
    assert counted == ["One is here.", "Two is here.", "Three is here."]


@pytest.mark.parametrize(
    "unit", ["x", "word ", "A b. ", "\n", " ", "!", "?!", "(.", "a.\n", "# H\n\n", "e.g. "]
)
def test_long_text_of_one_kind_is_cut_in_linear_time(unit):
    document = plain.parse(unit * (300_000 // len(unit)))
    counted = 0

    def count_tokens(text):
        nonlocal counted
        counted += len(text)
        return words(text)

    with ends_in_time():
        chunks = cut(document, count_tokens=count_tokens)
    assert counted <= 4 * len(document.text)
    assert max(c.end - c.start for c in chunks) <= 200 * 16
