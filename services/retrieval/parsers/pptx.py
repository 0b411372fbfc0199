"""PPTX: a page for each slide: its title, its words shape after shape, its tables, its notes."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from services.retrieval.document import ParsedDocument
from services.retrieval.parsers import limits, office
from services.retrieval.parsers.characters import superscript
from services.retrieval.parsers.flow import Flow

CONTENT_TYPE = "application/vnd.openxmlformats-officedocument.presentationml.presentation"

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_TITLES = {"title", "ctrTitle"}
_FURNITURE = {"dt", "ftr", "hdr", "sldNum"}
_TRUE = {"1", "true", "on"}
_NOT_STRUCK = "noStrike"


def parse(data: bytes, max_pages: int) -> ParsedDocument:
    """Read a presentation as it is shown: hidden slides are pages without text.

    What a slide inherits from its layout, what is struck out, comments, charts and pictures are
    left out.
    """
    with office.opened(data) as package:
        if package.main is None:
            raise office.damaged("it has no slides")
        slides = list(_slides(package, package.main.part))
        limits.check_page_count(len(slides), max_pages)
        flow = Flow()
        for number, part in enumerate(slides):
            if number:
                flow.end_page()
            _write(flow, package, part)
        return flow.document(CONTENT_TYPE)


def _slides(package: office.Package, main: str) -> Iterator[str]:
    """The parts of the slides in their order."""
    parts = {relation.id: relation.part for relation in package.relationships(main)}
    for slide in package.xml(main).iter(f"{_P}sldId"):
        part = parts.get(slide.get(f"{_R}id", ""), "")
        if part not in package:
            raise office.damaged("a slide is missing")
        yield part


def _write(flow: Flow, package: office.Package, part: str) -> None:
    slide = package.xml(part)
    if slide.get("show", "1") not in _TRUE:
        return
    shapes = [shape for tree in slide.iter(f"{_P}spTree") for shape in _shapes(tree)]
    for shape in sorted(shapes, key=lambda shape: _kind(shape) not in _TITLES):
        _write_shape(flow, shape)
    for relation in package.relationships(part):
        if relation.kind == "notesSlide" and relation.part in package:
            for tree in package.xml(relation.part).iter(f"{_P}spTree"):
                for shape in _shapes(tree):
                    if _kind(shape) == "body":
                        _write_shape(flow, shape)


def _shapes(tree: Element) -> Iterator[Element]:
    """The shapes and frames of a slide that are seen, those in groups too."""
    for child in tree:
        names = child.find(f"./*/{_P}cNvPr")
        if names is not None and names.get("hidden", "0") in _TRUE:
            continue
        if child.tag in {f"{_P}sp", f"{_P}graphicFrame"}:
            yield child
        elif child.tag == f"{_P}grpSp":
            yield from _shapes(child)
        elif child.tag == f"{_MC}AlternateContent" and len(child):
            # The same twice, for programs that know more and for those that know less.
            yield from _shapes(child[0])


def _kind(shape: Element) -> str:
    """What a shape is for; "obj" is a body's word too."""
    placeholder = shape.find(f"./*/{_P}nvPr/{_P}ph")
    return "" if placeholder is None else placeholder.get("type", "obj")


def _write_shape(flow: Flow, shape: Element) -> None:
    for table in shape.iter(f"{_A}tbl"):
        properties = table.find(f"{_A}tblPr")
        has_header = properties is not None and properties.get("firstRow", "0") in _TRUE
        flow.table(list(_rows(table, has_header=has_header)), int(has_header))
    body = shape.find(f"{_P}txBody")
    if body is None:
        return
    kind = _kind(shape)
    paragraphs = [words for p in body.iter(f"{_A}p") if (words := _words(p).strip())]
    if kind in _TITLES:
        flow.heading(" ".join(paragraphs), 1)
    elif kind in _FURNITURE:
        flow.furniture(" ".join(paragraphs))
    elif len(paragraphs) == 1:
        flow.paragraph(paragraphs[0])
    else:
        for words in paragraphs:
            flow.item(words)


def _words(paragraph: Element) -> str:
    written = []
    for child in paragraph:
        if child.tag == f"{_A}br":
            written.append("\n")
        elif child.tag in {f"{_A}r", f"{_A}fld"}:
            words = "".join(text.text or "" for text in child.iter(f"{_A}t"))
            properties = child.find(f"{_A}rPr")
            looks = {} if properties is None else properties.attrib
            # "5" struck out before "6%" must not be read as "56%".
            if looks.get("strike", _NOT_STRUCK) == _NOT_STRUCK:
                raised = _is_raised(looks.get("baseline", "0"))
                written.append(superscript(words) if raised else words)
    return "".join(written)


def _is_raised(baseline: str) -> bool:
    return baseline.rstrip("%").isdecimal() and int(baseline.rstrip("%")) > 0


def _rows(table: Element, *, has_header: bool) -> Iterator[list[str]]:
    above: list[str] = []
    for number, row in enumerate(table.iter(f"{_A}tr")):
        cells: list[str] = []
        for cell in row.iter(f"{_A}tc"):
            words = " ".join(filter(None, (_words(p).strip() for p in cell.iter(f"{_A}p"))))
            column = len(cells)
            if cell.get("hMerge", "0") in _TRUE:
                # In a header the words of a cell stand for all columns that it spans.
                words = cells[-1] if cells and has_header and number == 0 else ""
            elif cell.get("vMerge", "0") in _TRUE and column < len(above):
                words = above[column]
            cells.append(words)
        above = cells
        yield cells
