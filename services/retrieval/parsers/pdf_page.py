"""One PDF page as lines of text with the place of every character, as PDFium reads it."""

import ctypes
import math
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import pypdfium2
import pypdfium2.raw as pdfium

from services.retrieval.document import Box
from services.retrieval.parsers import pdf_cells, pdf_columns, pdf_marks
from services.retrieval.parsers.characters import MADE_READABLE, UNREADABLE
from services.retrieval.parsers.pdf_frame import Frame, Rectangle, side_by_side

# A page's own form feed would read as a page break.
_CHARACTERS = {**MADE_READABLE, ord("\f"): UNREADABLE, 0x02: "-"}
# PDFium marks the hyphen of a hyphenated line by U+0002 and writes no break after it; every other
# line ends with CR LF.
_LINE = re.compile("[^\r\n\x02]*\x02|[^\r\n\x02]+")

_WORD = re.compile(r"\S+")
# Scripts in which a word's outermost characters are not its first and last, or not of its height.
_LEAPING = re.compile("[\u0590-\u1cff\u2e80-\uffff]")
# The weight that a file states is no help: of Times it is 415 in bold and 610 in italics. The last
# three are how URW, TeX and Linotype abbreviate.
_BOLD_NAME = re.compile(
    rb"bold|black|heavy|demi|-medi(?:ital)?$|(?:cm|sf|ec)(?:ss)?bx|-bd", re.IGNORECASE
)
# Of the text that comes in one piece: hyphens at a line's end are U+FFFE, and a code that is too
# large has lost its upper half, which leaves one for private use more often than not.
_DOUBTFUL = re.compile("[\ue000-\uf8ff\ufff0-\uffff]")
# Lam and alef are written as one glyph. PDFium, which turns what runs from right to left, turns the
# two letters of the glyph as well.
_ALEF_LAM = re.compile("[\u0622\u0623\u0625\u0627]\u0644")
# Two words further apart than this many times the type size stand in different columns.
COLUMN_GAP = 1.5


class Places:
    """Where each character of a page stands, in the page's own space; asked of PDFium when needed.

    One foreign call per character would be most of what reading a page costs.
    """

    def __init__(self, textpage: pypdfium2.PdfTextPage) -> None:
        self._textpage = textpage

    def of_words(self, text: str, first: int) -> list[Rectangle]:
        """Around each word of a text whose characters are those from `first` on."""
        raw, step = self._textpage.raw, 1
        # The outermost characters say where a word stands, where writing runs straight.
        outermost = not _LEAPING.search(text)
        places = []
        for word in _WORD.finditer(text):
            start, end = first + word.start(), first + word.end()
            if outermost:
                step = max(end - start - 1, 1)
            places.append(_around(raw, range(start, end, step)))
        return places


def _around(raw: object, indices: Sequence[int]) -> Rectangle:
    box = pdfium.FS_RECTF()
    # The loose box is as high as the font, so that the boxes of one line have one height.
    loose_box = pdfium.FPDFText_GetLooseCharBox
    loose_box(raw, indices[0], box)
    left, bottom, right, top = box.left, box.bottom, box.right, box.top
    for index in indices[1:]:
        loose_box(raw, index, box)
        left, right = min(left, box.left), max(right, box.right)
        bottom, top = min(bottom, box.bottom), max(top, box.top)
    return left, bottom, right, top


@dataclass(frozen=True, slots=True)
class PrintedLine:
    """A line of a page.

    Attributes:
        text: Its characters, without a line break.
        first: Its first character among all of the page; the others follow. -1 for words that are
            not printed as characters: in a form's field, in a picture.
        box: Around all that is visible of it.
        size: Type size of its first visible character, in points; 0 in a form's field.
        bold: Whether it begins and ends in bold type.
        gap: The widest between two of its words, in type sizes.
    """

    text: str
    first: int
    box: Box
    size: float
    bold: bool
    gap: float

    @property
    def columns(self) -> bool:
        """Whether it has a gap as wide as between the columns of a table."""
        return self.gap > COLUMN_GAP


@dataclass(frozen=True, slots=True)
class PrintedPage:
    """A page's lines in the order in which they are printed; places while the page is open."""

    frame: Frame
    lines: tuple[PrintedLine, ...]
    places: Places

    @property
    def text(self) -> str:
        """The lines joined by a line feed."""
        return "\n".join(line.text for line in self.lines)

    def box_of(self, line: int, start: int, end: int) -> Box | None:
        """Around the visible characters from `start` to `end` of a line; None when none are."""
        printed = self.lines[line]
        if printed.first < 0:
            return printed.box
        return self.frame.displayed(
            self.places.of_words(printed.text[start:end], printed.first + start)
        )


def read(page: pypdfium2.PdfPage) -> PrintedPage:
    """Read a page.

    Characters are kept as the file gives them, ligatures and soft hyphens included, with these
    exceptions: a hyphen at the end of a line is "-" whatever it was, digits set above the end of a
    figure are superscript ones, lam and alef of one glyph are in the order of writing, and a glyph
    that stands for no character (control codes, lone surrogates, U+0000) is U+FFFD. Lines that are
    blank or wholly outside the displayed page are left out: they are not printed.
    """
    left, bottom, right, top = page.get_bbox()
    frame = Frame(left, bottom, right, top, page.get_rotation())
    textpage = page.get_textpage()
    places = Places(textpage)
    characters = _ALEF_LAM.sub(partial(_turned_back, textpage.raw), _characters(textpage))
    printed = list(_lines(textpage.raw, characters, places, frame))
    order = pdf_cells.by_row([line.box for line in printed], [line.text for line in printed])
    lines = [printed[index] for index in order]
    return PrintedPage(frame, tuple(_in_order(lines, places, frame)), places)


def _in_order(lines: Sequence[PrintedLine], places: Places, frame: Frame) -> Iterator[PrintedLine]:
    """The lines, or where the page has columns that are printed row by row, their parts."""
    # Most pages have few lines of words with a gap, or beside another, and need no closer look.
    wide = sum(
        line.gap > pdf_columns.GUTTER and pdf_columns.may_be_prose(line.text) for line in lines
    )
    beside = sum(
        pdf_columns.may_be_prose(f"{a.text} {b.text}") and side_by_side(a.box, b.box)
        for a, b in pairwise(lines)
    )
    if wide + beside < pdf_columns.MIN_ROWS:
        yield from lines
        return
    rows = [list(_strips(index, line, places, frame)) for index, line in enumerate(lines)]
    order = pdf_columns.in_order(
        rows, lambda one, other: side_by_side(lines[one].box, lines[other].box)
    )
    if order is None:
        yield from lines
        return
    for index, start, end in order:
        line = lines[index]
        words = places.of_words(line.text[start:end], line.first + start)
        box = frame.displayed(words)
        if box is not None:
            yield replace(
                line,
                text=line.text[start:end],
                first=line.first + start,
                box=box,
                gap=_widest_gap(words, line.size),
            )


def _strips(
    index: int, line: PrintedLine, places: Places, frame: Frame
) -> Iterator[pdf_columns.Strip]:
    start, box = 0, None
    end = 0

    def strip(end: int, box: Box) -> pdf_columns.Strip:
        edges = (box.left, line.box.top, box.right, line.box.bottom)
        return pdf_columns.Strip(index, start, end, *edges, line.text[start:end])

    words = _WORD.finditer(line.text)
    for word, place in zip(words, places.of_words(line.text, line.first), strict=True):
        edges = frame.displayed([place])
        if edges is None:
            continue
        if box is not None and edges.left - box.right > pdf_columns.GUTTER * line.size:
            yield strip(end, box)
            start, box = word.start(), None
        end = word.end()
        box = edges if box is None else replace(box, right=max(box.right, edges.right))
    if box is not None:
        yield strip(len(line.text), box)


def _characters(textpage: pypdfium2.PdfTextPage) -> str:
    """The page's characters, each at its index."""
    raw, count = textpage.raw, textpage.count_chars()
    units = (ctypes.c_ushort * (count + 1))()
    written = pdfium.FPDFText_GetText(raw, 0, count, units) - 1
    # What comes in one piece lacks characters without a meaning, and parts those beyond U+FFFF: on
    # such a page each must be asked for by its index.
    if written == count:
        characters = bytes(units)[: 2 * count].decode("utf-16-le", errors="replace")
        if len(characters) == count:
            return _DOUBTFUL.sub(lambda match: _character(raw, match.start()), characters)
    return "".join([_character(raw, index) for index in range(count)])


def _character(raw: object, index: int) -> str:
    code = pdfium.FPDFText_GetUnicode(raw, index)
    # Broken fonts give codes beyond the last character.
    return chr(code) if code <= sys.maxunicode else "\0"


def _turned_back(raw: object, alef_lam: re.Match[str]) -> str:
    """Lam before alef where both are of one glyph; as it is where they are two, the article."""
    first, second = (_around(raw, [index]) for index in (alef_lam.start(), alef_lam.start() + 1))
    return alef_lam[0][::-1] if first == second else alef_lam[0]


def _lines(raw: object, characters: str, places: Places, frame: Frame) -> Iterator[PrintedLine]:
    for match in _LINE.finditer(characters):
        first = match.start()
        text = pdf_marks.with_raised_marks(raw, match.group().translate(_CHARACTERS), first)
        words = places.of_words(text, first)
        box = frame.displayed(words)
        if box is None:
            continue
        first_visible = first + len(text) - len(text.lstrip())
        last_visible = first + len(text.rstrip()) - 1
        size = _type_size(raw, first_visible)
        yield PrintedLine(
            text=text,
            first=first,
            box=box,
            size=size,
            # A line that only begins in bold has a word run in, as "Example. A holds ...".
            bold=_is_bold(raw, first_visible) and _is_bold(raw, last_visible),
            gap=_widest_gap(words, size),
        )


def _widest_gap(words: Sequence[Rectangle], size: float) -> float:
    # Along either axis, for text may run upwards.
    gaps = (max(b[0] - a[2], b[1] - a[3], a[1] - b[3]) for a, b in pairwise(words))
    return max(gaps, default=0.0) / size if size else 0.0


def _type_size(raw: object, index: int) -> float:
    matrix = pdfium.FS_MATRIX()
    pdfium.FPDFText_GetMatrix(raw, index, ctypes.byref(matrix))
    return float(pdfium.FPDFText_GetFontSize(raw, index) * math.hypot(matrix.c, matrix.d))


def _is_bold(raw: object, index: int) -> bool:
    name = ctypes.create_string_buffer(128)
    pdfium.FPDFText_GetFontInfo(raw, index, name, len(name), None)
    return _BOLD_NAME.search(name.value) is not None
