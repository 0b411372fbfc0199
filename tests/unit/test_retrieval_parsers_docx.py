"""DOCX: what is read of it, and in which words."""

import io
import zipfile

import pytest

from services.chassis.errors import InvalidInput
from services.retrieval.parsers import docx, office, parse
from tests.office_files import a_docx, zipped


def run(words, properties=""):
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{words}</w:t></w:r>'


def p(*runs, style="", properties=""):
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    inside = "".join(r if r.startswith("<") else run(r) for r in runs)
    return f"<w:p><w:pPr>{named}{properties}</w:pPr>{inside}</w:p>"


def in_list(list_id, level=0):
    return f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{list_id}"/></w:numPr>'


def cell(*blocks, properties=""):
    inside = "".join(block if block.startswith("<") else p(block) for block in blocks)
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{inside}</w:tc>"


def row(*cells, properties=""):
    inside = "".join(c if c.startswith("<") else cell(c) for c in cells)
    return f"<w:tr><w:trPr>{properties}</w:trPr>{inside}</w:tr>"


def table(*rows):
    return f"<w:tbl>{''.join(rows)}</w:tbl>"


def read(*blocks, **parts):
    return docx.parse(a_docx("".join(blocks), **parts))


def outline(document):
    return [(heading.level, heading.section_id, heading.title) for heading in document.headings]


def level(number, template, format_="decimal", start=1):
    return (
        f'<w:lvl w:ilvl="{number}"><w:start w:val="{start}"/><w:numFmt w:val="{format_}"/>'
        f'<w:lvlText w:val="{template}"/></w:lvl>'
    )


HEADER = "<w:tblHeader/>"
STYLES = (
    '<w:style w:styleId="H1"><w:name w:val="heading 1"/><w:pPr>'
    '<w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>'
    '<w:style w:styleId="H2"><w:name w:val="heading 2"/><w:pPr>'
    '<w:numPr><w:ilvl w:val="1"/><w:numId w:val="1"/></w:numPr></w:pPr></w:style>'
    '<w:style w:styleId="Own"><w:name w:val="Own heading"/><w:basedOn w:val="H2"/></w:style>'
    '<w:style w:styleId="Title"><w:name w:val="Title"/></w:style>'
)
NUMBERING = (
    f'<w:abstractNum w:abstractNumId="7">{level(0, "%1.")}{level(1, "%1.%2")}{level(2, "%1.%2.%3")}'
    "</w:abstractNum>"
    f'<w:abstractNum w:abstractNumId="8">{level(0, "", "bullet")}{level(1, "(%2)", "lowerLetter")}'
    "</w:abstractNum>"
    f'<w:abstractNum w:abstractNumId="9">{level(0, "Article %1", "upperRoman", 3)}</w:abstractNum>'
    '<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num>'
    '<w:num w:numId="2"><w:abstractNumId w:val="8"/></w:num>'
    '<w:num w:numId="3"><w:abstractNumId w:val="9"/></w:num>'
    '<w:num w:numId="4"><w:abstractNumId w:val="7"/><w:lvlOverride w:ilvl="0">'
    '<w:startOverride w:val="1"/></w:lvlOverride></w:num>'
)


def test_headings_have_the_numbers_that_word_prints_and_paragraphs_below_go_on_counting():
    document = read(
        p("Group policy", style="Title"),
        p("Owners", style="H1"),
        p("Scope", style="H2"),
        p("It applies to all."),
        p("Limits", style="Own"),
        p("Any entity must submit proof of its funds.", properties=in_list(1, 2)),
        p("Records", style="H1"),
        p("They are kept.", properties=in_list(1, 1)),
        styles=STYLES,
        numbering=NUMBERING,
    )
    assert outline(document) == [
        (1, "", "Group policy"),
        (1, "1", "1. Owners"),
        (2, "1.1", "1.1 Scope"),
        (2, "1.2", "1.2 Limits"),
        (3, "1.2.1", "1.2.1"),
        (1, "2", "2. Records"),
        (2, "2.1", "2.1"),
    ]
    assert "\n\n1.2.1 Any entity must submit proof of its funds.\n\n2. Records" in document.text


def test_lists_have_bullets_and_numbers_and_a_list_can_begin_anew():
    document = read(
        p("One", properties=in_list(2)),
        p("Inner", properties=in_list(2, 1)),
        p("Inner", properties=in_list(2, 1)),
        p("Two", properties=in_list(2)),
        p("Inner", properties=in_list(2, 1)),
        p("First", properties=in_list(1)),
        p("Second", properties=in_list(1)),
        p("First again", properties=in_list(4)),
        p("Second again", properties=in_list(4)),
        numbering=NUMBERING,
    )
    assert document.text.splitlines() == [
        *("• One", "(a) Inner", "(b) Inner", "• Two", "(a) Inner"),
        *("1. First", "2. Second", "1. First again", "2. Second again"),
    ]
    assert document.headings == ()


def test_a_number_may_have_its_word_and_count_in_roman_figures():
    document = read(
        p("Scope", properties=in_list(3)), p("Aim", properties=in_list(3)), numbering=NUMBERING
    )
    assert outline(document) == [(1, "III", "Article III Scope"), (1, "IV", "Article IV Aim")]


def a_list(levels, *, list_id=1, kind=0, changes="", of_kind=""):
    return (
        f'<w:abstractNum w:abstractNumId="{kind}">{of_kind}{levels}</w:abstractNum>'
        f'<w:num w:numId="{list_id}"><w:abstractNumId w:val="{kind}"/>{changes}</w:num>'
    )


def with_property(a_level, element):
    return a_level.replace("</w:lvl>", f"{element}</w:lvl>")


ARTICLES = level(0, "Article %1.", "upperRoman")


def test_a_legal_number_is_in_arabic_figures_below_a_roman_one():
    section = with_property(level(1, "Section %1.%2", "decimalZero"), "<w:isLgl/>")
    point = with_property(level(2, "%1.%2.%3", "lowerLetter"), "<w:isLgl/>")
    document = read(
        *(p("Duties", properties=in_list(1)), p("Powers", properties=in_list(1))),
        *(p("Limits", properties=in_list(1, 1)), p("Sales", properties=in_list(1, 2))),
        numbering=a_list(ARTICLES + section + point),
    )
    numbers = [title.rpartition(" ")[0] for _, _, title in outline(document)]
    assert numbers == ["Article I.", "Article II.", "Section 2.01", "2.01.1"]


def test_a_level_may_be_another_in_one_of_the_lists_of_a_kind():
    change = f'<w:lvlOverride w:ilvl="0">{level(0, "Rule %1")}</w:lvlOverride>'
    numbering = a_list(level(0, "%1.") + level(1, "%1.%2"), changes=change)
    document = read(
        p("Care", properties=in_list(1)), p("Skill", properties=in_list(1, 1)), numbering=numbering
    )
    assert document.text.splitlines() == ["Rule 1 Care", "", "1.1 Skill"]


def test_a_kind_of_list_may_be_the_name_of_another():
    numbering = a_list("", of_kind='<w:numStyleLink w:val="Clauses"/>') + a_list(
        level(0, "Clause %1"), list_id=2, kind=5, of_kind='<w:styleLink w:val="Clauses"/>'
    )
    document = read(p("Care", properties=in_list(1)), numbering=numbering)
    assert document.text == "Clause 1 Care"


@pytest.mark.parametrize(
    ("restart", "last"), [("", "Section 1"), ("0", "Section 2"), ("1", "Section 1")]
)
def test_a_level_may_count_on_below_the_next_of_those_above(restart, last):
    section = level(1, "Section %2")
    if restart:
        section = with_property(section, f'<w:lvlRestart w:val="{restart}"/>')
    document = read(
        *(p("A", properties=in_list(1)), p("Duties", properties=in_list(1, 1))),
        *(p("B", properties=in_list(1)), p("Powers", properties=in_list(1, 1))),
        numbering=a_list(ARTICLES + section),
    )
    assert document.text.splitlines()[-1] == f"{last} Powers"


def test_a_level_without_a_number_may_have_a_word():
    numbering = a_list(level(0, "Recital", "none"))
    assert read(p("Aim", properties=in_list(1)), numbering=numbering).text == "Recital Aim"


HIDDEN_END = "<w:rPr><w:vanish/></w:rPr>"
DELETED_END = "<w:rPr><w:del/></w:rPr>"
DELETED = f"<w:del>{run('x').replace('w:t', 'w:delText')}</w:del>"


def test_a_paragraph_without_words_is_counted_unless_it_is_hidden_or_gone():
    one = in_list(1)
    document = read(
        *(p("First", properties=one), p("", properties=one)),
        p(run("Secret", "<w:vanish/>"), properties=one + HIDDEN_END),
        p(DELETED, properties=one + DELETED_END),
        table(row("a", "b")),
        p("Third", properties=one),
        p(DELETED, properties=one + DELETED_END),
        numbering=NUMBERING,
    )
    assert document.text == "1. First\n\na | b\n\n3. Third"


def test_a_cell_may_hold_nothing_but_its_number():
    number, bullet = cell(p(properties=in_list(1))), cell(p(properties=in_list(2)))
    merged = [
        cell(p(properties=in_list(1)), properties=f"<w:vMerge{value}/>")
        for value in (' w:val="restart"', "")
    ]
    document = read(
        table(row(number, "a", bullet), row(merged[0], "b"), row(merged[1], "c"), row(number, "d")),
        numbering=NUMBERING,
    )
    assert document.text.splitlines() == ["1. | a", "2. | b", "2. | c", "3. | d"]


def test_an_outline_level_makes_a_heading_of_any_style():
    document = read(p("Owners", properties='<w:outlineLvl w:val="2"/>'), p("Text."))
    assert outline(document) == [(3, "", "Owners")]


def test_tracked_changes_are_read_as_accepted():
    document = read(
        p(
            "The limit is ",
            f"<w:del>{run('25').replace('w:t', 'w:delText')}</w:del>",
            f"<w:ins>{run('10')}</w:ins>",
            "%.",
            f"<w:moveFrom>{run(' Moved away.')}</w:moveFrom>",
        ),
        f"<w:moveTo>{p('Moved here.')}</w:moveTo>",
        p("One sen", properties="<w:rPr><w:del/></w:rPr>"),
        p("tence."),
        table(row("kept", "row"), row("gone", "row", properties="<w:del/>")),
    )
    assert document.text == "The limit is 10%.\n\nMoved here.\n\nOne sentence.\n\nkept | row"


@pytest.mark.parametrize("gone", ["<w:del/>", "<w:moveFrom/>"])
def test_a_paragraph_whose_end_is_gone_goes_on_in_the_next_of_its_part_or_ends_with_it(gone):
    end = f"<w:rPr>{gone}</w:rPr>"
    box = f"<w:r><w:txbxContent>{p('In a box.', properties=end)}</w:txbxContent></w:r>"
    document = read(
        p("Fees are these:", properties=end),
        table(row(cell(p("Cu", properties=end), "stody", p("10", properties=end)), "USD")),
        p("With a ", box, "note", '<w:r><w:footnoteReference w:id="2"/></w:r>', properties=end),
        p(" on it."),
        p("The last clause.", properties=end),
        footnotes=f'<w:footnote w:id="2">{p("Un", properties=end)}{p("audited.")}</w:footnote>',
    )
    assert document.text.split("\n\n") == [
        *("Fees are these:", "Custody 10 | USD", "With a note[1] on it.", "In a box."),
        *("[1] Unaudited.", "The last clause."),
    ]


def test_hidden_text_and_the_code_of_fields_are_left_out_and_their_results_stay():
    def field(mark):
        return f'<w:r><w:fldChar w:fldCharType="{mark}"/></w:r>'

    document = read(
        p("Seen", run(" secret", "<w:vanish/>"), run(" and seen", '<w:vanish w:val="0"/>')),
        p(
            *("See ", field("begin"), "<w:r><w:instrText>REF x</w:instrText></w:r>", "{nested}"),
            *(field("separate"), "Section 4.2", field("end"), "."),
        ),
    )
    assert document.text == "Seen and seen\n\nSee Section 4.2."


@pytest.mark.parametrize("struck", ["<w:strike/>", "<w:dstrike/>"])
def test_a_figure_that_is_struck_out_is_no_digit_of_the_one_that_replaces_it(struck):
    assert read(p("The fee is ", run("5", struck), "6%.")).text == "The fee is 6%."


def test_a_note_stands_below_the_paragraph_that_refers_to_it_apart_from_its_figures():
    reference = '<w:r><w:footnoteReference w:id="2"/></w:r>'
    ending = '<w:r><w:endnoteReference w:id="5"/></w:r>'
    document = read(
        p("It was 5,000", reference, " in 2024", ending, "."),
        p("Then 6,000", run("3", '<w:vertAlign w:val="superscript"/>'), "."),
        footnotes='<w:footnote w:id="-1" w:type="separator"><w:p/></w:footnote>'
        f'<w:footnote w:id="2">{p("Unaudited.")}</w:footnote>',
        endnotes=f'<w:endnote w:id="5">{p("Restated.")}</w:endnote>',
    )
    assert document.text == (
        "It was 5,000[1] in 2024[i].\n\n[1] Unaudited.\n\n[i] Restated.\n\nThen 6,000³."
    )


def test_each_cell_below_a_header_has_its_columns_header_before_it():
    document = read(
        p("Figures:"),
        table(
            row("Item", cell("Revenue", properties='<w:gridSpan w:val="2"/>'), properties=HEADER),
            row("", "2024", "2023", properties=HEADER),
            row("North", "2,450", "2,076"),
            row(cell("South", properties='<w:vMerge w:val="restart"/>'), "1,100", ""),
            row(cell("", properties="<w:vMerge/>"), "50", "40"),
            row("Of which", "", ""),
            row("", "7", ""),
        ),
        p("After."),
    )
    assert [document.text[start:end] for start, end in document.tables] == [
        "Item | Revenue\n | 2024 | 2023\n".lstrip()
        + "Item: North | Revenue 2024: 2,450 | Revenue 2023: 2,076\n"
        "Item: South | Revenue 2024: 1,100\n"
        "Item: South | Revenue 2024: 50 | Revenue 2023: 40\n"
        "Of which\nRevenue 2024: 7"
    ]
    assert document.text.index("After.") in document.paragraphs


def test_a_first_row_is_a_header_only_when_it_is_marked_or_alone_in_bold():
    bold = [cell(p(run(words, "<w:b/>"))) for words in ("Name", "Born")]
    assert (
        read(table(row(*bold), row("Jane", "1980"))).text == "Name | Born\nName: Jane | Born: 1980"
    )
    assert read(table(row("Name", "Jane"), row("Born", "1980"))).text == "Name | Jane\nBorn | 1980"


TABLE_STYLES = (
    '<w:style w:styleId="Grid"><w:name w:val="Light Grid"/><w:tblStylePr w:type="firstCol">'
    '<w:rPr><w:b/></w:rPr></w:tblStylePr><w:tblStylePr w:type="firstRow"><w:rPr><w:b/></w:rPr>'
    "</w:tblStylePr></w:style>"
    '<w:style w:styleId="Own"><w:name w:val="Own grid"/><w:basedOn w:val="Grid"/></w:style>'
    '<w:style w:styleId="Plain"><w:name w:val="Plain"/><w:basedOn w:val="Grid"/>'
    '<w:tblStylePr w:type="firstRow"><w:rPr><w:b w:val="0"/></w:rPr></w:tblStylePr></w:style>'
    '<w:style w:styleId="Head"><w:name w:val="Table heading"/><w:rPr><w:b/></w:rPr></w:style>'
    '<w:style w:styleId="Inner"><w:name w:val="Inner"/><w:basedOn w:val="Head"/></w:style>'
    '<w:style w:styleId="Strong"><w:name w:val="Strong"/><w:rPr><w:b/></w:rPr></w:style>'
)
FIGURES = (row("Sales", "100"), row("Costs", "50"))


def of_style(name, look):
    return f'<w:tblPr><w:tblStyle w:val="{name}"/><w:tblLook {look}/></w:tblPr>'


@pytest.mark.parametrize(
    "header",
    [
        of_style("Grid", 'w:firstRow="1"') + row("USD m", "2023"),
        of_style("Grid", 'w:val="04A0"') + row("USD m", "2023"),
        of_style("Own", 'w:val="0020"') + row("USD m", "2023"),
        row(cell(p("USD m", style="Head")), cell(p("2023", style="Inner"))),
        row(*(cell(p(run(words, '<w:rStyle w:val="Strong"/>'))) for words in ("USD m", "2023"))),
    ],
)
def test_a_first_row_that_styles_make_bold_is_a_header_as_one_that_says_so_itself(header):
    document = read(table(header, *FIGURES), styles=TABLE_STYLES)
    assert document.text == "USD m | 2023\nUSD m: Sales | 2023: 100\nUSD m: Costs | 2023: 50"


@pytest.mark.parametrize(
    "header",
    [
        of_style("Grid", 'w:firstRow="0" w:val="04A0"') + row("USD m", "2023"),
        of_style("Grid", 'w:val="0480"') + row("USD m", "2023"),
        of_style("Plain", 'w:firstRow="1"') + row("USD m", "2023"),
        of_style("Unknown", 'w:firstRow="1"') + row("USD m", "2023"),
        of_style("Grid", 'w:firstRow="1"') + row("Notice", "10 days"),
        of_style("Grid", 'w:firstRow="1"') + row("USD m", cell(p(run("2023", '<w:b w:val="0"/>')))),
        row("USD m", cell(p("2023", style="Head"))),
        row(
            cell(p(run("USD m", '<w:rStyle w:val="Strong"/>'), style="Head")),
            cell(p("2023", style="Head")),
        ),
    ],
)
def test_a_first_row_that_styles_leave_plain_or_that_holds_values_is_no_header(header):
    assert ":" not in read(table(header, *FIGURES), styles=TABLE_STYLES).text


def test_a_title_across_a_table_goes_before_its_header():
    title = cell("Table 1", properties='<w:gridSpan w:val="2"/>')
    assert read(
        table(row(title, properties=HEADER), row("USD m", "2023", properties=HEADER), *FIGURES)
    ).text == ("Table 1\n\nUSD m | 2023\nUSD m: Sales | 2023: 100\nUSD m: Costs | 2023: 50")


def test_a_table_in_a_cell_is_read_in_its_place_and_a_frame_is_no_table():
    inner = table(row("a", "b"))
    document = read(table(row(cell("Before", inner, "after"), "x")), table(row(cell("One", "Two"))))
    assert document.text == "Before a b after | x\n\nOne\n\nTwo"
    assert len(document.tables) == 1


def test_text_boxes_are_read_once_and_content_controls_as_if_they_were_not_there():
    box = f"<w:txbxContent>{p('In a box.')}</w:txbxContent>"
    document = read(
        p(
            "Beside.",
            f"<w:r><mc:AlternateContent><mc:Choice>{box}</mc:Choice>"
            f"<mc:Fallback>{box}</mc:Fallback></mc:AlternateContent></w:r>",
        ),
        f"<w:sdt><w:sdtContent>{p('Controlled.')}</w:sdtContent></w:sdt>",
        p('<w:r><w:sym w:font="Wingdings" w:char="F0FE"/></w:r>', " Yes"),
    )
    assert document.text == "Beside.\n\nIn a box.\n\nControlled.\n\n☑ Yes"


def test_headers_and_footers_are_furniture_each_once():
    document = read(p("Text."), header1=p("POL-014"), header2=p("POL-014"), footer1=p("Page 1"))
    assert document.text == "POL-014\n\nText.\n\nPage 1"
    assert [document.text[start:end] for start, end in document.furniture] == ["POL-014", "Page 1"]


def test_files_of_the_strict_kind_are_read_too():
    archive = zipfile.ZipFile(io.BytesIO(a_docx(p("Words"))))
    transitional = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    strict = {
        name: archive.read(name)
        .decode()
        .replace(transitional, "http://purl.oclc.org/ooxml/wordprocessingml/main")
        for name in archive.namelist()
    }
    assert parse(zipped(strict), "policy.docx").text == "Words"


def test_a_file_whose_parts_unpack_to_more_than_is_allowed_is_too_large(monkeypatch):
    data = a_docx(p("Words"))
    monkeypatch.setattr(office, "_MAX_BYTES", 1000)
    with pytest.raises(InvalidInput) as caught:
        parse(data, "policy.docx")
    assert caught.value.reason == "TOO_LARGE"
    monkeypatch.setattr(office, "_MAX_BYTES", 20_000)
    assert parse(data, "policy.docx").text == "Words"


@pytest.mark.parametrize(
    "body",
    [
        "<w:sdt>" * 5000 + "</w:sdt>" * 5000,
        f"<w:p>{'<w:ins>' * 5000}{'</w:ins>' * 5000}</w:p>",
        p("x", properties=in_list("1", "one")),
    ],
)
def test_what_no_writer_of_documents_makes_is_damaged(body):
    with pytest.raises(InvalidInput) as caught:
        parse(a_docx(body, numbering=NUMBERING), "policy.docx")
    assert caught.value.reason == "DAMAGED_FILE"
