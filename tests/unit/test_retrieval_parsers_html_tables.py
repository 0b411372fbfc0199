"""HTML tables: which rows are their headers, and which cell is in which column."""

import pytest

from services.retrieval.parsers import html


def table(*rows):
    return lines(f"<table>{''.join(f'<tr>{row}' for row in rows)}</table>")


def lines(body):
    return html.parse(f"<!DOCTYPE html><html><body>{body}</body></html>").text.splitlines()


def heads(*words):
    return "".join(f"<th>{word}" for word in words)


def cells(*words):
    return "".join(f"<td>{word}" for word in words)


def bold(*words):
    return cells(*(f"<b>{word}</b>" for word in words))


ASSETS = "<th colspan=3>Assets"
DEBTS = "<th colspan=3>Debts"


@pytest.mark.parametrize(
    ("assets", "debts"),
    [
        (ASSETS, DEBTS),
        ("<th colspan=3 scope=colgroup>Assets", "<th colspan=3 scope=colgroup>Debts"),
        ("<th scope=rowgroup>Assets<th><th>", "<th scope=rowgroup>Debts<th><th>"),
        ("<th>Assets<td><td>", "<th>Debts<td><td>"),
        ("<td colspan=3>Assets", "<td colspan=3>Debts"),
    ],
)
@pytest.mark.parametrize("end_of_head", ["", "</thead><tbody>"])
def test_a_title_between_rows_is_no_header_of_them(assets, debts, end_of_head):
    head = "<thead>" if end_of_head else ""
    assert lines(
        f"<table>{head}<tr>{heads('Item', '2023', '2022')}{end_of_head}<tr>{assets}"
        f"<tr>{cells('Cash', '5', '4')}<tr>{debts}<tr>{cells('Loans', '3', '2')}</table>"
    ) == [
        *("Item | 2023 | 2022", "Assets", "Item: Cash | 2023: 5 | 2022: 4"),
        *("Debts", "Item: Loans | 2023: 3 | 2022: 2"),
    ]


def test_a_title_above_the_header_says_nothing_of_the_rows_below_the_next_title():
    assert table(
        ASSETS, heads("Item", "2023", "2022"), cells("Cash", "5", "4"), DEBTS, cells("Loans", 3, 2)
    ) == [
        *("Assets", "", "Item | 2023 | 2022", "Item: Cash | 2023: 5 | 2022: 4"),
        *("Debts", "Item: Loans | 2023: 3 | 2022: 2"),
    ]


def test_a_table_that_has_titles_alone_has_no_header():
    assert table(ASSETS, cells("Cash", "5"), DEBTS, cells("Loans", "3")) == [
        *("Assets", "Cash | 5", "Debts", "Loans | 3")
    ]


def test_headers_further_down_are_those_of_the_rows_below_them():
    assert table(
        heads("Item", "2023"), cells("Cash", "5"), heads("Item", "2021"), cells("Cash", "4")
    ) == ["Item | 2023", "Item: Cash | 2023: 5", "", "Item | 2021", "Item: Cash | 2021: 4"]


def test_a_sum_whose_cells_are_all_marked_is_in_the_columns_of_the_others():
    assert table(
        heads("Item", "2023"), cells("Cash", "5"), heads("Sum", "5"), cells("Loans", "3")
    ) == ["Item | 2023", "Item: Cash | 2023: 5", "Item: Sum | 2023: 5", "Item: Loans | 2023: 3"]


def test_a_row_that_is_named_and_has_no_figures_is_no_header():
    without = "<th rowspan=2>North<th>Q1<td>"
    assert table(heads("Region", "Quarter", "2023"), without, "<th>Q2<td>5") == [
        "Region | Quarter | 2023",
        "Region: North | Quarter: Q1",
        "Region: North | Quarter: Q2 | 2023: 5",
    ]


@pytest.mark.parametrize("span", ["2", "0"])
def test_a_cell_that_reaches_down_beside_a_shorter_row_ends_where_its_span_ends(span):
    end = "<tbody>" if span == "0" else ""
    assert lines(
        f"<table><thead><tr>{heads('A', 'B', 'C', 'D')}<tbody>"
        f"<tr>{cells('a1', 'b1', 'c1')}<td rowspan={span}>d<tr><td>a2</tr>"
        f"{end}<tr>{cells('a3', 'b3', 'c3', 'd3')}</table>"
    )[1:] == [
        "A: a1 | B: b1 | C: c1 | D: d",
        "A: a2 | D: d",
        "A: a3 | B: b3 | C: c3 | D: d3",
    ]


def test_no_cell_reaches_from_a_tables_body_into_its_foot():
    assert lines(
        f"<table><thead><tr>{heads('Item', '2023')}<tbody><tr><td rowspan=9>Cash<td>5"
        f"<tr><td>6<tfoot><tr>{cells('Sum', '11')}</table>"
    )[1:] == ["Item: Cash | 2023: 5", "Item: Cash | 2023: 6", "Item: Sum | 2023: 11"]


HEADER = ("Item", "2023", "30 June 2022")
BELOW = ["Item: Cash | 2023: 5 | 30 June 2022: 4", "Item: Sum | 2023: 5 | 30 June 2022: 4"]


@pytest.mark.parametrize(
    "header",
    [
        bold(*HEADER),
        cells(*(f"<p><strong>{word}</strong></p>" for word in HEADER)),
        "".join(f"<td style='color:red;font-weight: 700'>{word}" for word in HEADER),
        cells(*(f"<span style='FONT:bold 10pt Arial'>{word}</span>" for word in HEADER)),
        f"<th>Item{bold(*HEADER[1:])}",
    ],
)
def test_a_first_row_that_is_bold_above_others_is_the_header(header):
    rows = (cells("Cash", "5", "4"), "<td colspan=3><b>In all</b>", bold("Sum", "5", "4"))
    assert table(header, *rows) == ["Item | 2023 | 30 June 2022", BELOW[0], "In all", BELOW[1]]


def test_a_bold_header_may_have_a_title_above_it_and_two_rows():
    assert table(
        "<td colspan=3><b>Balance sheet</b>",
        "<td><td colspan=2 style='font-weight:700'>Year ended",
        bold("", "2023", "2022"),
        cells("", "", ""),
        "<td colspan=3><b>Assets</b>",
        cells("Cash", "5", "4"),
    ) == [
        *("Balance sheet", "", "| Year ended", " | 2023 | 2022", "Assets"),
        "Cash | Year ended 2023: 5 | Year ended 2022: 4",
    ]


@pytest.mark.parametrize(
    ("top", "name"),
    [
        (
            ["<td colspan=3><i>(In millions,<br>but shares)</i>", bold("Year", 2023, 2022)],
            "Year: ",
        ),
        (["<td>($000)<td><td>", bold("", "2023", "2022")], ""),
        ([f"<td>(In&nbsp;millions of dollars){bold(2023, 2022)}"], "(In millions of dollars): "),
    ],
)
def test_what_figures_are_in_need_not_be_bold_above_a_header_or_in_it(top, name):
    assert table(*top, cells("Cash", "5", "4"))[-1] == f"{name}Cash | 2023: 5 | 2022: 4"


@pytest.mark.parametrize(
    "rows",
    [
        # A sum above its parts.
        [bold("Sum", "9", "8"), cells("Cash", "5", "4")],
        [bold("Sum", "USD 9m", "&mdash;"), cells("Cash", "USD 5m", "USD 4m")],
        # A clause above its paragraphs.
        [bold("1", "Scope", "All"), cells("1.1", "Funds", "Yes")],
        # Names and values.
        [bold("Notice", "10 days"), cells("Fee", "5%")],
        ["<td><b>Name</b><td>Jane", cells("Born", "1980")],
        # Every row, or more than one.
        [bold("Item", "2023"), bold("Cash", "5")],
        [bold("Day", "Open"), cells("Monday", "no"), bold("Month", "Closed"), cells("May", "no")],
        # Not all of it.
        [f"<td>(a){bold('Scope', 'All')}", cells("(b)", "Funds", "Yes")],
        ["<td>(to be named)<td><b>Jane</b>", cells("Born", "1980")],
        [cells("<b>Item</b> no", "<b>2023</b>"), cells("Cash", "5")],
        ["<td style='font-family:boldface'>Item<td style='font-size:700%'>2023", cells("A", "5")],
    ],
)
def test_a_first_row_that_may_be_something_else_is_no_header(rows):
    assert not any(":" in line for line in table(*rows))
