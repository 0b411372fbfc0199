"""Builds the sample PDFs from samples/source and proves that pinned sentences kept their page."""

import argparse
from pathlib import Path
from typing import Any

import pypdfium2 as pdfium
import yaml
from reportlab.lib.colors import HexColor
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    BaseDocTemplate,
    Flowable,
    Frame,
    HRFlowable,
    PageBreak,
    PageTemplate,
    Paragraph,
    Spacer,
    Table,
)

from samples.markup import FRAME_WIDTH, RULE, Entry, Heading, Look, story

HERE = Path(__file__).parent
MARGIN = (A4[0] - FRAME_WIDTH) / 2
GREY = HexColor("#5B6470")


class MovedError(Exception):
    """A pinned sentence is no longer on its page."""


class Pages(BaseDocTemplate):  # type: ignore[misc]  # reportlab is published without types.
    """One pass over a document: running header and footer, outline, and the headings it met."""

    def __init__(self, target: Path, meta: dict[str, Any], page_count: int) -> None:
        super().__init__(
            str(target),
            pagesize=A4,
            title=meta["title"],
            author=meta["organisation"],
            subject=meta.get("subtitle", ""),
            # Same source, same bytes: no build date and no random document id.
            invariant=1,
        )
        self.meta, self.page_count = meta, page_count
        self.entries: list[Entry] = []
        frame = Frame(MARGIN, 24 * mm, FRAME_WIDTH, A4[1] - 50 * mm, 0, 0, 0, 0)
        template = PageTemplate(frames=[frame], onPage=self.header, onPageEnd=self.footer)
        self.addPageTemplates(template)

    def header(self, canvas: Canvas, _: BaseDocTemplate) -> None:
        texts = (self.meta["organisation"], self.meta["running_title"])
        self.furniture(canvas, A4[1] - 17 * mm, -5, texts)

    def footer(self, canvas: Canvas, _: BaseDocTemplate) -> None:
        texts = (self.meta["footer"], f"Page {self.page} of {self.page_count}")
        self.furniture(canvas, 16 * mm, 11, texts)

    def furniture(self, canvas: Canvas, height: float, rule: float, texts: tuple[str, str]) -> None:
        left, right = MARGIN, A4[0] - MARGIN
        canvas.saveState()
        canvas.setFont("Helvetica", 7.5)
        canvas.setFillColor(GREY)
        canvas.drawString(left, height, texts[0])
        canvas.drawRightString(right, height, texts[1])
        canvas.setStrokeColor(RULE)
        canvas.setLineWidth(0.5)
        canvas.line(left, height + rule, right, height + rule)
        canvas.restoreState()

    def afterFlowable(self, flowable: Flowable) -> None:
        if isinstance(flowable, Heading):
            key = f"heading-{len(self.entries)}"
            self.canv.bookmarkPage(key)
            self.canv.addOutlineEntry(flowable.title, key, flowable.level, closed=False)
            self.entries.append(Entry(flowable.level, flowable.title, self.page))


def front(meta: dict[str, Any], look: Look) -> list[Flowable]:
    """The title block: a whole page when the source asks for a cover, else a masthead."""
    cover = meta.get("cover", False)
    size = 30 if cover else 19
    title = ParagraphStyle(
        "title", fontName="Helvetica-Bold", fontSize=size, leading=size * 1.2, spaceAfter=6
    )
    small = ParagraphStyle("small", look.body, textColor=GREY, spaceAfter=4)
    kicker = ParagraphStyle("kicker", small, fontName="Helvetica-Bold", textColor=look.accent)
    facts = [
        [Paragraph(f"<b>{name}</b>", look.cell), Paragraph(str(value), look.cell)]
        for name, value in meta.get("facts", {}).items()
    ]
    block: list[Flowable] = [
        Spacer(1, 55 * mm if cover else 2 * mm),
        Paragraph(meta["organisation"], kicker),
        Paragraph(meta["title"], title),
        Paragraph(meta.get("subtitle", ""), small),
        HRFlowable(width="100%", thickness=1.4, color=look.accent, spaceBefore=4, spaceAfter=10),
    ]
    if facts:
        style = [
            ("LINEBELOW", (0, 0), (-1, -1), 0.4, RULE),
            ("VALIGN", (0, 0), (-1, -1), "TOP"),
            ("LEFTPADDING", (0, 0), (-1, -1), 2),
        ]
        widths = [45 * mm, FRAME_WIDTH - 45 * mm]
        block.append(Table(facts, colWidths=widths, style=style, spaceAfter=12))
    return [*block, PageBreak()] if cover else block


def read(source: Path) -> tuple[dict[str, Any], str]:
    """The front matter and the Markdown of a source file."""
    _, head, body = source.read_text(encoding="utf-8").split("---\n", 2)
    meta: dict[str, Any] = yaml.safe_load(head)
    return meta, body


def build(source: Path, folder: Path) -> Path:
    """Typesets one source, repeated until contents and page count agree with the pages."""
    meta, body = read(source)
    target = folder / f"{source.stem}.pdf"
    look = Look(meta["accent"], meta.get("font", "Helvetica"), meta.get("size", 10))
    known: tuple[list[Entry], int] = ([], 0)
    while True:
        pages = Pages(target, meta, known[1])
        flow = story(body, look, known[0], meta.get("new_page_at", 0))
        pages.build([*front(meta, look), *flow])
        if (pages.entries, pages.page) == known:
            break
        known = (pages.entries, pages.page)
    check(target, meta.get("pinned", {}))
    return target


def page_texts(path: Path) -> list[str]:
    """The text of each page with every run of white space as one space."""
    with pdfium.PdfDocument(path) as pdf:
        return [" ".join(page.get_textpage().get_text_range().split()) for page in pdf]


def check(path: Path, pinned: dict[int, str]) -> None:
    """Fails when a pinned sentence is not on exactly its physical page."""
    texts = page_texts(path)
    for page, sentence in pinned.items():
        found = [number for number, text in enumerate(texts, start=1) if sentence in text]
        if found != [page]:
            raise MovedError(f"{path.name}: {sentence!r} must be on page {page}, is on {found}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=HERE, help="folder for the PDFs")
    folder: Path = parser.parse_args().out
    folder.mkdir(parents=True, exist_ok=True)
    for source in sorted((HERE / "source").glob("*.md")):
        target = build(source, folder)
        print(f"{target.name}: {len(page_texts(target))} pages")


if __name__ == "__main__":
    main()
