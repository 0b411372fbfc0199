"""XLSX: each visible sheet a section, each row with its columns' headers, numbers as they show."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from xml.etree.ElementTree import Element

from services.retrieval.document import ParsedDocument
from services.retrieval.parsers import number_format, office
from services.retrieval.parsers.flow import Flow
from services.retrieval.parsers.sheet import Area, Cell, Kind, Sheet, write

CONTENT_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

S = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_REFERENCE = re.compile(r"\$?([A-Z]{1,3})\$?([0-9]{1,7})")
_YEAR = re.compile(r"(?:19|20)[0-9]{2}")
_ON = {"1", "true"}
_MAX_COLUMNS = 16_384


class _Style(NamedTuple):
    code: str
    is_date: bool
    is_bold: bool
    is_struck: bool


_PLAIN = _Style("", is_date=False, is_bold=False, is_struck=False)


@dataclass(slots=True)
class _Workbook:
    """What all sheets share: their texts, and how cells look by the number of their style.

    Of each text there are the words in a cell that is not struck out, and in one that is.
    """

    texts: Sequence[tuple[str, str]]
    styles: Sequence[_Style]
    since_1904: bool


def parse(data: bytes) -> ParsedDocument:
    """Read a workbook.

    A formula is read as the value that was last computed. What a reader does not see is left out:
    hidden sheets, rows and columns, comments; so is what is struck out. Rows without a blank row
    between them are a table.
    """
    with office.opened(data) as package:
        if package.main is None:
            raise office.damaged("it has no workbook")
        parts = package.relationships(package.main.part)
        book = package.xml(package.main.part)
        kinds = {part.kind: part.part for part in parts if part.part in package}
        shared = _Workbook(
            texts=_texts(package.xml(kinds["sharedStrings"])) if "sharedStrings" in kinds else (),
            styles=_styles(package.xml(kinds["styles"])) if "styles" in kinds else (),
            since_1904=any(p.get("date1904") in _ON for p in book.iter(f"{S}workbookPr")),
        )
        places = {part.id: part.part for part in parts}
        flow = Flow()
        for sheet in book.iter(f"{S}sheet"):
            part = places.get(sheet.get(_ID, ""), "")
            if sheet.get("state", "visible") == "visible" and part in package:
                read = _read(package, part, shared)
                if read.rows:
                    flow.heading(sheet.get("name", ""), 1)
                write(read, flow)
        return flow.document(CONTENT_TYPE)


def _texts(root: Element) -> list[tuple[str, str]]:
    return [
        (_text(item, is_struck=False), _text(item, is_struck=True)) for item in root.iter(f"{S}si")
    ]


def _text(item: Element, *, is_struck: bool) -> str:
    """The words of a cell, without how they are to be pronounced, and what is struck out of them.

    Parts that do not say how they look are struck out where their cell is.
    """
    parts = []
    for run in (item, *item.findall(f"{S}r")):
        looks = run.find(f"{S}rPr")
        # "5" struck out before "6%" must not be read as "56%".
        if not (is_struck if looks is None else _has(looks, "strike")):
            parts += [text.text or "" for text in run.findall(f"{S}t")]
    return "".join(parts)


def _has(looks: Element, name: str) -> bool:
    return any(mark.get("val", "1") in _ON for mark in looks.findall(f"{S}{name}"))


def _styles(root: Element) -> list[_Style]:
    codes = {int(f.get("numFmtId", "0")): f.get("formatCode", "") for f in root.iter(f"{S}numFmt")}
    fonts = [
        (_has(font, "b"), _has(font, "strike"))
        for fonts in root.findall(f"{S}fonts")
        for font in fonts
    ]
    read = []
    for style in (style for styles in root.findall(f"{S}cellXfs") for style in styles):
        number, font = int(style.get("numFmtId", "0")), int(style.get("fontId", "0"))
        code = codes.get(number, number_format.BUILT_IN.get(number, ""))
        is_bold, is_struck = fonts[font] if font < len(fonts) else (False, False)
        read.append(_Style(code, number_format.is_date(code), is_bold, is_struck))
    return read


def _read(package: office.Package, part: str, shared: _Workbook) -> Sheet:
    sheet = Sheet()
    number = 0
    # The order of a sheet's parts is fixed: what is said of columns comes before the rows.
    for element in package.elements(part):
        if element.tag == f"{S}row":
            number = int(element.get("r", number + 1))
            if element.get("hidden") in _ON:
                sheet.hidden_rows.add(number)
            elif cells := _cells(element, sheet.hidden_columns, shared):
                sheet.rows[number] = cells
            elif any(len(cell) and _style(cell, shared).is_struck for cell in element):
                # What is struck out parts no more than what is hidden.
                sheet.hidden_rows.add(number)
            # A sheet may have a million rows, and is read one by one.
            element.clear()
        else:
            _note(element, sheet)
    sheet.spread()
    for related in package.relationships(part):
        if related.kind == "table" and related.part in package:
            table = package.xml(related.part)
            if table.get("headerRowCount", "1") != "0":
                sheet.tables.append(_area(table.get("ref", "")))
    return sheet


def _note(element: Element, sheet: Sheet) -> None:
    """Takes down what an element says of the sheet."""
    match element.tag.removeprefix(S):
        case "pane" if element.get("state", "").startswith("frozen"):
            sheet.frozen = int(float(element.get("ySplit", "0")))
        case "col" if element.get("hidden") in _ON:
            last = min(int(element.get("max", "1")), _MAX_COLUMNS)
            sheet.hidden_columns.update(range(int(element.get("min", "1")), last + 1))
        case "mergeCell":
            sheet.merged.append(_area(element.get("ref", "")))
        case "autoFilter":
            sheet.tables.append(_area(element.get("ref", "")))


def _cells(row: Element, hidden: set[int], shared: _Workbook) -> dict[int, Cell]:
    """The cells of a row that can be seen and hold something, by column."""
    return {
        column: read
        for column, cell in _numbered(row)
        if column not in hidden and (read := _cell(cell, shared)).words
    }


def _numbered(row: Element) -> Iterator[tuple[int, Element]]:
    """The cells with their columns; one that does not say it is next to the one before."""
    column = 0
    for cell in row.iter(f"{S}c"):
        reference = _REFERENCE.fullmatch(cell.get("r", ""))
        column = _column(reference[1]) if reference else column + 1
        yield column, cell


def _style(cell: Element, shared: _Workbook) -> _Style:
    number = int(cell.get("s", "0"))
    return shared.styles[number] if number < len(shared.styles) else _PLAIN


def _cell(cell: Element, shared: _Workbook) -> Cell:
    style = _style(cell, shared)
    value = (cell.findtext(f"{S}v") or "").strip()
    match cell.get("t", "n"):
        case "s":
            words = shared.texts[int(value)][style.is_struck] if value else ""
        case "inlineStr":
            words = "".join(_text(i, is_struck=style.is_struck) for i in cell.findall(f"{S}is"))
        case _ if style.is_struck:
            words = ""
        case "b":
            words = "TRUE" if value in _ON else "FALSE"
        case "n" if value:
            shown = number_format.displayed(float(value), style.code, since_1904=shared.since_1904)
            is_period = style.is_date or _YEAR.fullmatch(shown)
            return Cell(shown, Kind.PERIOD if is_period else Kind.FIGURE, style.is_bold)
        case _:
            words = value
    return Cell(words.strip(), Kind.WORDS, style.is_bold)


def _area(reference: str) -> Area:
    first, _, last = reference.partition(":")
    corners = [_REFERENCE.fullmatch(corner) for corner in (first, last or first)]
    if not corners[0] or not corners[1]:
        return Area(0, 0, 0, 0)
    (left, top), (right, bottom) = ((_column(c[1]), int(c[2])) for c in corners if c)
    return Area(top, left, bottom, right)


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number
