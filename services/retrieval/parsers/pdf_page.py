"""One PDF page as lines of text with the place of every character, as PDFium reads it."""

import ctypes
import math
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import pypdfium2
import pypdfium2.raw as pdfium

from services.retrieval.document import Box
from services.retrieval.parsers.characters import MADE_READABLE, UNREADABLE

# A page's own form feed would read as a page break.
_CHARACTERS = {**MADE_READABLE, ord("\f"): UNREADABLE, 0x02: "-"}
# PDFium marks the hyphen of a hyphenated line by U+0002 and writes no break after it; every other
# line ends with CR LF.
_LINE = re.compile("[^\r\n\x02]*\x02|[^\r\n\x02]+")

_WORD = re.compile(r"\S+")
_BOLD_NAME = re.compile(rb"bold|black|heavy|demi", re.IGNORECASE)
# Two words further apart than this many times the type size stand in different columns.
COLUMN_GAP = 1.5

# Left, bottom, right, top in the page's own space, where y points up.
Rectangle = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Frame:
    """The part of a page's space that is displayed, and how it is turned."""

    left: float
    bottom: float
    right: float
    top: float
    rotation: int

    @property
    def size(self) -> tuple[float, float]:
        """Width and height as displayed."""
        width, height = self.right - self.left, self.top - self.bottom
        return (height, width) if self.rotation in {90, 270} else (width, height)

    def displayed(self, rectangles: Sequence[Rectangle]) -> Box | None:
        """The box around the rectangles, cut at the page's edges; None when it is off the page."""
        if not rectangles:
            return None
        lefts, bottoms, rights, tops = zip(*rectangles, strict=True)
        left, right = max(min(lefts), self.left), min(max(rights), self.right)
        bottom, top = max(min(bottoms), self.bottom), min(max(tops), self.top)
        if left > right or bottom > top:
            return None
        match self.rotation:
            case 90:
                edges = (
                    bottom - self.bottom,
                    left - self.left,
                    top - self.bottom,
                    right - self.left,
                )
            case 180:
                edges = (
                    self.right - right,
                    bottom - self.bottom,
                    self.right - left,
                    top - self.bottom,
                )
            case 270:
                edges = (self.top - top, self.right - right, self.top - bottom, self.right - left)
            case _:
                edges = (left - self.left, self.top - top, right - self.left, self.top - bottom)
        return Box(*edges)


class Places:
    """Where each character of a page stands, in the page's own space."""

    def __init__(self, raw_textpage: object, count: int) -> None:
        rectangles = (pdfium.FS_RECTF * count)()
        # The loose box is as high as the font, so that the boxes of one line have one height.
        loose_box = pdfium.FPDFText_GetLooseCharBox
        for index, rectangle in enumerate(rectangles):
            loose_box(raw_textpage, index, rectangle)
        edges = memoryview(rectangles).cast("B").cast("f")
        self._lefts, self._tops, self._rights, self._bottoms = (edges[n::4] for n in range(4))

    def of_words(self, text: str, first: int) -> list[Rectangle]:
        """Around each word of a text whose characters are those from `first` on."""
        return [
            self._around(first + word.start(), first + word.end()) for word in _WORD.finditer(text)
        ]

    def _around(self, start: int, end: int) -> Rectangle:
        return (
            min(self._lefts[start:end]),
            min(self._bottoms[start:end]),
            max(self._rights[start:end]),
            max(self._tops[start:end]),
        )


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
        columns: Whether it has a gap as wide as between the columns of a table.
    """

    text: str
    first: int
    box: Box
    size: float
    bold: bool
    columns: bool


@dataclass(frozen=True, slots=True)
class PrintedPage:
    """A page's lines in the order in which they are printed, and each character's place."""

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
    exceptions: a hyphen at the end of a line is "-" whatever it was, and a glyph that stands for
    no character (control codes, lone surrogates, U+0000) is U+FFFD. Lines that are blank or wholly
    outside the displayed page are left out: they are not printed.
    """
    left, bottom, right, top = page.get_bbox()
    frame = Frame(left, bottom, right, top, page.get_rotation())
    textpage = page.get_textpage()
    try:
        raw = textpage.raw
        # One foreign call per character and property: everything else is done on whole lines.
        unicode = pdfium.FPDFText_GetUnicode
        count = textpage.count_chars()
        codes = [unicode(raw, index) for index in range(count)]
        # Broken fonts give codes beyond the last character.
        characters = "".join([chr(code) if code <= sys.maxunicode else "\0" for code in codes])
        places = Places(raw, count)
        lines = tuple(_lines(raw, characters, places, frame))
    finally:
        textpage.close()
    return PrintedPage(frame, lines, places)


def _lines(raw: object, characters: str, places: Places, frame: Frame) -> Iterator[PrintedLine]:
    for match in _LINE.finditer(characters):
        text = match.group().translate(_CHARACTERS)
        first = match.start()
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
            columns=_widest_gap(words) > COLUMN_GAP * size,
        )


def _widest_gap(words: Sequence[Rectangle]) -> float:
    # Along either axis, for text may run upwards.
    return max(
        (max(b[0] - a[2], b[1] - a[3], a[1] - b[3]) for a, b in pairwise(words)), default=0.0
    )


def _type_size(raw: object, index: int) -> float:
    matrix = pdfium.FS_MATRIX()
    pdfium.FPDFText_GetMatrix(raw, index, ctypes.byref(matrix))
    return float(pdfium.FPDFText_GetFontSize(raw, index) * math.hypot(matrix.c, matrix.d))


def _is_bold(raw: object, index: int) -> bool:
    name = ctypes.create_string_buffer(128)
    pdfium.FPDFText_GetFontInfo(raw, index, name, len(name), None)
    return _BOLD_NAME.search(name.value) is not None
