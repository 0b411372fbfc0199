"""XLSX: sheets, tables with their headers, and numbers as they are shown."""

import pytest
from effort import ends_in_time

from services.chassis.errors import InvalidInput
from services.retrieval.parsers import parse, xlsx
from services.retrieval.parsers.number_format import displayed
from tests.office_files import an_xlsx


def cells(number, *values, bold=False, **attributes):
    """A row; words are inline, numbers may come with a style as a pair."""
    written = []
    for column, value in enumerate(values):
        place = f'r="{"ABCDEFGHIJ"[column]}{number}"'
        style = ' s="1"' if bold else ""
        match value:
            case None:
                pass
            case str():
                written.append(f'<c {place}{style} t="inlineStr"><is><t>{value}</t></is></c>')
            case (figure, index):
                written.append(f'<c {place} s="{index}"><v>{figure}</v></c>')
            case figure:
                written.append(f"<c {place}{style}><v>{figure}</v></c>")
    more = "".join(f' {name}="{value}"' for name, value in attributes.items())
    return f'<row r="{number}"{more}>{"".join(written)}</row>'


STYLES = (
    '<numFmts><numFmt numFmtId="164" formatCode="[$€-2]#,##0.0"/></numFmts>'
    "<fonts><font/><font><b/></font><font><strike/></font></fonts><cellXfs><xf/>"
    '<xf fontId="1"/><xf numFmtId="10"/><xf numFmtId="14"/><xf numFmtId="164"/>'
    '<xf numFmtId="14" fontId="1"/><xf fontId="2"/></cellXfs>'
)
STRUCK = 6


def read(*rows, **options):
    return xlsx.parse(an_xlsx({"Figures": "".join(rows)}, styles=STYLES, **options))


def body(document):
    return document.text.removeprefix("Figures\n\n")


def test_a_row_below_a_header_says_which_column_each_figure_is_from():
    document = read(
        cells(1, "Revenue by year"),
        cells(2, "Item", "2024", "Share", "Filed"),
        cells(3, "North", (2450.5, 4), (0.1234, 2), (45382, 3)),
        cells(4, "South", None, (0.5, 2)),
        cells(6, "Note below."),
    )
    assert document.text == (
        "Figures\n\nRevenue by year\n\nItem | 2024 | Share | Filed\n"
        "Item: North | 2024: €2,450.5 | Share: 12.34% | Filed: 2024-03-31\n"
        "Item: South | Share: 50.00%\n\nNote below."
    )
    assert [(heading.level, heading.title) for heading in document.headings] == [(1, "Figures")]
    assert len(document.tables) == 1


def test_names_and_values_beside_each_other_are_no_header():
    assert (
        body(read(cells(1, "Name", "Jane"), cells(2, "Born", 1980))) == "Name | Jane\nBorn | 1980"
    )


NAMES = f"<sheetData>{cells(1, 'Name', 'Born') + cells(2, 'Jane', 'May')}</sheetData>"


@pytest.mark.parametrize(
    ("sheet", "options"),
    [
        (cells(1, "Name", "Born", bold=True) + cells(2, "Jane", "May"), {}),
        (cells(1, "Name", "Born") + cells(2, "Jane", "May"), {"tables": {"sheet1": "A1:B2"}}),
        (
            '<sheetViews><pane ySplit="1" state="frozen"/></sheetViews>' + NAMES,
            {},
        ),
        (
            NAMES + '<autoFilter ref="$A$1:$B$2"/>',
            {},
        ),
    ],
)
def test_a_header_is_bold_or_named_as_a_tables_or_frozen_or_filtered_by(sheet, options):
    assert body(read(sheet, **options)) == "Name | Born\nName: Jane | Born: May"


@pytest.mark.parametrize(
    ("first", "second", "shown"),
    [(2022, 2023, ("2022", "2023")), ((44926, 5), (45291, 5), ("2022-12-31", "2023-12-31"))],
)
def test_bold_years_and_dates_name_columns(first, second, shown):
    document = read(cells(1, "USD million", first, second, bold=True), cells(2, "Cash", 100, 200))
    assert body(document) == (
        f"USD million | {shown[0]} | {shown[1]}\n"
        f"USD million: Cash | {shown[0]}: 100 | {shown[1]}: 200"
    )


def test_words_above_figures_are_a_header_though_all_is_bold():
    document = read(
        cells(1, "Item", "FY23", "FY24", bold=True), cells(2, "Total", 100, 200, bold=True)
    )
    assert body(document) == "Item | FY23 | FY24\nItem: Total | FY23: 100 | FY24: 200"


def test_figures_name_no_columns_though_they_are_bold_nor_do_years_that_are_not():
    total = read(cells(1, "Total", 120, 240, bold=True), cells(2, "North", 20, 40))
    assert body(total) == "Total | 120 | 240\nNorth | 20 | 40"
    years = read(cells(1, "Founded", 1990, 2001), cells(2, "Staff", 20, 40))
    assert body(years) == "Founded | 1990 | 2001\nStaff | 20 | 40"


@pytest.mark.parametrize("bold", [True, False])
@pytest.mark.parametrize(
    ("first", "second", "merged"),
    [
        (("Region", "H1", None, "H2"), (None, "Q1", "Q2", "Q3"), ("A1:A2", "B1:C1")),
        (("Region", "H1", None, "H2"), ("Name", "Q1", "Q2", "Q3"), ("B1:C1",)),
        (("Region", "Fee", "Fee", "Rate"), (None, "USD", "EUR", "%"), ()),
    ],
)
def test_a_header_may_have_two_rows(bold, first, second, merged):
    document = read(
        "<sheetData>",
        cells(1, *first, bold=bold),
        cells(2, *second, bold=bold),
        cells(3, "North", 1, 2, 3),
        "</sheetData>",
        *(f'<mergeCell ref="{area}"/>' for area in merged),
    )
    above = [first[1], first[2] or first[1], first[3]]
    named = [
        f"{one} {two}: {n}" for n, (one, two) in enumerate(zip(above, second[1:], strict=True), 1)
    ]
    assert body(document).split("\n")[-1].split(" | ")[1:] == named


def test_a_second_row_of_words_is_no_header_for_that():
    document = read(
        cells(1, "Name", "Country", "Score", bold=True),
        cells(2, None, "UK", "low"),
        cells(3, "B", "FR", 3),
    )
    assert body(document) == (
        "Name | Country | Score\nCountry: UK | Score: low\nName: B | Country: FR | Score: 3"
    )


HEADER = cells(1, "USD m", "FY23", "FY24", bold=True)
ABOVE = HEADER + cells(2, "Cash", 1, 2)


@pytest.mark.parametrize(
    "rows",
    [
        (ABOVE, cells(4, "Debt", 3, 4)),
        (ABOVE, cells(4, "Liabilities"), cells(5, "Debt", 3, 4)),
        (ABOVE, cells(4, "Liabilities"), cells(6, "Debt", 3, 4)),
        (HEADER, cells(3, "Debt", 3, 4)),
        (cells(1, None, "FY22", "FY23", "FY24", bold=True), cells(3, "Debt", 2, 3, 4)),
        (HEADER, cells(2, "Assets", bold=True), cells(3, "Debt", 3, 4)),
        (ABOVE, cells(3, "Gone", 5, 6, hidden="1"), cells(5, "Debt", 3, 4)),
        (ABOVE, *(cells(n, "Gone", hidden="1") for n in range(3, 9)), cells(9, "Debt", 3, 4)),
    ],
)
def test_a_blank_row_a_title_or_hidden_rows_do_not_end_what_a_header_is_for(rows):
    assert body(read(*rows)).endswith(" | FY23: 3 | FY24: 4")


@pytest.mark.parametrize(
    ("rows", "last"),
    [
        # A table of its own, a header of its own, another shape, other things in the columns.
        ((ABOVE, cells(5, "Debt", 3, 4)), "Debt | 3 | 4"),
        ((ABOVE, cells(4, "Item", 2021, 2022), cells(5, "Debt", 3, 4)), "Debt | 3 | 4"),
        ((ABOVE, cells(4, "Tax rate", 3)), "Tax rate | 3"),
        ((ABOVE, cells(4, "Tax rate", 3, 4, 5)), "Tax rate | 3 | 4 | 5"),
        ((ABOVE, cells(4, "Written by", 3, "Ann")), "Written by | 3 | Ann"),
        (
            (ABOVE, cells(4, "Name", "Role", "City"), cells(5, "A", "B", 1)),
            "Name: A | Role: B | City: 1",
        ),
        ((cells(1, "Red", "Amber", "Green"), cells(3, "Debt", 3, 4)), "Debt | 3 | 4"),
    ],
)
def test_what_may_be_another_table_is_not_put_under_the_header_above(rows, last):
    assert body(read(*rows)).split("\n")[-1] == last


def test_blank_rows_in_a_table_are_in_it():
    sheet = cells(1, "Name", "Since") + cells(2, "Jane", "May") + cells(5, "Joe", "June")
    assert body(read(sheet, tables={"sheet1": "A1:B5"})).endswith("Name: Joe | Since: June")


@pytest.mark.parametrize("values", [("words",), ("words", 1), ("words", None, "words")])
@pytest.mark.parametrize("apart", [1, 2])
def test_long_sheets_are_read_in_linear_time(values, apart):
    sheet = "".join(cells(number, *values) for number in range(1, 15_000, apart))
    data = an_xlsx({"A": sheet})
    with ends_in_time():
        xlsx.parse(data)


def test_merged_cells_stand_for_all_that_they_cover():
    document = read(
        "<sheetData>"
        + cells(1, "Item", "Revenue", None, bold=True)
        + cells(2, None, "2024", "2023", bold=True)
        + cells(3, "North", 1, 2)
        + cells(4, None, 3, 4)
        + "</sheetData>"
        '<sheetViews><pane ySplit="2" state="frozenSplit"/></sheetViews>'
        '<mergeCells><mergeCell ref="A1:A2"/><mergeCell ref="B1:C1"/><mergeCell ref="A3:A4"/>'
        "</mergeCells>"
    )
    assert body(document) == (
        "Item | Revenue\nItem | 2024 | 2023\n"
        "Item: North | Revenue 2024: 1 | Revenue 2023: 2\n"
        "Item: North | Revenue 2024: 3 | Revenue 2023: 4"
    )


def test_what_is_hidden_is_left_out():
    shown = (
        '<cols><col min="2" max="3" hidden="1"/></cols><sheetData>'
        + cells(1, "seen", "x", "x", "seen")
        + cells(2, "x", hidden="1")
        + "</sheetData>"
    )
    data = an_xlsx({"Shown": shown, "Secret": cells(1, "x")}, hidden=("Secret",))
    assert xlsx.parse(data).text == "Shown\n\nseen | seen"
    with pytest.raises(InvalidInput) as caught:
        parse(an_xlsx({"Secret": cells(1, "x")}, hidden=("Secret",)), "a.xlsx")
    assert caught.value.reason == "NO_TEXT"


def test_words_truths_errors_and_the_last_values_of_formulas_are_read():
    document = xlsx.parse(
        an_xlsx(
            {
                "A": '<row><c t="s"><v>0</v></c><c t="s"><v>1</v></c><c t="b"><v>1</v></c>'
                '<c t="e"><v>#N/A</v></c><c t="str"><f>x</f><v>joined</v></c>'
                "<c><f>1+1</f><v>2</v></c><c><f>never computed</f></c></row>"
            },
            texts=("<t>one</t>", "<r><t>two </t></r><r><t>parts</t></r><rPh><t>x</t></rPh>"),
        )
    )
    assert document.text == "A\n\none | two parts | TRUE | #N/A | joined | 2"


def test_what_is_struck_out_is_no_part_of_the_figure_that_replaces_it():
    struck, kept = "<rPr><strike/></rPr>", '<rPr><strike val="0"/></rPr>'
    document = xlsx.parse(
        an_xlsx(
            {
                "A": f'<row><c t="s"><v>0</v></c><c t="s" s="{STRUCK}"><v>1</v></c>'
                f'<c s="{STRUCK}"><v>7</v></c><c t="inlineStr" s="{STRUCK}"><is><t>x</t></is></c>'
                f"<c t='inlineStr'><is><r>{struck}<t>7</t></r><r><t>8%</t></r></is></c></row>"
            },
            texts=(
                f"<r>{struck}<t>5</t></r><r><t>6%</t></r>",
                f"<r><t>6</t></r><r>{kept}<t>7%</t></r>",
            ),
            styles=STYLES,
        )
    )
    assert document.text == "A\n\n6% | 7% | 8%"


def test_rows_that_are_struck_out_do_not_end_what_a_header_is_for():
    gone = (cells(n, ("5", STRUCK), ("6", STRUCK), ("7", STRUCK)) for n in (3, 4, 5))
    assert body(read(ABOVE, *gone, cells(6, "Debt", 3, 4))).endswith(
        "USD m: Cash | FY23: 1 | FY24: 2\nUSD m: Debt | FY23: 3 | FY24: 4"
    )
    blank = (f'<row r="{n}"><c r="A{n}" s="{STRUCK}"/></row>' for n in (3, 4, 5))
    assert body(read(ABOVE, *blank, cells(6, "Debt", 3, 4))).endswith("\n\nDebt | 3 | 4")


@pytest.mark.parametrize(
    ("number", "code", "shown"),
    [
        (1234567.891, "", "1234567.891"),
        (0.1 + 0.2, "General", "0.3"),
        (3.0, "General", "3"),
        (-3.5, "@", "-3.5"),
        (1234.5, "#,##0", "1,235"),
        (1234.5, "#,##0.00", "1,234.50"),
        (1.005, "0.00", "1.01"),
        (-1234.5, "#,##0.00;(#,##0.00)", "(1,234.50)"),
        (-1234.5, "#,##0.0", "-1,234.5"),
        (-0.004, "0.00", "0.00"),
        (0, "0.0;-0.0;\\-", "-"),
        (7, "000", "007"),
        (7, "000.00", "007.00"),
        (7, "0,000", "0,007"),
        (0.5, "#.00", ".50"),
        (123456789, "000-00-0000", "123-45-6789"),
        (1234, "000-00-0000", "000-00-1234"),
        (5551234567, "(000) 000-0000", "(555) 123-4567"),
        (-1234567.891, "# ##0.00", "-1234 567.89"),
        (130, '0" h "00" min"', "1 h 30 min"),
        (0.5, "0.0 0", "0.5"),
        (-0.5, "0.0;0.0 0", "-0.5"),
        (-5, "General;[Red]-General", "-5"),
        (2.5, "0.0##", "2.5"),
        (0.123, "0.0%", "12.3%"),
        (12_300_000, '#,##0.0,,"M"', "12.3M"),
        (5, '_("$"* #,##0_)', "$5"),
        (5, "[$£-809]#,##0.00", "£5.00"),
        (5, "#,##0\\ [$€-407]", "5 €"),
        (-5, "[Red]-0", "--5"),
        (12345, "0.00E+00", "1.23E+04"),
        (0.5, "# ?/?", "0.5"),
        (5, "[>3]0;0.0", "5"),
        (45382, "yyyy-mm-dd", "2024-03-31"),
        (45382, "d mmmm yyyy", "31 March 2024"),
        (45382, "ddd, dd/mm/yy", "Sun, 31/03/24"),
        (45382.75, "m/d/yyyy h:mm AM/PM", "3/31/2024 6:00 PM"),
        (0.5, "hh:mm:ss", "12:00:00"),
        (1.5, "[h]:mm", "36:00"),
        (-1, "yyyy", "-1"),
        (1e300, "yyyy", "1e+300"),
        (float("inf"), "#,##0.00", "inf"),
        (float("nan"), "", "nan"),
    ],
)
def test_numbers_are_written_as_their_cells_show_them(number, code, shown):
    assert displayed(number, code) == shown


def test_days_may_be_counted_from_1904():
    assert displayed(43920, "yyyy-mm-dd", since_1904=True) == "2024-03-31"


@pytest.mark.parametrize("reference", ["A0", "ZZZZ1", "A1:XFD1048576", "", ":", "A99999999"])
def test_references_to_cells_that_are_not_there_do_no_harm(reference):
    document = read(f"<sheetData>{cells(1, 'a', 'b')}</sheetData><mergeCell ref='{reference}'/>")
    assert body(document) == "a | b"
