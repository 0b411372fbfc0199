"""DOCX: what a reader of the final version sees, with the numbers that Word would print."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import takewhile
from xml.etree.ElementTree import Element

from services.retrieval.document import ParsedDocument
from services.retrieval.parsers import beside_figures, numbering, office, table_header
from services.retrieval.parsers.docx_bold import has_bold_header, is_bold
from services.retrieval.parsers.docx_numbering import BULLET, Numbers
from services.retrieval.parsers.docx_properties import W, is_on, value
from services.retrieval.parsers.docx_styles import NO_STYLE, Style, outline_level, styles_of
from services.retrieval.parsers.docx_words import GONE, Gatherer, Run, notes_of
from services.retrieval.parsers.flow import Flow
from services.retrieval.parsers.table_header import Cell

CONTENT_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"

_BODY_LEVEL = 9
_MAX_SPAN = 100
_GONE_ENDS = ("del", "moveFrom")


def parse(data: bytes) -> ParsedDocument:
    """Read a document: headings, paragraphs, lists, tables, text boxes and notes, in order.

    Tracked changes count as accepted; what is hidden or struck out and comments are left out. A
    note stands below the paragraph or the table that refers to it, both marked by its number.
    Headers come first and footers last, as furniture.
    """
    with office.opened(data) as package:
        if package.main is None:
            raise office.damaged("it has no text")
        parts = package.relationships(package.main.part)

        def roots(kind: str) -> list[Element]:
            return [package.xml(p.part) for p in parts if p.kind == kind and p.part in package]

        def root(kind: str) -> Element | None:
            return next(iter(roots(kind)), None)

        flow = Flow()
        writer = _Writer(
            flow,
            styles_of(root("styles")),
            Numbers(root("numbering")),
            Gatherer(
                {**notes_of(root("footnotes"), "footnote"), **notes_of(root("endnotes"), "endnote")}
            ),
        )
        writer.write_furniture(roots("header"))
        for body in package.xml(package.main.part).iter(f"{W}body"):
            writer.write(body)
        writer.write_furniture(roots("footer"))
        return flow.document(CONTENT_TYPE)


class _Writer:
    """Writes the blocks of a document."""

    def __init__(
        self,
        flow: Flow,
        styles: Mapping[str, Style],
        numbers: Numbers,
        gatherer: Gatherer,
    ) -> None:
        self._flow = flow
        self._styles = styles
        self._numbers = numbers
        self._gatherer = gatherer

    def write(self, parent: Element) -> None:
        for blocks in _joined(_blocks(parent)):
            run = Run()
            if blocks[0].tag == f"{W}tbl":
                self._table(blocks[0], run)
            else:
                self._paragraph(blocks, run)
            self._beside(run)

    def write_furniture(self, roots: list[Element]) -> None:
        """What stands above or below each page, each thing once."""
        words = [
            " ".join(self._gatherer.gathered(block, Run()).split())
            for root in roots
            for block in root.iter(f"{W}p")
        ]
        for line in dict.fromkeys(words):
            self._flow.furniture(line)

    def _paragraph(self, paragraphs: list[Element], run: Run) -> None:
        """Writes what is one paragraph; one without words is counted too, but not written."""
        properties = paragraphs[-1].find(f"{W}pPr")
        style = self._styles.get(value(properties, "pStyle"), NO_STYLE)
        words = self._words(paragraphs, run)
        number = self._number(properties, style, words)
        if style.hidden or not words.strip():
            return
        level = outline_level(properties) or style.level
        if 0 < level <= _BODY_LEVEL:
            self._flow.heading(f"{number} {words}", level)
        elif number and not _is_section(number):
            self._flow.item(f"{number} {words.strip()}")
        else:
            self._flow.paragraph(f"{number} {words}")

    def _words(self, paragraphs: list[Element], run: Run) -> str:
        return "".join(self._gatherer.gathered(paragraph, run) for paragraph in paragraphs)

    def _number(self, properties: Element | None, style: Style, words: str) -> str:
        """The number of a paragraph, which is counted unless all of it is hidden or gone."""
        if style.hidden or (not words.strip() and _has_end(properties, "vanish", *_GONE_ENDS)):
            return ""
        own = None if properties is None else properties.find(f"{W}numPr")
        list_id = value(own, "numId") or style.list_id
        level = value(own, "ilvl") or style.list_level or "0"
        return self._numbers.next(list_id, int(level)) if list_id else ""

    def _beside(self, run: Run) -> None:
        """Text boxes and notes that a block brings along."""
        for box in run.boxes:
            self.write(box)
        for mark, note in run.notes:
            within = Run()
            words = [
                self._words(paragraphs, within).strip()
                for paragraphs in _joined(note.iter(f"{W}p"))
            ]
            self._flow.paragraph(f"{mark} {' '.join(words).strip()}")

    def _table(self, table: Element, run: Run) -> None:
        rows = [row for row in _inside(table, "tr") if row.find(f"{W}trPr/{W}del") is None]
        if all(len(list(_inside(row, "tc"))) <= 1 for row in rows):
            # A frame around text, not a table.
            for row in rows:
                for cell in _inside(row, "tc"):
                    self.write(cell)
            return
        in_bold_row = has_bold_header(table, self._styles)
        written: list[list[Cell]] = []
        for row in rows:
            cells = [Cell("")] * int(value(row.find(f"{W}trPr"), "gridBefore") or 0)
            for cell in _inside(row, "tc"):
                properties = cell.find(f"{W}tcPr")
                if _goes_on_from_above(properties) and written and len(cells) < len(written[-1]):
                    said = written[-1][len(cells)]
                else:
                    bold = is_bold(cell, self._styles, in_bold_row=in_bold_row)
                    said = Cell(self._cell(cell, run), bold)
                span = min(int(value(properties, "gridSpan") or 1), _MAX_SPAN)
                cells += [said, *([replace(said, goes_on=True)] * (span - 1))]
            written.append(cells)
            in_bold_row = False
        marked = len(list(takewhile(_is_marked, rows)))
        header_rows = marked or table_header.bold_rows(written)
        table_header.write(beside_figures.joined(written, header_rows), header_rows, self._flow)

    def _cell(self, cell: Element, run: Run) -> str:
        """All words of a cell; a table in it is read cell by cell."""
        words = []
        for blocks in _joined(_blocks(cell)):
            if blocks[0].tag == f"{W}tbl":
                inner = (c for row in _inside(blocks[0], "tr") for c in _inside(row, "tc"))
                words += [self._cell(c, run) for c in inner]
            else:
                properties = blocks[-1].find(f"{W}pPr")
                style = self._styles.get(value(properties, "pStyle"), NO_STYLE)
                text = self._words(blocks, run)
                number = self._number(properties, style, text)
                if text.strip() or number != BULLET:
                    words.append(f"{number} {text}")
        return " ".join(" ".join(words).split())


def _blocks(parent: Element) -> Iterator[Element]:
    """The paragraphs and tables of a part, those in content controls too."""
    for child in parent:
        if child.tag in {f"{W}p", f"{W}tbl"}:
            yield child
        elif child.tag not in GONE:
            yield from _blocks(child)


def _joined(blocks: Iterable[Element]) -> Iterator[list[Element]]:
    """Blocks; paragraphs whose end was deleted, or moved away, with the one in which they go on."""
    joined: list[Element] = []
    for block in blocks:
        if joined and block.tag == f"{W}tbl":
            yield joined
            joined = []
        joined.append(block)
        if not _has_end(block.find(f"{W}pPr"), *_GONE_ENDS):
            yield joined
            joined = []
    if joined:
        yield joined


def _has_end(properties: Element | None, *names: str) -> bool:
    """Whether the mark that ends a paragraph has one of these properties."""
    mark = None if properties is None else properties.find(f"{W}rPr")
    return any(is_on(mark, name) for name in names)


def _inside(parent: Element, name: str) -> Iterator[Element]:
    """The rows of a table or the cells of a row, not those of tables within."""
    for child in parent:
        if child.tag == f"{W}{name}":
            yield child
        elif child.tag in {f"{W}sdt", f"{W}sdtContent", f"{W}customXml", f"{W}ins", f"{W}moveTo"}:
            yield from _inside(child, name)


def _is_marked(row: Element) -> bool:
    """Whether a row is to be repeated on each page."""
    return is_on(row.find(f"{W}trPr"), "tblHeader")


def _goes_on_from_above(properties: Element | None) -> bool:
    merged = None if properties is None else properties.find(f"{W}vMerge")
    return merged is not None and merged.get(f"{W}val", "continue") == "continue"


def _is_section(number: str) -> bool:
    """Whether a paragraph's number is a section's, such as "4.2" or "Article 5", not a list's."""
    read = numbering.read(f"{number} X")
    return read is not None and (read.depth > 1 or read.kind != "bare")
