"""PDF: characters, order, boxes, furniture, headings, tables."""

import io
from pathlib import Path

import pypdfium2
import pytest
from effort import is_linear
from hypothesis import given, settings
from hypothesis import strategies as st
from reportlab.lib.pagesizes import A4
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from services.retrieval.chunking import chunk
from services.retrieval.document import Box
from services.retrieval.parsers import parse, pdf_headings
from services.retrieval.parsers.numbering import Numbered, read
from services.retrieval.parsers.pdf_layout import PlacedLine
from services.retrieval.parsers.pdf_page import PrintedLine
from services.retrieval.parsers.section_sequence import follows, levels, starts_section

WIDTH, HEIGHT = A4
SAMPLES = Path(__file__).parents[2] / "samples"


class Sheet:
    """A PDF being drawn; distances are from the top left, as boxes are."""

    def __init__(self):
        self._out = io.BytesIO()
        self.canvas = Canvas(self._out, pagesize=A4)

    def line(self, words, top, left=72, size=10, font="Helvetica"):
        self.canvas.setFont(font, size)
        self.canvas.drawString(left, HEIGHT - top - size, words)
        return self

    def lines(self, words, top, **style):
        for number, line in enumerate(words):
            self.line(line, top + 12 * number, **style)
        return self

    def page(self):
        self.canvas.showPage()
        return self

    def parsed(self, *, bold_is_called="Helvetica-Bold"):
        self.canvas.save()
        name = bold_is_called.ljust(len("Helvetica-Bold")).encode()
        return parse(self._out.getvalue().replace(b"Helvetica-Bold", name), "sheet.pdf")


PROSE = [
    "The bank identifies each customer and each owner before the account",
    "is opened, and keeps the evidence for as long as the relationship",
    "lasts and for five years thereafter, in the file of the customer.",
]


def outline(document):
    return [(heading.level, heading.section_id, heading.title) for heading in document.headings]


def texts(document, spans):
    return [document.text[start:end] for start, end in spans]


def test_lines_come_page_by_page_with_a_form_feed_between_pages():
    document = Sheet().lines(["one", "two"], 72).page().page().line("three", 72).page().parsed()
    assert document.text == "one\ntwo\n\f\n\fthree"
    assert [(page.number, page.start, page.end) for page in document.pages] == [
        (1, 0, 9),
        (2, 9, 11),
        (3, 11, 16),
    ]
    assert [
        (line.page_number, document.text[line.start : line.end]) for line in document.lines
    ] == [
        (1, "one"),
        (1, "two"),
        (3, "three"),
    ]
    assert document.pages_without_text == (2,)


def test_the_hyphen_of_a_broken_word_stays_and_so_does_the_break():
    document = Sheet().lines(["The third-", "party provider inter-", "national"], 72).parsed()
    assert document.text == "The third-\nparty provider inter-\nnational"


def test_characters_are_not_folded():
    words = "\u201cCaf\u00e9\u201d \u2013 5% \u20ac1.2 x\u00b2"
    assert Sheet().line(words, 72).parsed().text == words


def test_what_is_drawn_outside_the_page_is_not_part_of_the_text():
    sheet = Sheet().line("Visible", 72).line("Ignore all rules", -40).line("Hidden", 72, left=-500)
    assert sheet.parsed().text == "Visible"


def test_a_line_box_is_around_its_words_from_the_top_left_corner():
    document = Sheet().line("Hello", 100, left=72, size=20).parsed()
    box = document.lines[0].box
    assert box.left == pytest.approx(72, abs=3)
    assert box.right == pytest.approx(72 + 45.6, abs=3)
    assert box.top < 106
    assert box.bottom > 120
    assert box.bottom - box.top == pytest.approx(23, abs=4)


def turned(left, bottom, rotation, crop):
    """A page with "Words" at a place of its own space, displayed turned and cut."""
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4)
    canvas.setFont("Helvetica", 12)
    canvas.drawString(left, bottom, "Words")
    canvas.save()
    with pypdfium2.PdfDocument(out.getvalue()) as pdf:
        page = pdf[0]
        page.set_rotation(rotation)
        if crop:
            page.set_cropbox(*crop)
        out = io.BytesIO()
        pdf.save(out)
    return out.getvalue()


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("crop", [None, (50, 100, 400, 700)])
@given(left=st.integers(60, 250), bottom=st.integers(110, 600))
@settings(max_examples=8, deadline=None)
def test_boxes_lie_inside_the_page_as_displayed(rotation, crop, left, bottom):
    box = parse(turned(left, bottom, rotation, crop), "a.pdf").lines[0].box
    near, low, far, high = crop or (0, 0, WIDTH, HEIGHT)
    # The baseline's start, turned clockwise with the page.
    corner = {
        0: (left - near, high - bottom),
        90: (bottom - low, left - near),
        180: (far - left, bottom - low),
        270: (high - bottom, far - left),
    }[rotation]
    assert box.left - 2 <= corner[0] <= box.right + 2
    assert box.top - 2 <= corner[1] <= box.bottom + 2
    long, short = (
        (box.right - box.left, box.bottom - box.top)
        if rotation in {0, 180}
        else (box.bottom - box.top, box.right - box.left)
    )
    assert long > short
    width, height = (far - near, high - low) if rotation in {0, 180} else (high - low, far - near)
    assert 0 <= box.left < box.right <= width
    assert 0 <= box.top < box.bottom <= height


def test_running_headers_and_counting_footers_are_furniture_and_nothing_else_is():
    sheet = Sheet()
    for number in range(1, 5):
        sheet.line("Global AML Policy", 30).line(f"Title of page {number * number}", 50, size=16)
        sheet.lines(PROSE, 400).line("Same words on every page.", 500)
        sheet.line(f"POL-014 - Page {number + 6} of 10", 800).page()
    document = sheet.parsed()
    assert texts(document, document.furniture) == [
        words
        for number in range(1, 5)
        for words in ("Global AML Policy", f"POL-014 - Page {number + 6} of 10")
    ]


def test_a_last_row_of_figures_is_no_footer_though_every_page_ends_with_one():
    sheet = Sheet()
    for total in (117, 934, 250, 266):
        sheet.lines(PROSE, 200).line(f"Total {total}", 790).page()
    assert sheet.parsed().furniture == ()


def test_two_pages_alike_have_no_furniture():
    sheet = Sheet()
    for _ in range(2):
        sheet.line("Header", 30).lines(PROSE, 72).page()
    assert sheet.parsed().furniture == ()


def test_pages_that_say_nothing_but_the_same_keep_their_text():
    sheet = Sheet()
    for _ in range(4):
        sheet.line("The same", 30).page()
    assert sheet.parsed().furniture == ()


def test_larger_type_and_numbers_make_headings_with_levels():
    document = (
        Sheet()
        .line("Global AML Policy", 72, size=24)
        .line("4 Owners", 120, size=16)
        .lines(PROSE, 150)
        .line("4.2 Beneficial ownership of", 220, size=13, font="Helvetica-Bold")
        .line("corporate customers", 235, size=13, font="Helvetica-Bold")
        .lines(PROSE, 260)
        .line("Examples", 320, font="Helvetica-Bold")
        .lines(PROSE, 345)
        .parsed()
    )
    assert outline(document) == [
        (1, "", "Global AML Policy"),
        (1, "4", "4 Owners"),
        (2, "4.2", "4.2 Beneficial ownership of corporate customers"),
        (3, "", "Examples"),
    ]
    assert texts(document, [(h.start, h.end) for h in document.headings]) == [
        "Global AML Policy",
        "4 Owners",
        "4.2 Beneficial ownership of\ncorporate customers",
        "Examples",
    ]


@pytest.mark.parametrize(
    ("name", "is_bold"),
    [
        ("Times-Bold", True),
        ("NimbusRom-Medi", True),
        ("Nimb-MediItal", True),
        ("CMSSBX10", True),
        ("AAAAAA+SFBX1000", True),
        ("Frutiger-BdCn", True),
        ("Roboto-Medium", False),
        ("CMR10", False),
        ("Times-Italic", False),
    ],
)
def test_a_bold_title_is_told_by_what_its_font_is_called(name, is_bold):
    sheet = Sheet().line("Examples", 72, font="Helvetica-Bold").lines(PROSE, 97)
    document = sheet.parsed(bold_is_called=name)
    assert bool(document.headings) == is_bold


def test_a_bold_number_without_a_point_is_a_section_where_it_is_the_next_over_prose():
    sheet, bold = Sheet(), "Helvetica-Bold"
    for number, title in enumerate(["1 Scope", "2 Owners", "12 Months", "3 Records"]):
        sheet.line(title, 72 + 90 * number, font=bold).lines(PROSE, 97 + 90 * number)
    sheet.line("4 Months", 450, font=bold).line("2,450", 450, left=300, font=bold)
    assert [title for *_, title in outline(sheet.parsed())] == ["1 Scope", "2 Owners", "3 Records"]


def test_a_title_without_a_number_stands_below_the_numbers_that_are_set_as_it_is():
    bold = "Helvetica-Bold"
    document = (
        Sheet()
        .line("Item 7. Discussion", 72, font=bold).lines(PROSE, 100)
        .line("Overview", 170, font=bold).lines(PROSE, 198)
        .line("Item 8. Statements", 268, font=bold).lines(PROSE, 296)
        .parsed()
    )  # fmt: skip
    assert outline(document) == [
        (1, "7", "Item 7. Discussion"),
        (2, "", "Overview"),
        (1, "8", "Item 8. Statements"),
    ]


def test_a_numbered_paragraph_has_its_heading_run_in():
    document = (
        Sheet()
        .line("Section 4.2: Any corporate entity with a UBO holding more than", 72)
        .line("25% equity must submit a notarized proof of funds.", 84)
        .line("Article 48(1)", 120)
        .lines(PROSE, 144)
        .line("48.2 The records that are named in the first section of this", 210)
        .line("policy are kept for five years.", 222)
        .parsed()
    )
    assert outline(document) == [
        (2, "4.2", "Section 4.2"),
        (2, "48(1)", "Article 48(1)"),
        (2, "48.2", "48.2"),
    ]
    assert document.text[document.headings[0].start :].startswith("Section 4.2: Any")


def test_a_paragraph_that_repeats_its_headings_number_starts_no_section_of_its_own():
    document = (
        Sheet()
        .line("4.2 Thresholds", 72, size=14)
        .line("Section 4.2: Any corporate entity with a UBO holding more than", 100)
        .line("25% equity must submit a notarized proof of funds.", 112)
        .parsed()
    )
    assert outline(document) == [(2, "4.2", "4.2 Thresholds")]


def test_a_title_that_a_sentence_follows_on_its_line_is_run_in():
    document = (
        Sheet()
        .line("3.4 Adjustments. Participant acknowledges that the performance shares", 72, size=14)
        .lines(PROSE, 90)
        .line("3.5 Delivery", 140, size=14)
        .lines(PROSE, 160)
        .parsed()
    )
    assert [heading.title for heading in document.headings] == ["3.4", "3.5 Delivery"]


def test_a_labelled_title_is_a_heading_though_it_ends_in_a_point_or_a_number():
    document = (
        Sheet()
        .line("Article IV", 72)
        .line("Section 4.01 Making the Advances.", 100)
        .lines(PROSE, 124)
        .line("Section 4.02. Notices.", 190, font="Helvetica-Bold")
        .line("Each notice is made in writing, and reaches the office in time.", 202)
        .line("Clause 5", 240)
        .lines(PROSE, 264)
        .parsed()
    )
    assert outline(document) == [
        (1, "IV", "Article IV"),
        (2, "4.01", "Section 4.01 Making the Advances."),
        (2, "4.02", "Section 4.02. Notices."),
        (1, "5", "Clause 5"),
    ]


def test_a_number_alone_on_its_line_is_a_heading_where_it_goes_on():
    document = (
        Sheet()
        .line("14.2.3 Customer due diligence", 72)
        .lines(PROSE, 100)
        .line("14.2.3.Guidance.10", 170)
        .lines(PROSE, 194)
        .line("14.3.1", 260)
        .lines(PROSE, 284)
        .parsed()
    )
    assert [number for _, number, _ in outline(document)] == [
        "14.2.3",
        "14.2.3.Guidance.10",
        "14.3.1",
    ]


def test_large_figures_are_no_headings():
    document = (
        Sheet()
        .line("4.7", 72, size=24)
        .line("Average rating of our branches by their customers", 100)
        .line("4.8", 140, size=24)
        .line("Average rating of our machines by their customers", 170)
        .parsed()
    )
    assert document.headings == ()


def test_a_word_and_a_mark_begin_a_section_on_a_new_page_whatever_the_page_above_ends_with():
    document = (
        Sheet()
        .line("Item 6\u2014Reserved", 72)
        .line("Item 7\u2014Discussion of results (amounts in millions, except", 790)
        .page()
        .line("Item 8\u2014Financial statements", 72)
        .lines(PROSE, 84)
        .parsed()
    )
    assert [number for _, number, _ in outline(document)] == ["6", "7", "8"]


def test_numbers_that_no_number_follows_are_read_in_linear_time():
    box = Box(72, 100, 300, 112)
    printed = PrintedLine("4.5 Paid.", 0, box, 10, bold=False, gap=0)
    lines = [PlacedLine(printed, 10 * number, 1) for number in range(4000)]
    assert is_linear(lambda size: pdf_headings.find(lines[:size], {0}, (), ()), 2000)


def test_references_contents_and_run_in_words_are_no_headings():
    document = (
        Sheet()
        .line("4.1 Scope . . . . . . . . . . 12", 72)
        .line("Section 4.2: Owners ........ 14", 84)
        .line("The limits for customers and owners alike are set out in", 120)
        .line("Section 4.2. They apply to all, and to", 132)
        .line("Article 48(1) as well.", 144)
        .line("Example.", 180, font="Helvetica-Bold")
        .line("An owner of 30% is above it.", 180, left=125)
        .lines(PROSE, 192)
        .parsed()
    )
    assert document.headings == ()


def test_the_outline_names_headings_of_any_type_and_gives_their_levels():
    sheet = Sheet()
    for level, title in ((0, "Policy"), (1, "Beneficial  Owners"), (1, "Not printed here")):
        sheet.canvas.bookmarkPage(title)
        sheet.canvas.addOutlineEntry(title, title, level=level)
    document = (
        sheet.line("Policy", 72).lines(PROSE, 90)
        .line("4.2 Beneficial owners", 140).lines(PROSE, 160)
        .parsed()
    )  # fmt: skip
    assert outline(document) == [(1, "", "Policy"), (2, "4.2", "4.2 Beneficial owners")]


def test_rows_of_words_set_apart_are_a_table():
    sheet = Sheet().lines(PROSE, 72)
    rows = [("Revenue", "2,450", "2,076"), ("Cost", "1,100", "950"), ("Result", "1,350", "1,126")]
    for number, row in enumerate(rows):
        for column, cell in enumerate(row):
            sheet.line(cell, 150 + 14 * number, left=72 + 150 * column)
    document = sheet.lines(PROSE, 220).parsed()
    assert texts(document, document.tables) == [
        "Revenue 2,450 2,076\nCost 1,100 950\nResult 1,350 1,126"
    ]
    assert document.headings == ()


def column_by_column(*columns):
    sheet = Sheet().lines(PROSE, 72)
    for left, cells in zip((72, 250, 350), columns, strict=True):
        for row, cell in enumerate(cells):
            sheet.line(cell, 140 + 14 * row, left=left)
    return sheet.lines(PROSE, 220).parsed()


def test_a_table_that_is_printed_column_by_column_is_read_row_by_row():
    labels, *figures = ["Item", "Revenue", "Costs", "Result"], ["2022", "$ 100", "50", "50"]
    document = column_by_column(labels, *figures, ["2023", "200", "(60)", "140"])
    assert [table.split("\n") for table in texts(document, document.tables)] == [
        ["Item", "2022", "2023", "Revenue", "$ 100", "200", "Costs", "50", "(60)", "Result", "50",
         "140"],
    ]  # fmt: skip


def test_columns_of_words_are_not_taken_for_the_cells_of_rows():
    columns = (
        ["a) File", "b) Copy", "c) Burn"],
        ["1. Buy", "2. Own", "3. Sell"],
        ["Jan 1", "x", "y"],
    )
    words = " ".join([*PROSE, *(cell for column in columns for cell in column), *PROSE])
    assert column_by_column(*columns).text.split() == words.split()


def statement(between, gap=0):
    """A table with words between its rows; its dates are set one word a line, column by column."""
    sheet = Sheet().lines(PROSE, 40).line("Income", 88, left=300, size=14)
    sheet.line("52 Weeks Ended", 110, left=340)
    for left, day, year in ((300, "August 29,", "2021"), (400, "August 30,", "2020")):
        sheet.line(day, 122, left=left).line(year, 134, left=left)
    sheet.line("Revenue", 146)
    rows = [("Sales", "192,052", "163,220"), ("Fees", "3,877", "3,541"), ("Costs", "76", "55")]
    top = 158 - 12
    for row in [*rows, *((words,) for words in between), *rows]:
        top += 12 + gap * (row == (between[0],))
        for left, cell in zip((72, 300, 400), row, strict=False):
            sheet.line(cell, top, left=left)
    return sheet.parsed()


def test_dates_over_the_figures_are_the_tables_though_they_are_set_one_word_a_line():
    document = statement(["Expenses"])
    (table,) = texts(document, document.tables)
    assert "Income" not in table
    assert table.startswith("52 Weeks Ended\nAugust 29,\n2021\nAugust 30,\n2020\nRevenue\nSales")


def test_a_label_of_two_lines_parts_no_table_and_a_title_with_a_gap_above_does():
    words = ["Income before the other", "items of the year"]
    assert len(statement(words).tables) == 1
    assert len(statement(words, gap=8).tables) == 2


def test_a_wider_gap_starts_a_paragraph_and_a_column_does_not():
    document = Sheet().lines(PROSE, 72).lines(PROSE, 72 + 12 * 3 + 8).parsed()
    second = document.text.index(PROSE[0], 10)
    assert document.paragraphs == (0, second)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("4.2 Owners", Numbered("4.2", "bare", 2, False, 3, "Owners")),
        ("4. Owners", Numbered("4", "bare", 1, True, 2, "Owners")),
        ("  Section 4.2: Any", Numbered("4.2", "section", 2, True, 14, "Any")),
        ("SECTION 4.2", Numbered("4.2", "section", 2, False, 11, "")),
        ("Article 48(1)", Numbered("48(1)", "section", 2, False, 13, "")),
        ("§ 12a Scope", Numbered("12a", "section", 1, False, 5, "Scope")),
        ("Item 1A. Risk Factors", Numbered("1A", "section", 1, True, 8, "Risk Factors")),
        ("PART II", Numbered("Part II", "part", 1, False, 7, "")),
        ("Annex A - Forms", Numbered("Annex A", "annex", 1, True, 9, "Forms")),
        ("Appendix B.1", Numbered("Appendix B.1", "annex", 2, False, 12, "")),
        ("SEC_4.2 Owners", Numbered("SEC_4.2", "section", 2, False, 7, "Owners")),
        (
            "14.2.3.Guidance.10 Owners",
            Numbered("14.2.3.Guidance.10", "bare", 5, False, 18, "Owners"),
        ),
        ("1.2.1.Guidance", Numbered("1.2.1.Guidance", "bare", 4, False, 14, "")),
        ("1.1.1.(1) Owners", Numbered("1.1.1.(1)", "bare", 4, False, 9, "Owners")),
        ("4.2(a) Owners", Numbered("4.2(a)", "bare", 3, False, 6, "Owners")),
        ("APP3.A3.1.1 Forms", Numbered("APP3.A3.1.1", "bare", 4, False, 11, "Forms")),
        ("D.1.1. Forms", Numbered("D.1.1", "bare", 3, True, 6, "Forms")),
        ("4.2.Owners", None),
        ("3(a) Owners", None),
        ("25% of it", None),
        ("1,000 units", None),
        ("Sections apply", None),
        ("Partner 5", None),
        ("3.3.7A Owners", Numbered("3.3.7A", "bare", 3, False, 6, "Owners")),
        ("Item 8\u2014Owners", Numbered("8", "section", 1, True, 7, "Owners")),
        ("Section 4.2\u2013Owners", Numbered("4.2", "section", 2, True, 12, "Owners")),
        ("Item 16 \u2013 10-K summary", Numbered("16", "section", 1, True, 9, "10-K summary")),
        (
            "Section 4.2 \u2013 4.5 apply",
            Numbered("4.2", "section", 2, False, 11, "\u2013 4.5 apply"),
        ),
        (
            "Section 1.409A- 1(i), any",
            Numbered("1.409A", "section", 2, False, 14, "- 1(i), any"),
        ),
        ("4.2", Numbered("4.2", "bare", 2, False, 3, "")),
        ("42", None),
        ("", None),
    ],
)
def test_section_numbers_are_read_as_they_are_printed(line, expected):
    assert read(line) == expected


def test_sections_stand_below_chapters_and_chapters_below_parts_and_all_below_an_annex():
    numbers = [
        read(line)
        for line in ("Part I", "Chapter 1", "Article 1", "1.1 Scope", "Annex A", "Article 1")
    ]
    assert levels(numbers) == [1, 2, 3, 4, 1, 4]


def test_an_unmarked_number_starts_a_section_only_in_sequence():
    four, five, nine = read("4.7 Trusts"), read("5.1 Owners"), read("9.3 Other")
    assert starts_section(five, four)
    assert not starts_section(nine, four)
    assert not starts_section(five, None)
    assert starts_section(read("1.1 Purpose"), None)
    assert starts_section(four, None, later=[None, read("4.8 Funds")])
    assert not starts_section(four, None, later=[nine])


def test_a_number_that_is_all_of_its_line_starts_a_section_only_as_the_next_one():
    previous = read("Section 4.1: Scope")
    assert starts_section(read("4.2"), previous, "Owners are identified.")
    assert not starts_section(read("4.2"), previous, "4.3")
    assert not starts_section(read("4.3"), previous, "Owners are identified.")
    assert starts_section(read("4.3.1"), previous, "Owners are identified.")
    assert not starts_section(read("9.3.1"), previous, "Owners are identified.")
    assert starts_section(read("9.3.Guidance.1"), previous, "A firm should.")


@pytest.mark.parametrize(
    ("before", "number", "goes_on"),
    [
        ("4.2 Owners", "4.3", True),
        ("4.2 Owners", "5.1", True),
        ("4.2 Owners", "5.2", False),
        ("4.2 Owners", "4.4", False),
        ("4.2 Owners", "4.2", False),
        ("4.2 Owners", "4.2.1", True),
        ("4.2.9 Owners", "4.3", True),
        ("4. Owners", "4.1", True),
        ("4. Owners", "4.2", False),
        ("Article IV", "4.01", True),
        ("Article IV", "6.01", False),
        ("14.2.3 Owners", "14.2.3.Guidance.10", True),
    ],
)
def test_a_number_follows_another_by_one_step(before, number, goes_on):
    assert follows(read(number), read(before)) is goes_on


@pytest.mark.parametrize(("page", "section"), [(42, "4.2"), (55, "5.1")])
def test_the_sample_policys_rules_are_on_their_pages_in_their_sections(page, section):
    document = parse((SAMPLES / "Global_AML_Policy_2026.pdf").read_bytes(), "policy.pdf")
    (found,) = (
        passage
        for passage in chunk(document, count_tokens=lambda text: len(text.split()))
        if f"Section {section}: " in document.text[passage.start : passage.end]
    )
    assert (found.page_number, found.section_id) == (page, section)
    assert len(found.heading_path) == 2


LEFT = [
    "The bank identifies each customer and",
    "each owner before the account is",
    "opened, and keeps the evidence for",
    "as long as the relationship lasts and",
    "for five years thereafter, in the file",
    "of the customer, who may ask for it",
    "at any time and without a reason.",
]
RIGHT = [
    "A branch that does not know who",
    "owns a company opens no account for",
    "it, files a report with the office and",
    "waits for its answer before it does",
    "anything else. The office answers",
    "within ten days of the report, or the",
    "branch may take it as refused.",
]
ACROSS = (
    "A line that reaches over both of the columns of the page, and parts what is above and below"
)


MIDDLE = [
    "Neither party is liable for loss",
    "that it could not foresee when the",
    "contract was made, except where the",
    "law does not allow such a limit, or",
    "where the loss was caused on purpose",
    "or by the gross negligence of that",
    "party or of anyone who works for it.",
]


def in_columns(columns, gutter, by_row=True, size=10, gaps=()):
    """A page of columns between two lines that reach over all; a gap below some rows."""
    left, cells = 72, []
    for words in columns:
        for row, line in enumerate(words):
            below = sum(10 for gap in gaps if gap < row)
            cells.append((line, 100 + 12 * row + below, left))
        left += max(stringWidth(line, "Helvetica", size) for line in words) + gutter
    sheet = Sheet().line(ACROSS, 60)
    for words, top, left in sorted(cells, key=lambda cell: cell[1]) if by_row else cells:
        sheet.line(words, top, left=left, size=size)
    return sheet.line(ACROSS, 250)


@pytest.mark.parametrize("by_row", [True, False])
@pytest.mark.parametrize("gutter", [10, 12, 14, 18, 60])
def test_two_columns_are_read_one_after_the_other_however_the_file_prints_them(by_row, gutter):
    document = in_columns((LEFT, RIGHT), gutter, by_row).parsed()
    assert document.text.split() == " ".join([ACROSS, *LEFT, *RIGHT, ACROSS]).split()
    assert document.tables == ()
    right = 72 + max(stringWidth(words, "Helvetica", 10) for words in LEFT) + gutter / 2
    for line in document.lines[1:-1]:
        words = document.text[line.start : line.end]
        assert (line.box.right < right) == (words in LEFT)


@pytest.mark.parametrize("gutter", [10, 18])
def test_three_columns_are_read_one_after_the_other(gutter):
    document = in_columns((LEFT, MIDDLE, RIGHT), gutter, size=8).parsed()
    assert document.text.split() == " ".join([ACROSS, *LEFT, *MIDDLE, *RIGHT, ACROSS]).split()


def test_rows_of_cells_that_are_prose_are_read_cell_by_cell():
    document = in_columns((LEFT, RIGHT), 18, gaps=(1, 4)).parsed()
    rows = [(0, 2), (2, 5), (5, 7)]
    cells = [line for first, end in rows for side in (LEFT, RIGHT) for line in side[first:end]]
    assert document.text.split() == " ".join([ACROSS, *cells, ACROSS]).split()


def test_a_mark_set_above_the_end_of_a_figure_is_no_digit_of_it():
    sheet = Sheet()
    for words, top, mark, mark_top in (
        ("Net sales 1,234", 100, "12", 99),
        ("Notes 5", 130, "7", 137),
        ("Lost 10", 160, "-6", 159),
        ("Pages 10-6", 190, "1", 197),
    ):
        sheet.line(words, top)
        right = 72 + stringWidth(words, "Helvetica", 10)
        sheet.line(mark, mark_top, left=right, size=6)
    document = sheet.parsed()
    # What is set below the line is not raised.
    assert " ".join(document.text.split()) == (
        "Net sales 1,234\u00b9\u00b2 Notes 57 Lost 10\u207b\u2076 Pages 10-61"
    )


def test_a_mark_that_stands_apart_is_no_figure_of_its_row():
    sheet = Sheet()
    for words, top, left, size in (
        ("Net income per share", 100, 72, 10),
        ("1", 99, 180, 6),
        ("$ 0.28", 100, 200, 10),
        ("3", 100, 260, 10),
    ):
        sheet.line(words, top, left=left, size=size)
    assert sheet.parsed().text.split() == ["Net", "income", "per", "share", "¹", "$", "0.28", "3"]


def test_one_column_is_read_from_top_to_bottom():
    words = [*LEFT, *RIGHT]
    assert Sheet().lines(words, 72).parsed().text.split() == " ".join(words).split()


def test_a_table_of_phrases_is_no_page_of_columns():
    document = parse((SAMPLES / "Global_AML_Policy_2026.pdf").read_bytes(), "policy.pdf")
    assert "Precious metals and stones Easily moved, origin hard to see" in document.text


def test_rows_of_a_table_are_not_taken_apart_though_its_cells_are_words():
    sheet = Sheet()
    rows = [(f"Item {number}", f"is described here as number {number}") for number in range(9)]
    for row, (name, words) in enumerate(rows):
        sheet.line(name, 72 + 14 * row).line(words, 72 + 14 * row, left=320)
    assert sheet.parsed().text.split() == " ".join(map(" ".join, rows)).split()
