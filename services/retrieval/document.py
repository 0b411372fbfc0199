"""What a document is once it is read: its text, and where each line of it stands.

All offsets count Unicode code points in `ParsedDocument.text`; spans are half-open.
"""

from collections.abc import Callable
from dataclasses import dataclass

# Is told how many pages are read, and how many there are.
OnPages = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in PDF points from the top left corner of the page as displayed."""

    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class Line:
    """One printed line; `box` is None where the source has no pages."""

    start: int
    end: int
    page_number: int
    box: Box | None


@dataclass(frozen=True, slots=True)
class Page:
    """One physical page, numbered from 1; pages follow each other without gap or overlap.

    `label` is the number that is printed on it, such as "F-12" or "iv"; empty when none is.
    """

    number: int
    start: int
    end: int
    label: str = ""


@dataclass(frozen=True, slots=True)
class OcrPage:
    """A page whose text was recognized in its picture, and how surely, from 0 to 1."""

    number: int
    confidence: float


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading in the text: level 1 is outermost, `section_id` such as "4.2" may be empty."""

    start: int
    end: int
    level: int
    section_id: str
    title: str


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """A file's text with its layout.

    Attributes:
        text: Everything that is printed, page after page.
        pages: At least one, ascending; sources without pages have one that spans the text.
        lines: Ascending, without overlap.
        headings: Ascending.
        furniture: Spans of running headers and footers, ascending: part of the text, kept out of
            passages' embeddings.
        content_type: Media type found in the bytes.
        has_page_images: Whether a page can be rendered.
        paragraphs: Where paragraphs start, ascending; the file's layout says more than its text.
        tables: Spans to be kept whole where possible, ascending, without overlap: tables, listings.
        ocr_pages: Pages that were read from a picture, ascending.
        unread_pictures: Numbers of the pages that are a picture that could not be read, ascending;
            a stamp may be printed on it.
        charset: Encoding that the bytes of a text were read in, as Python names it; empty for other
            kinds, and where none could be declared that reads otherwise.
    """

    text: str
    pages: tuple[Page, ...]
    lines: tuple[Line, ...]
    headings: tuple[Heading, ...]
    furniture: tuple[tuple[int, int], ...]
    content_type: str
    has_page_images: bool
    paragraphs: tuple[int, ...] = ()
    tables: tuple[tuple[int, int], ...] = ()
    ocr_pages: tuple[OcrPage, ...] = ()
    unread_pictures: tuple[int, ...] = ()
    charset: str = ""

    @property
    def pages_without_text(self) -> tuple[int, ...]:
        """Numbers of the pages on which nothing is printed, or a stamp on an unread picture."""
        return tuple(
            page.number
            for page in self.pages
            if page.number in self.unread_pictures or not self.text[page.start : page.end].strip()
        )


@dataclass(frozen=True, slots=True)
class Chunk:
    """A span of the text to be indexed as one passage."""

    start: int
    end: int
    page_number: int
    section_id: str
    heading_path: tuple[str, ...]
