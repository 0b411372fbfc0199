"""XLSX: each visible sheet a section, each row with its columns' headers, numbers as they show."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from xml.etree.ElementTree import Element

from services.retrieval.document import ParsedDocument
from services.retrieval.parsers import number_format, office
from services.retrieval.parsers.flow import Flow

CONTENT_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

S = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_REFERENCE = re.compile(r"\$?([A-Z]{1,3})\$?([0-9]{1,7})")
_ON = {"1", "true"}
_MIN_HEADER = 3
_MAX_COLUMNS = 16_384

Rows = dict[int, dict[int, "_Cell"]]


class _Cell(NamedTuple):
    words: str
    is_number: bool
    is_bold: bool


@dataclass(frozen=True, slots=True)
class _Area:
    """Rows and columns from 1, the last included."""

    top: int
    left: int
    bottom: int
    right: int


@dataclass(slots=True)
class _Workbook:
    """What all sheets share: their texts, and by style the number format and whether it is bold."""

    texts: Sequence[str]
    formats: Sequence[tuple[str, bool]]
    since_1904: bool


@dataclass(slots=True)
class _Sheet:
    """The cells of a sheet that can be seen, and what it says of them."""

    rows: Rows = field(default_factory=dict)
    hidden: set[int] = field(default_factory=set)
    merged: list[_Area] = field(default_factory=list)
    tables: list[_Area] = field(default_factory=list)
    frozen: int = 0

    @property
    def headers(self) -> set[int]:
        """Rows that are known to be headers: the first of a table, or those that stay in view."""
        frozen = {row for row in self.rows if row <= self.frozen}
        return {area.top for area in self.tables} | (
            frozen if len(frozen) < len(self.rows) else set()
        )


def parse(data: bytes) -> ParsedDocument:
    """Read a workbook.

    A formula is read as the value that was last computed. What a reader does not see is left out:
    hidden sheets, rows and columns, comments. Rows without a blank row between them are a table.
    """
    with office.opened(data) as package:
        if package.main is None:
            raise office.damaged("it has no workbook")
        parts = package.relationships(package.main.part)
        book = package.xml(package.main.part)
        kinds = {part.kind: part.part for part in parts if part.part in package}
        shared = _Workbook(
            texts=_texts(package.xml(kinds["sharedStrings"])) if "sharedStrings" in kinds else (),
            formats=_formats(package.xml(kinds["styles"])) if "styles" in kinds else (),
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
                headers = read.headers
                for block in _blocks(read.rows):
                    _write(block, headers, flow)
        return flow.document(CONTENT_TYPE)


def _texts(root: Element) -> list[str]:
    return [_text(item) for item in root.iter(f"{S}si")]


def _text(item: Element) -> str:
    """The words of a cell, without how they are to be pronounced."""
    runs = [item, *item.findall(f"{S}r")]
    return "".join(text.text or "" for run in runs for text in run.findall(f"{S}t"))


def _formats(root: Element) -> list[tuple[str, bool]]:
    codes = {int(f.get("numFmtId", "0")): f.get("formatCode", "") for f in root.iter(f"{S}numFmt")}
    fonts = [
        any(b.get("val", "1") in _ON for b in font.findall(f"{S}b"))
        for fonts in root.findall(f"{S}fonts")
        for font in fonts
    ]
    formats = []
    for style in (style for styles in root.findall(f"{S}cellXfs") for style in styles):
        number, font = int(style.get("numFmtId", "0")), int(style.get("fontId", "0"))
        code = codes.get(number, number_format.BUILT_IN.get(number, ""))
        formats.append((code, font < len(fonts) and fonts[font]))
    return formats


def _read(package: office.Package, part: str, shared: _Workbook) -> _Sheet:
    sheet = _Sheet()
    number = 0
    # The order of a sheet's parts is fixed: what is said of columns comes before the rows.
    for element in package.elements(part):
        if element.tag == f"{S}row":
            number = int(element.get("r", number + 1))
            if cells := _cells(element, sheet.hidden, shared):
                sheet.rows[number] = cells
            # A sheet may have a million rows, and is read one by one.
            element.clear()
        else:
            _note(element, sheet)
    _spread(sheet.rows, sheet.merged)
    for related in package.relationships(part):
        if related.kind == "table" and related.part in package:
            table = package.xml(related.part)
            if table.get("headerRowCount", "1") != "0":
                sheet.tables.append(_area(table.get("ref", "")))
    return sheet


def _note(element: Element, sheet: _Sheet) -> None:
    """Takes down what an element says of the sheet."""
    match element.tag.removeprefix(S):
        case "pane" if element.get("state", "").startswith("frozen"):
            sheet.frozen = int(float(element.get("ySplit", "0")))
        case "col" if element.get("hidden") in _ON:
            last = min(int(element.get("max", "1")), _MAX_COLUMNS)
            sheet.hidden.update(range(int(element.get("min", "1")), last + 1))
        case "mergeCell":
            sheet.merged.append(_area(element.get("ref", "")))
        case "autoFilter":
            sheet.tables.append(_area(element.get("ref", "")))


def _cells(row: Element, hidden: set[int], shared: _Workbook) -> dict[int, _Cell]:
    """The cells of a row that can be seen and hold something, by column."""
    if row.get("hidden") in _ON:
        return {}
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


def _cell(cell: Element, shared: _Workbook) -> _Cell:
    style = int(cell.get("s", "0"))
    code, bold = shared.formats[style] if style < len(shared.formats) else ("", False)
    value = (cell.findtext(f"{S}v") or "").strip()
    match cell.get("t", "n"):
        case "s":
            words = shared.texts[int(value)] if value else ""
        case "inlineStr":
            words = "".join(_text(item) for item in cell.findall(f"{S}is"))
        case "b":
            words = "TRUE" if value in _ON else "FALSE"
        case "n" if value:
            shown = number_format.displayed(float(value), code, since_1904=shared.since_1904)
            return _Cell(shown, is_number=True, is_bold=bold)
        case _:
            words = value
    return _Cell(words.strip(), is_number=False, is_bold=bold)


def _spread(rows: Rows, areas: Sequence[_Area]) -> None:
    """A cell that spans others stands for all of them."""
    lowest = max(rows, default=0)
    widest = max((max(cells) for cells in rows.values()), default=0)
    for area in areas:
        cell = rows.get(area.top, {}).get(area.left)
        if cell is None:
            continue
        for row in range(area.top, min(area.bottom, lowest) + 1):
            for column in range(area.left, min(area.right, widest) + 1):
                if row in rows:
                    rows[row].setdefault(column, cell)


def _blocks(rows: Rows) -> Iterator[Rows]:
    """Rows that follow each other."""
    block: Rows = {}
    for number in sorted(rows):
        if block and number - 1 not in block:
            yield block
            block = {}
        block[number] = rows[number]
    if block:
        yield block


def _write(block: Rows, headers: set[int], flow: Flow) -> None:
    """A block of rows: titles above it, and below them a table with its header."""
    numbers = list(block)
    first = 0
    while first < len(numbers) and len(set(map(id, block[numbers[first]].values()))) == 1:
        flow.paragraph(next(iter(block[numbers[first]].values())).words)
        first += 1
    numbers = numbers[first:]
    if not numbers:
        return
    columns = sorted({column for number in numbers for column in block[number]})
    known = bisect_right(numbers, max(headers & set(numbers), default=0))
    header_rows = known if 0 < known < len(numbers) else int(_looks_like_header(block, numbers))
    flow.table(
        [_written(block[n], columns, keep=i < header_rows) for i, n in enumerate(numbers)],
        header_rows,
    )


def _written(cells: Mapping[int, _Cell], columns: Sequence[int], *, keep: bool) -> list[str]:
    """The words by column; a cell that spans columns is said once below the header."""
    written: list[str] = []
    above: _Cell | None = None
    for column in columns:
        cell = cells.get(column)
        written.append(cell.words if cell and (keep or cell is not above) else "")
        above = cell
    return written


def _looks_like_header(block: Rows, numbers: Sequence[int]) -> bool:
    """Whether a block's first row is bold and its second not, or is all words above numbers.

    Two columns are no table without more than that: they may be names and values.
    """
    if len(numbers) == 1:
        return False
    first, second = (list(block[number].values()) for number in numbers[:2])
    if any(cell.is_number for cell in first):
        return False
    if all(cell.is_bold for cell in first) and not all(cell.is_bold for cell in second):
        return True
    words = {cell.words for cell in first}
    return len(words) >= _MIN_HEADER and any(cell.is_number for cell in second)


def _area(reference: str) -> _Area:
    first, _, last = reference.partition(":")
    corners = [_REFERENCE.fullmatch(corner) for corner in (first, last or first)]
    if not corners[0] or not corners[1]:
        return _Area(0, 0, 0, 0)
    (left, top), (right, bottom) = ((_column(c[1]), int(c[2])) for c in corners if c)
    return _Area(top, left, bottom, right)


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number
