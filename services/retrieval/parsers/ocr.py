"""The words on a page that is a picture, as the tesseract program reads them."""

import shutil
import subprocess
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt
from statistics import fmean, median

import pypdfium2
import pypdfium2.raw as pdfium

from services.retrieval.document import Box
from services.retrieval.parsers.characters import MADE_READABLE, UNREADABLE
from services.retrieval.parsers.pdf_page import PrintedLine, PrintedPage

_DPI = 300
_POINTS_PER_INCH = 72
_MAX_PIXELS = 16_000_000
_PAGE_SECONDS = 20.0
# A picture that covers so much of a page is what the page says, where no more is printed on it than
# a stamp, such as a court's or that of an electronic signature.
_COVERED = 0.5
_STAMP_CHARACTERS = 200
# A line this much higher than a word is no line of words: it runs across the page.
_HIGHER = 3.0
# Of the rows of tesseract's table, those that are words.
_WORD = "5"
_COLUMNS = 12


@dataclass(frozen=True, slots=True)
class Recognized:
    """The lines of a page, and how sure it is of their words, from 0 to 1."""

    lines: tuple[PrintedLine, ...]
    confidence: float


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    box: Box
    confidence: float


def is_picture(page: pypdfium2.PdfPage, printed: PrintedPage) -> bool:
    """Whether a page has no readable text, or a stamp's on a picture that covers the page."""
    characters = len("".join(printed.text.replace(UNREADABLE, "").split()))
    if not characters or characters > _STAMP_CHARACTERS:
        return not characters
    width, height = printed.frame.size
    pictures = (
        printed.frame.displayed([picture.get_bounds()])
        for picture in page.get_objects([pdfium.FPDF_PAGEOBJ_IMAGE])
    )
    covered = sum((box.right - box.left) * (box.bottom - box.top) for box in pictures if box)
    return covered >= _COVERED * width * height


def lacking(languages: str) -> str:
    """Why text in pictures is not read here, or not in all of these languages; empty if it is."""
    program = shutil.which("tesseract")
    if program is None:
        return "tesseract is not installed"
    try:
        listed = subprocess.run(  # noqa: S603 - as below
            [program, "--list-langs"], capture_output=True, timeout=_PAGE_SECONDS, check=True
        ).stdout.decode("utf-8", errors="replace")
    except (OSError, subprocess.SubprocessError):
        return "tesseract does not run"
    missing = [name for name in languages.split("+") if name not in listed.split()]
    return f"tesseract has no data for {', '.join(missing)}" if missing else ""


class Recognizer:
    """Reads pages while there is time; without tesseract on the path it reads none.

    Args:
        seconds: For all pages together; at most a third of a minute goes to one.
        languages: Those of the text, as tesseract names them, such as "eng+deu".
    """

    def __init__(self, *, seconds: float, languages: str) -> None:
        self._program = shutil.which("tesseract") if seconds > 0 else None
        self._languages = languages
        self._ends = time.monotonic() + seconds

    def read(
        self, page: pypdfium2.PdfPage, printed: Sequence[PrintedLine] = ()
    ) -> Recognized | None:
        """What is on a page beside what is printed; None when it could not be read, or is blank."""
        left = min(_PAGE_SECONDS, self._ends - time.monotonic())
        if self._program is None or left <= 0 or not pdfium.FPDFPage_CountObjects(page):
            return None
        width, height = page.get_size()
        scale = min(_DPI / _POINTS_PER_INCH, sqrt(_MAX_PIXELS / (width * height)))
        # What is filled into a form is read from its fields.
        image = page.render(scale=scale, grayscale=True, may_draw_forms=False).to_pil().convert("L")
        picture = b"P5 %d %d 255\n" % image.size + image.tobytes()
        dpi = str(round(scale * _POINTS_PER_INCH))
        try:
            done = subprocess.run(  # noqa: S603 - the program, and a setting
                [self._program, "stdin", "stdout", "-l", self._languages, "--dpi", dpi, "tsv"],
                input=picture,
                capture_output=True,
                timeout=left,
                check=True,
            )
        except subprocess.SubprocessError:
            return None
        return _recognized(done.stdout.decode("utf-8", errors="replace"), scale, printed)


def _recognized(table: str, scale: float, printed: Sequence[PrintedLine]) -> Recognized | None:
    words = list(_words(table, scale))
    if not words:
        return None
    lines: defaultdict[tuple[str, ...], list[_Word]] = defaultdict(list)
    for place, word in words:
        if not any(_is_of(word.box, line.box) for line in printed):
            lines[place].append(word)
    if not lines:
        return Recognized((), 1.0)
    # One size for all: what a line's letters happen to be would make headings of some.
    size = median(word.box.bottom - word.box.top for words in lines.values() for word in words)
    return Recognized(
        tuple(_line(words, size) for words in lines.values()),
        fmean(word.confidence for words in lines.values() for word in words),
    )


def _is_of(word: Box, line: Box) -> bool:
    """Whether a word stands in a line, which the file prints by itself."""
    across, down = (word.left + word.right) / 2, (word.top + word.bottom) / 2
    return (
        line.left <= across <= line.right
        and line.top <= down <= line.bottom
        and line.bottom - line.top <= _HIGHER * (word.bottom - word.top)
    )


def _words(table: str, scale: float) -> Iterator[tuple[tuple[str, ...], _Word]]:
    """Words with the block, paragraph and line that they are in."""
    for row in table.split("\n"):
        cells = row.split("\t")
        if len(cells) != _COLUMNS or cells[0] != _WORD or not cells[11].strip():
            continue
        left, top, width, height = (int(cell) / scale for cell in cells[6:10])
        yield (
            tuple(cells[1:5]),
            _Word(
                "".join(cells[11].split()).translate(MADE_READABLE),
                Box(left, top, left + width, top + height),
                max(0.0, float(cells[10])) / 100,
            ),
        )


def _line(words: list[_Word], size: float) -> PrintedLine:
    gaps = (after.box.left - before.box.right for before, after in pairwise(words))
    return PrintedLine(
        text=" ".join(word.text for word in words),
        first=-1,
        box=Box(
            min(word.box.left for word in words),
            min(word.box.top for word in words),
            max(word.box.right for word in words),
            max(word.box.bottom for word in words),
        ),
        size=size,
        bold=False,
        gap=max(gaps, default=0.0) / size if size else 0.0,
    )
