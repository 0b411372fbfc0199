"""DOCX: what a reader of the final version sees, with the numbers that Word would print."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from services.retrieval.document import ParsedDocument
from services.retrieval.parsers import numbering, office
from services.retrieval.parsers.characters import UNREADABLE
from services.retrieval.parsers.docx_numbering import BULLET, Numbers, W, roman, value
from services.retrieval.parsers.flow import Flow

CONTENT_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"

_CHOICE = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_HEADING_NAME = re.compile(r"heading ([1-9])")
_BODY_LEVEL = 9
_OFF = {"0", "false", "off"}
_MAX_SPAN = 100

# Changes are read as accepted: what was inserted is there, what was deleted or moved away is not.
_GONE = {f"{W}{name}" for name in ("del", "moveFrom", "pPr", "rPr", "rt", "delText", "instrText")}
_WRITTEN = {
    "tab": "\t",
    "br": "\n",
    "cr": "\n",
    "noBreakHyphen": "\N{NON-BREAKING HYPHEN}",
    "softHyphen": "\N{SOFT HYPHEN}",
}
_MATH_SIGNS = {f"{_MATH}num": ("(", ")"), f"{_MATH}den": ("/(", ")"), f"{_MATH}deg": ("\u221a", "")}
_SUPERSCRIPT = str.maketrans(
    "0123456789", "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"
)
# Boxes to tick, and a bullet, in Wingdings and Symbol.
_SYMBOLS = {
    0x6F: "\u2610",
    0xA8: "\u2610",
    0xFD: "\u2612",
    0xFE: "\u2611",
    0xFC: "\u2713",
    0xB7: BULLET,
}


def parse(data: bytes) -> ParsedDocument:
    """Read a document: headings, paragraphs, lists, tables, text boxes and notes, in order.

    Tracked changes count as accepted, hidden text and comments are left out. A note stands below
    the paragraph or the table that refers to it, both marked by its number. Headers come first and
    footers last, as furniture.
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
            _styles(root("styles")),
            Numbers(root("numbering")),
            {**_notes(root("footnotes"), "footnote"), **_notes(root("endnotes"), "endnote")},
        )
        writer.write_furniture(roots("header"))
        for body in package.xml(package.main.part).iter(f"{W}body"):
            writer.write(body)
        writer.write_furniture(roots("footer"))
        return flow.document(CONTENT_TYPE)


@dataclass(frozen=True, slots=True)
class _Style:
    """What a paragraph style says of level (0 for body text) and list."""

    level: int
    list_id: str
    list_level: str
    hidden: bool


@dataclass(slots=True)
class _Run:
    """The words of a paragraph, and what it brings along."""

    words: list[str] = field(default_factory=list)
    boxes: list[Element] = field(default_factory=list)
    notes: list[tuple[str, Element]] = field(default_factory=list)
    # Fields that are open; what stands before "separate" is their code.
    fields: list[str] = field(default_factory=list)


class _Writer:
    """Writes the blocks of a document."""

    def __init__(
        self,
        flow: Flow,
        styles: Mapping[str, _Style],
        numbers: Numbers,
        notes: Mapping[tuple[str, str], Element],
    ) -> None:
        self._flow = flow
        self._styles = styles
        self._numbers = numbers
        self._notes = notes
        self._counts = {"footnote": 0, "endnote": 0}
        # Of a paragraph whose end was deleted: it goes on in the next.
        self._unfinished = ""

    def write(self, parent: Element) -> None:
        for block in _blocks(parent):
            run = _Run()
            if block.tag == f"{W}tbl":
                self._table(block, run)
            else:
                self._paragraph(block, run)
            self._beside(run)

    def write_furniture(self, roots: list[Element]) -> None:
        """What stands above or below each page, each thing once."""
        words = [
            " ".join(self._gathered(block, _Run()).split())
            for root in roots
            for block in root.iter(f"{W}p")
        ]
        for line in dict.fromkeys(words):
            self._flow.furniture(line)

    def _paragraph(self, paragraph: Element, run: _Run) -> None:
        properties = paragraph.find(f"{W}pPr")
        style = self._styles.get(value(properties, "pStyle"), _NO_STYLE)
        words = self._unfinished + self._gathered(paragraph, run)
        if properties is not None and properties.find(f"{W}rPr/{W}del") is not None:
            self._unfinished = words
            return
        self._unfinished = ""
        if not words.strip() or style.hidden:
            return
        number = self._number(properties, style)
        level = _outline_level(properties) or style.level
        if 0 < level <= _BODY_LEVEL:
            self._flow.heading(f"{number} {words}", level)
        elif number and not _is_section(number):
            self._flow.item(f"{number} {words.strip()}")
        else:
            self._flow.paragraph(f"{number} {words}")

    def _number(self, properties: Element | None, style: _Style) -> str:
        own = None if properties is None else properties.find(f"{W}numPr")
        list_id = value(own, "numId") or style.list_id
        level = value(own, "ilvl") or style.list_level or "0"
        return self._numbers.next(list_id, int(level)) if list_id else ""

    def _gathered(self, element: Element, run: _Run) -> str:
        """The words of an element; what is beside them goes to `run`."""
        start = len(run.words)
        self._gather(element, run, raised=False)
        words = "".join(run.words[start:])
        del run.words[start:]
        return words

    def _gather(self, element: Element, run: _Run, *, raised: bool) -> None:
        for child in element:
            if child.tag in _GONE:
                continue
            if child.tag in {f"{W}t", f"{_MATH}t"}:
                if "begin" not in run.fields:
                    text = child.text or ""
                    # The mark of a note must not become a figure's last digit.
                    run.words.append(text.translate(_SUPERSCRIPT) if raised else text)
            elif child.tag == f"{W}r":
                properties = child.find(f"{W}rPr")
                if not _is_on(properties, "vanish"):
                    above = raised or value(properties, "vertAlign") == "superscript"
                    self._gather(child, run, raised=above)
            elif not self._take(child, run):
                before, after = _MATH_SIGNS.get(child.tag, ("", ""))
                run.words.append(before)
                self._gather(_newest(child), run, raised=raised or child.tag == f"{_MATH}sup")
                run.words.append(after)

    def _take(self, element: Element, run: _Run) -> bool:
        """Whether an element is one that holds no words of the paragraph itself."""
        match element.tag.removeprefix(W):
            case "txbxContent":
                run.boxes.append(element)
            case "fldChar":
                _mark_field(run.fields, element.get(f"{W}fldCharType", ""))
            case "footnoteReference" | "endnoteReference":
                self._refer(element, run)
            case "sym":
                run.words.append(_symbol(element.get(f"{W}char", "")))
            case name if name in _WRITTEN:
                run.words.append(_WRITTEN[name])
            case _:
                return False
        return True

    def _refer(self, reference: Element, run: _Run) -> None:
        kind = reference.tag.removeprefix(W).removesuffix("Reference")
        note = self._notes.get((kind, reference.get(f"{W}id", "")))
        if note is not None:
            self._counts[kind] += 1
            number = self._counts[kind]
            mark = f"[{number}]" if kind == "footnote" else f"[{roman(number)}]"
            run.words.append(mark)
            run.notes.append((mark, note))

    def _beside(self, run: _Run) -> None:
        """Text boxes and notes that a block brings along."""
        for box in run.boxes:
            self.write(box)
        for mark, note in run.notes:
            within = _Run()
            words = " ".join(self._gathered(p, within).strip() for p in note.iter(f"{W}p"))
            self._flow.paragraph(f"{mark} {words.strip()}")

    def _table(self, table: Element, run: _Run) -> None:
        rows = [row for row in _inside(table, "tr") if row.find(f"{W}trPr/{W}del") is None]
        if all(len(list(_inside(row, "tc"))) <= 1 for row in rows):
            # A frame around text, not a table.
            for row in rows:
                for cell in _inside(row, "tc"):
                    self.write(cell)
            return
        header_rows = _header_rows(rows)
        written: list[list[str]] = []
        for number, row in enumerate(rows):
            cells = [""] * int(value(row.find(f"{W}trPr"), "gridBefore") or 0)
            for cell in _inside(row, "tc"):
                properties = cell.find(f"{W}tcPr")
                words = self._cell(cell, run)
                column = len(cells)
                if _goes_on_from_above(properties) and written and column < len(written[-1]):
                    words = written[-1][column]
                span = min(int(value(properties, "gridSpan") or 1), _MAX_SPAN)
                cells += [words, *([words if number < header_rows else ""] * (span - 1))]
            written.append(cells)
        self._flow.table(written, header_rows)

    def _cell(self, cell: Element, run: _Run) -> str:
        """All words of a cell; a table in it is read cell by cell."""
        words = []
        for block in _blocks(cell):
            if block.tag == f"{W}tbl":
                inner = (c for row in _inside(block, "tr") for c in _inside(row, "tc"))
                words += [self._cell(c, run) for c in inner]
            else:
                properties = block.find(f"{W}pPr")
                style = self._styles.get(value(properties, "pStyle"), _NO_STYLE)
                text = self._gathered(block, run)
                number = self._number(properties, style) if text.strip() else ""
                words.append(f"{number} {text}")
        return " ".join(" ".join(words).split())


_NO_STYLE = _Style(level=0, list_id="", list_level="", hidden=False)


def _blocks(parent: Element) -> Iterator[Element]:
    """The paragraphs and tables of a part, those in content controls too."""
    for child in parent:
        if child.tag in {f"{W}p", f"{W}tbl"}:
            yield child
        elif child.tag not in _GONE:
            yield from _blocks(child)


def _inside(parent: Element, name: str) -> Iterator[Element]:
    """The rows of a table or the cells of a row, not those of tables within."""
    for child in parent:
        if child.tag == f"{W}{name}":
            yield child
        elif child.tag in {f"{W}sdt", f"{W}sdtContent", f"{W}customXml", f"{W}ins", f"{W}moveTo"}:
            yield from _inside(child, name)


def _header_rows(rows: list[Element]) -> int:
    """How many rows are marked to be repeated on each page, or the first if it alone is bold."""
    marked = 0
    while marked < len(rows) and _is_on(rows[marked].find(f"{W}trPr"), "tblHeader"):
        marked += 1
    if marked or len(rows) == 1:
        return marked
    return int(_is_bold(rows[0]) and not _is_bold(rows[1]))


def _is_bold(row: Element) -> bool:
    runs = [run for run in row.iter(f"{W}r") if any(t.text for t in run.iter(f"{W}t"))]
    return bool(runs) and all(_is_on(run.find(f"{W}rPr"), "b") for run in runs)


def _goes_on_from_above(properties: Element | None) -> bool:
    merged = None if properties is None else properties.find(f"{W}vMerge")
    return merged is not None and merged.get(f"{W}val", "continue") == "continue"


def _is_on(properties: Element | None, name: str) -> bool:
    found = None if properties is None else properties.find(f"{W}{name}")
    return found is not None and found.get(f"{W}val", "true") not in _OFF


def _newest(element: Element) -> Element:
    """Of what is there twice, for programs of different age, the newer; else the element."""
    if element.tag != f"{_CHOICE}AlternateContent":
        return element
    newer = element.find(f"{_CHOICE}Choice")
    return element if newer is None else newer


def _is_section(number: str) -> bool:
    """Whether a paragraph's number is a section's, such as "4.2" or "Article 5", not a list's."""
    read = numbering.read(f"{number} X")
    return read is not None and (read.depth > 1 or read.kind != "bare")


def _outline_level(properties: Element | None) -> int:
    """1 for the outermost; 0 when it is not said, 10 for body text."""
    level = value(properties, "outlineLvl")
    return int(level) + 1 if level else 0


def _mark_field(fields: list[str], mark: str) -> None:
    if mark == "begin":
        fields.append(mark)
    elif fields:
        fields.pop()
        if mark == "separate":
            fields.append(mark)


def _symbol(code: str) -> str:
    """A character of a symbol font; few of them are known."""
    return _SYMBOLS.get(int(code or "0", 16) & 0xFF, UNREADABLE)


def _styles(root: Element | None) -> dict[str, _Style]:
    elements = {} if root is None else {s.get(f"{W}styleId", ""): s for s in root.iter(f"{W}style")}
    return {id_: _style(elements, id_) for id_ in elements}


def _style(elements: Mapping[str, Element], id_: str) -> _Style:
    """A style with what it takes from those it is based on."""
    level, list_id, list_level, hidden = 0, "", "", False
    seen: set[str] = set()
    while id_ in elements and id_ not in seen:
        seen.add(id_)
        element = elements[id_]
        properties = element.find(f"{W}pPr")
        name = value(element, "name").lower()
        named = _HEADING_NAME.fullmatch(name)
        level = level or _outline_level(properties) or (int(named[1]) if named else name == "title")
        numbered = None if properties is None else properties.find(f"{W}numPr")
        list_id = list_id or value(numbered, "numId")
        list_level = list_level or value(numbered, "ilvl")
        hidden = hidden or _is_on(element.find(f"{W}rPr"), "vanish")
        id_ = value(element, "basedOn")
    return _Style(int(level), list_id, list_level, hidden)


def _notes(root: Element | None, kind: str) -> dict[tuple[str, str], Element]:
    """Notes by id, without the lines that part them from the text."""
    if root is None:
        return {}
    return {
        (kind, note.get(f"{W}id", "")): note
        for note in root.iter(f"{W}{kind}")
        if note.get(f"{W}type", "normal") == "normal"
    }
