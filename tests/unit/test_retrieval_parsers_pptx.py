"""PPTX: slides are pages, titles headings, rows say their columns."""

import pytest

from services.chassis.errors import InvalidInput
from services.retrieval.parsers import parse, pptx
from tests.office_files import a_pptx


def shape(*paragraphs, kind="", hidden=False):
    place = f'<p:nvPr><p:ph type="{kind}"/></p:nvPr>' if kind else "<p:nvPr/>"
    runs = "".join(
        p if p.startswith("<a:p>") else f"<a:p><a:r><a:t>{p}</a:t></a:r></a:p>" for p in paragraphs
    )
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="1" name="s" hidden="{int(hidden)}"/>{place}</p:nvSpPr>'
        f"<p:txBody>{runs}</p:txBody></p:sp>"
    )


def table(rows, *, header=True):
    def cell(words):
        merged = 'hMerge="1"' if words is None else ""
        inside = f"<a:p><a:r><a:t>{words or ''}</a:t></a:r></a:p>"
        return f"<a:tc {merged}><a:txBody>{inside}</a:txBody></a:tc>"

    inside = "".join(f"<a:tr>{''.join(map(cell, row))}</a:tr>" for row in rows)
    return (
        "<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id='2' name='t'/></p:nvGraphicFramePr>"
        f'<a:graphic><a:graphicData><a:tbl><a:tblPr firstRow="{int(header)}"/>{inside}</a:tbl>'
        "</a:graphicData></a:graphic></p:graphicFrame>"
    )


def pages(document):
    return [document.text[page.start : page.end].strip() for page in document.pages]


def read(*slides, **options):
    return parse(a_pptx(slides, **options), "a.pptx")


def test_each_slide_is_a_page_whose_title_is_a_heading_wherever_it_is_drawn():
    document = read(
        shape("First point", "Second point") + shape("4.2 Limits", kind="title"),
        shape("Only words"),
    )
    assert pages(document) == ["4.2 Limits\n\nFirst point\nSecond point", "Only words"]
    assert [(h.section_id, h.title) for h in document.headings] == [("4.2", "4.2 Limits")]
    assert [line.page_number for line in document.lines] == [1, 1, 1, 2]
    assert document.content_type == pptx.CONTENT_TYPE


def test_a_hidden_slide_keeps_its_number_and_hidden_shapes_are_left_out():
    document = read(
        shape("One"), shape("Two"), shape("Three") + shape("Unseen", hidden=True), hidden={2}
    )
    assert pages(document) == ["One", "", "Three"]
    assert document.pages_without_text == (2,)


def test_groups_are_read_and_alternatives_once():
    group = f"<p:grpSp><p:nvGrpSpPr/>{shape('In a group')}</p:grpSp>"
    twice = (
        "<mc:AlternateContent><mc:Choice>"
        + shape("New")
        + "</mc:Choice><mc:Fallback>"
        + shape("Old")
        + "</mc:Fallback></mc:AlternateContent>"
    )
    assert pages(read(group + twice)) == ["In a group\n\nNew"]


def test_rows_of_a_table_say_their_columns():
    rows = [["Item", "2023", "2024"], ["Revenue", "5", "6"]]
    assert pages(read(table(rows))) == ["Item | 2023 | 2024\nItem: Revenue | 2023: 5 | 2024: 6"]
    spanned = [["Item", "Both", None], ["Revenue", "5", "6"]]
    assert pages(read(table(spanned)))[0].endswith("Item: Revenue | Both: 5 | Both: 6")
    assert pages(read(table(rows, header=False)))[0].endswith("Revenue | 5 | 6")


def test_numbers_and_dates_of_slides_are_furniture_and_notes_are_read():
    document = read(
        shape("Words") + shape("7", kind="sldNum"),
        notes={1: shape("Say this", kind="body") + shape("7", kind="sldNum")},
    )
    assert pages(document) == ["Words\n\n7\n\nSay this"]
    assert [document.text[start:end] for start, end in document.furniture] == ["7"]


def test_raised_marks_are_no_digits_and_breaks_are_kept():
    words = (
        "<a:p><a:r><a:t>1,234</a:t></a:r><a:r><a:rPr baseline='30000'/><a:t>2</a:t></a:r>"
        "<a:br/><a:r><a:t>below</a:t></a:r></a:p>"
    )
    assert pages(read(shape(words))) == ["1,234\u00b2\nbelow"]


@pytest.mark.parametrize("kind", ["sngStrike", "dblStrike"])
def test_a_figure_that_is_struck_out_is_no_digit_of_the_one_that_replaces_it(kind):
    words = (
        f"<a:p><a:r><a:t>The fee is </a:t></a:r><a:r><a:rPr strike='{kind}'/><a:t>5</a:t></a:r>"
        "<a:r><a:rPr strike='noStrike'/><a:t>6%</a:t></a:r></a:p>"
    )
    assert pages(read(shape(words))) == ["The fee is 6%"]


def test_more_slides_than_pages_are_allowed_are_too_large():
    with pytest.raises(InvalidInput) as caught:
        parse(a_pptx([shape("a")] * 3), "a.pptx", max_pages=2)
    assert caught.value.reason == "TOO_LARGE"


def test_a_slide_that_is_not_there_is_damage():
    data = a_pptx([shape("a")])
    broken = data.replace(b"ppt/slides/slide1.xml", b"ppt/slides/slide9.xml")
    with pytest.raises(InvalidInput) as caught:
        parse(broken, "a.pptx")
    assert caught.value.reason == "DAMAGED_FILE"
