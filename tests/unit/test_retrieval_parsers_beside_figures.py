"""Tables as filings print them: what stands beside a figure in a cell of its own belongs to it."""

import pytest

from services.retrieval.parsers import docx, html
from tests.office_files import a_docx

# Above each group of three or more columns a spacer, as wide as a percent of the page.
GAP = "<td style='width:1.0%'>&nbsp;</td>"


def table(*rows):
    body = f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"
    return html.parse(f"<!DOCTYPE html><html><body>{body}</body></html>").text.splitlines()


def cells(*words):
    return "".join(f"<td>{word}</td>" for word in words)


def heads(*words, span):
    return "".join(
        f"<td colspan={span} style='text-align:center;font-weight:700'>{word}</td>{GAP}"
        for word in words
    )


@pytest.mark.parametrize("blank", ["", "&nbsp;", "&#8203;", "<p>&nbsp;</p>"])
def test_a_spacer_is_none_of_the_header_whatever_keeps_it_open(blank):
    head = f"<td>{blank}</td><td colspan=2><b>2009</b></td><td>{blank}</td>"
    assert table(head, cells("Loss", "$", "(34", ")"), cells("Gain", blank, "5", blank)) == [
        *("| 2009", "Loss | 2009: $(34)", "Gain | 2009: 5")
    ]


def test_a_filing_of_three_columns_for_each_period_says_each_figure_whole():
    """As the programs write it with which most filings are made now."""
    assert table(
        "<td style='width:1%'></td>" * 11,
        f"<td colspan=3>&nbsp;</td>{GAP}<td colspan=7><b>Years ended</b></td>",
        f"<td colspan=3>&nbsp;</td>{GAP}{heads('June 30,<br>2023', 'June 30,<br>2022', span=3)}",
        f"<td colspan=3>Net sales</td>{GAP}{cells('$', '1,250', '')}{GAP}{cells('$', '980', '')}",
        f"<td colspan=3>Cost</td>{GAP}<td colspan=2>1,284</td><td></td>{GAP}"
        f"<td colspan=2>&#8212;</td><td></td>",
        f"<td colspan=3>Net loss</td>{GAP}{cells('$', '(34', ')')}{GAP}{cells('$', '&#8212;', '')}",
        f"<td colspan=3>Tax</td>{GAP}<td colspan=2>(7</td><td>)</td>{GAP}"
        f"<td colspan=2>12</td><td></td>",
        f"<td colspan=3>Margin</td>{GAP}<td colspan=2>(2.7</td><td>)%</td>{GAP}"
        f"<td colspan=2>14.1</td><td>%</td>",
    )[-5:] == [
        "Net sales | Years ended June 30, 2023: $1,250 | Years ended June 30, 2022: $980",
        "Cost | Years ended June 30, 2023: 1,284 | Years ended June 30, 2022: —",
        "Net loss | Years ended June 30, 2023: $(34) | Years ended June 30, 2022: $—",
        "Tax | Years ended June 30, 2023: (7) | Years ended June 30, 2022: 12",
        "Margin | Years ended June 30, 2023: (2.7)% | Years ended June 30, 2022: 14.1%",
    ]


def test_a_filing_whose_brackets_close_outside_of_the_columns_of_a_period_says_so_too():
    """As they were made before: the header spans the sign and the figure alone."""
    head = f"<td>&nbsp;</td>{GAP}{heads('2009', '2008', span=2)}"
    assert table(
        head,
        f"<td>Revenue</td>{GAP}{cells('$', '5,100', '&nbsp;', '$', '4,900', '&nbsp;')}",
        f"<td>Net loss</td>{GAP}{cells('&nbsp;', '(12', ')', '&nbsp;', '(3', ')')}",
        f"<td>Growth</td>{GAP}{cells('&nbsp;', '4.1', '%', '&nbsp;', '&mdash;', '%')}",
        f"<td>Grants</td>{GAP}{cells('&nbsp;', '80', '(1)', '&nbsp;', '75', '<sup>(2)</sup>')}",
    )[1:] == [
        "Revenue | 2009: $5,100 | 2008: $4,900",
        "Net loss | 2009: (12) | 2008: (3)",
        "Growth | 2009: 4.1% | 2008: —%",
        "Grants | 2009: 80 (1) | 2008: 75 (²)",
    ]


def test_figures_are_whole_without_a_header_too():
    assert table(
        cells("Cash", "$", "34", "", "US$", "(5", ")"),
        cells("Share", "", "2.5", "%", "", "7", "%"),
        cells("Debt", "(", "1,000", ")", "", "8", ""),
    ) == [
        "Cash |  | $34 |  |  | US$(5)",
        "Share |  | 2.5% |  |  | 7%",
        "Debt |  | (1,000) |  |  | 8",
    ]


@pytest.mark.parametrize(
    ("head", "row", "said"),
    [
        # A sign, a unit or a mark under a header of its own.
        (("Fund", "Currency", "Amount"), ("A", "$", "5"), "Fund: A | Currency: $ | Amount: 5"),
        (("Item", "Size", "Unit"), ("Growth", "5", "%"), "Item: Growth | Size: 5 | Unit: %"),
        (("Item", "Size", "Note"), ("Grants", "5", "(1)"), "Item: Grants | Size: 5 | Note: (1)"),
        (("Item", "2023", "%"), ("Grants", "5", "%"), "Item: Grants | 2023: 5 | %: %"),
        # Next to no figure.
        (("Unit", "%", ""), ("Days", "10 days", "%"), "Unit: Days | %: 10 days | %"),
        (("Item", "Size", ""), ("Grants", "see", ")"), "Item: Grants | Size: see | )"),
    ],
)
def test_what_has_a_column_of_its_own_is_no_part_of_another_columns_figure(head, row, said):
    marked = "".join(f"<th>{word}</th>" for word in head)
    assert table(marked, cells(*row), cells("B", "", ""))[1] == said


def test_a_column_that_holds_figures_too_is_not_that_of_a_mark():
    assert table(
        "<th>Item</th><th colspan=2>Change</th>", cells("A", "5", "(1)"), cells("B", "7", "(250)")
    )[1:] == ["Item: A | Change: 5 | Change: (1)", "Item: B | Change: 7 | Change: (250)"]
    assert table(cells("Item", "2023", "%"), cells("A", "5", "3"), cells("B", "6", "%"))[2] == (
        "B | 6 | %"
    )


def test_without_a_header_a_year_is_no_percentage_and_a_figure_in_brackets_no_mark():
    assert table(cells("Item", "2023", "%"), cells("A", "5", "")) == ["Item | 2023 | %", "A | 5"]
    assert table(cells("A", "5", "(1)")) == ["A | 5 | (1)"]


def test_a_word_table_is_read_in_the_same_way():
    def row(*words):
        inside = "".join(f"<w:tc><w:p><w:r><w:t>{w}</w:t></w:r></w:p></w:tc>" for w in words)
        return f"<w:tr>{inside}</w:tr>"

    document = docx.parse(a_docx(f"<w:tbl>{row('Loss', '$', '(34', ')')}</w:tbl>"))
    assert document.text == "Loss |  | $(34)"
