"""Markdown to reportlab flowables: headings, prose, lists, tables, notes and page breaks."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from xml.sax.saxutils import escape

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode
from reportlab.lib.colors import Color, HexColor
from reportlab.lib.enums import TA_RIGHT
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.platypus import Flowable, HRFlowable, PageBreak, Paragraph, Spacer, Table

FRAME_WIDTH = 160 * mm
RULE = HexColor("#B8BEC6")
TINT = HexColor("#F2F4F7")
PADDING = 5


class Heading(Paragraph):  # type: ignore[misc]  # reportlab is published without types.
    """A paragraph that the page maker lists in the outline and the contents."""

    def __init__(self, markup: str, style: ParagraphStyle, level: int) -> None:
        super().__init__(markup, style)
        self.level = level
        self.title = self.getPlainText()


@dataclass(frozen=True)
class Entry:
    """A heading and the physical page it came out on."""

    level: int
    title: str
    page: int


class Look:
    """The paragraph styles of one document, from its two fonts and its accent colour."""

    def __init__(self, accent: str, body_font: str = "Helvetica", size: float = 10) -> None:
        bold = {"Helvetica": "Helvetica-Bold", "Times-Roman": "Times-Bold"}[body_font]
        self.accent: Color = HexColor(accent)
        self.bold = bold
        self.body = ParagraphStyle(
            "body",
            fontName=body_font,
            fontSize=size,
            leading=size * 1.45,
            spaceAfter=size * 0.75,
            allowWidows=0,
            allowOrphans=0,
        )
        self.item = ParagraphStyle(
            "item", self.body, leftIndent=16, bulletIndent=3, spaceAfter=size * 0.4
        )
        self.cell = ParagraphStyle(
            "cell", self.body, fontSize=size - 1.5, leading=(size - 1.5) * 1.25, spaceAfter=0
        )
        self.number = ParagraphStyle("number", self.cell, alignment=TA_RIGHT)
        self.headings = [
            ParagraphStyle(
                f"h{level}",
                fontName="Helvetica-Bold",
                fontSize=points,
                leading=points * 1.25,
                spaceBefore=before,
                spaceAfter=after,
                textColor=self.accent if level < 3 else HexColor("#222222"),
                keepWithNext=1,
            )
            for level, points, before, after in ((1, 18, 4, 10), (2, 13, 12, 7), (3, 10.5, 8, 4))
        ]


def inline(node: SyntaxTreeNode) -> str:
    """The reportlab markup of an inline node and what is in it."""
    inner = "".join(map(inline, node.children))
    match node.type:
        case "text":
            return escape(node.content)
        case "strong":
            return f"<b>{inner}</b>"
        case "em":
            return f"<i>{inner}</i>"
        case "softbreak":
            return " "
        case "hardbreak":
            return "<br/>"
        case "inline" | "paragraph" | "heading" | "th" | "td":
            return inner
    raise ValueError(f"no typesetting for Markdown {node.type!r}: use plain text, ** or *")


def column_widths(cells: list[list[str]], look: Look) -> list[float]:
    """Room for the longest word of each column; the rest is shared by length of text."""
    columns = [
        [re.sub(r"<[^>]+>", "", text) for text in column] for column in zip(*cells, strict=True)
    ]
    needed = [
        max(stringWidth(word, look.bold, look.cell.fontSize) for word in " ".join(column).split())
        + 2 * PADDING
        if any(column)
        else 80 * mm
        if len(columns) == 2
        else 18 * mm
        for column in columns
    ]
    weights = [min(max(map(len, column)), 60) + 4 for column in columns]
    spare = (FRAME_WIDTH - sum(needed)) / sum(weights)
    return [width + spare * weight for width, weight in zip(needed, weights, strict=True)]


def table(node: SyntaxTreeNode, look: Look) -> Table:
    """A ruled table; a row whose first cell is bold is a total and gets a rule above."""
    rows = [row for part in node.children for row in part.children]
    cells = [[inline(cell) for cell in row.children] for row in rows]
    right = ["right" in str(cell.attrs.get("style", "")) for cell in rows[0].children]
    header = any(cells[0])
    body = [
        [
            Paragraph(
                f"<b>{text}</b>" if header and index == 0 else text,
                look.number if aligned else look.cell,
            )
            for text, aligned in zip(row, right, strict=True)
        ]
        for index, row in enumerate(cells)
        if any(row)
    ]
    commands: list[tuple[object, ...]] = [
        ("LINEBELOW", (0, 0), (-1, -1), 0.4, RULE),
        ("LINEABOVE", (0, 0), (-1, 0), 0.9, look.accent),
        ("LINEBELOW", (0, -1), (-1, -1), 0.9, look.accent),
        ("VALIGN", (0, 0), (-1, -1), "TOP"),
        ("TOPPADDING", (0, 0), (-1, -1), 3.5),
        ("BOTTOMPADDING", (0, 0), (-1, -1), 4),
        ("LEFTPADDING", (0, 0), (-1, -1), PADDING),
        ("RIGHTPADDING", (0, 0), (-1, -1), PADDING),
    ]
    if header:
        commands.append(("BACKGROUND", (0, 0), (-1, 0), TINT))
    filled = [row for row in cells if any(row)]
    commands += [
        ("LINEABOVE", (0, index), (-1, index), 0.8, look.accent)
        for index, row in enumerate(filled)
        if header and index and row[0].startswith("<b>")
    ]
    blank = [index for index, row in enumerate(filled) if index and not any(row[1:])]
    # Lines that a reader fills in by hand need room and a box.
    commands += [("BOTTOMPADDING", (0, index), (-1, index), 11) for index in blank]
    if blank:
        commands.append(("GRID", (0, 0), (-1, -1), 0.4, RULE))
    return Table(
        body,
        colWidths=column_widths(cells, look),
        style=commands,
        repeatRows=int(header),
        spaceAfter=11,
        spaceBefore=3,
    )


def contents(entries: list[Entry], look: Look) -> Table:
    """The table of contents, from the page numbers of the pass before."""
    rows = [
        [
            Paragraph(
                f"<b>{escape(entry.title)}</b>" if entry.level == 0 else escape(entry.title),
                ParagraphStyle("entry", look.cell, leftIndent=12 * entry.level),
            ),
            Paragraph(str(entry.page), look.number),
        ]
        for entry in entries
        if entry.level < 2
    ]
    return Table(
        rows or [["", ""]],
        colWidths=[FRAME_WIDTH - 15 * mm, 15 * mm],
        style=[
            ("LINEBELOW", (0, 0), (-1, -1), 0.25, RULE),
            ("TOPPADDING", (0, 0), (-1, -1), 2.2),
            ("BOTTOMPADDING", (0, 0), (-1, -1), 2.2),
        ],
        spaceAfter=12,
    )


def note(node: SyntaxTreeNode, look: Look) -> Table:
    """A shaded box with a bar in the accent colour."""
    style = ParagraphStyle("note", look.cell, leading=look.cell.fontSize * 1.35, spaceAfter=3)
    return Table(
        [[[Paragraph(inline(child), style) for child in node.children]]],
        colWidths=[FRAME_WIDTH],
        style=[
            ("BACKGROUND", (0, 0), (-1, -1), TINT),
            ("LINEBEFORE", (0, 0), (0, -1), 2.5, look.accent),
            ("LEFTPADDING", (0, 0), (-1, -1), 10),
            ("TOPPADDING", (0, 0), (-1, -1), 7),
        ],
        spaceBefore=4,
        spaceAfter=10,
    )


def block(node: SyntaxTreeNode, look: Look, entries: list[Entry]) -> Iterator[Flowable]:
    """The flowables of one block of Markdown."""
    match node.type:
        case "heading":
            level = int(node.tag[1])
            yield Heading(inline(node), look.headings[level - 1], level - 1)
        case "paragraph":
            yield Paragraph(inline(node), look.body)
        case "bullet_list" | "ordered_list":
            for number, item in enumerate(node.children, start=1):
                bullet = "•" if node.type == "bullet_list" else f"{number}."
                markup = " ".join(inline(child) for child in item.children)
                yield Paragraph(markup, look.item, bulletText=bullet)
            yield Spacer(1, 5)
        case "table":
            yield table(node, look)
        case "blockquote":
            yield note(node, look)
        case "hr":
            yield HRFlowable(width="100%", thickness=0.5, color=RULE, spaceAfter=8)
        case "html_block" if node.content.strip() == "<!-- page -->":
            yield PageBreak()
        case "html_block" if node.content.strip() == "<!-- contents -->":
            yield contents(entries, look)
        case _:
            raise ValueError(f"no typesetting for Markdown {node.type!r}: {node.content[:60]!r}")


def story(text: str, look: Look, entries: list[Entry], new_page_at: int) -> Iterator[Flowable]:
    """All flowables of a document; headings down to level `new_page_at` start a page."""
    parser = MarkdownIt("commonmark", {"typographer": True}).enable(["table", "smartquotes"])
    before: Flowable = PageBreak()
    for node in SyntaxTreeNode(parser.parse(text)).children:
        for flowable in block(node, look, entries):
            if (
                isinstance(flowable, Heading)
                and flowable.level < new_page_at
                and not isinstance(before, Heading | PageBreak)
            ):
                yield PageBreak()
            yield flowable
            before = flowable
