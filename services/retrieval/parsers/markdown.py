"""Markdown: its structure from markdown-it, its text as written, but for what is struck out."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

from services.retrieval.document import Heading, Line, Page, ParsedDocument
from services.retrieval.parsers import markdown_struck, numbering, plain

CONTENT_TYPE = "text/markdown"
_FRONT_MATTER = re.compile(r"---[ \t]*\n(?:.*\n)*?(?:---|\.\.\.)[ \t]*(?:\n|\Z)")
_WHOLE = {"table_open", "fence", "code_block", "html_block"}
# Marks that set words in bold or italics.
_EMPHASIS = re.compile(r"\*+|_{2,}")
_PARAGRAPH = {"paragraph_open", "list_item_open", "blockquote_open", *_WHOLE}


def parse(text: str) -> ParsedDocument:
    """Read Markdown whose lines end with a line feed.

    Its text stays as written, marks and all, but for what is struck out, which is left out. YAML
    front matter is text without structure. Headings inside lists and quotations are not sections;
    paragraphs outside them that begin with a section number are.
    """
    if markdown_struck.MARK.search(text):
        tokens, starts = _blocks(text)
        blocks = ((t.type, starts[t.map[0]], starts[t.map[1]]) for t in tokens if t.map)
        text = markdown_struck.left_out(text, blocks)
    tokens, line_starts = _blocks(text)
    page = Page(1, 0, len(text))
    lines = tuple(plain.lines_of(text, (page,)))
    return ParsedDocument(
        text=text,
        pages=(page,),
        lines=lines,
        headings=tuple(_all_headings(text, lines, tokens, line_starts)),
        furniture=(),
        content_type=CONTENT_TYPE,
        has_page_images=False,
        paragraphs=tuple(
            sorted({line_starts[t.map[0]] for t in tokens if t.map and t.type in _PARAGRAPH})
        ),
        tables=tuple(
            _span(text, token.map, line_starts)
            for token in tokens
            if token.map and token.level == 0 and token.type in _WHOLE
        ),
    )


def _blocks(text: str) -> tuple[list[Token], list[int]]:
    """The blocks of a text, and where its lines start."""
    front = _FRONT_MATTER.match(text)
    # Blank lines in its place keep all line numbers.
    source = "\n" * text.count("\n", 0, front.end()) + text[front.end() :] if front else text
    reader = MarkdownIt("commonmark").enable("table")
    # Only blocks are wanted; inline marks are read for headings alone.
    reader.core.ruler.enableOnly(["normalize", "block"])
    line_starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
    return reader.parse(source), line_starts


def _span(text: str, lines: Sequence[int], line_starts: Sequence[int]) -> tuple[int, int]:
    """The characters of a range of lines, white space around them aside."""
    start, end = line_starts[lines[0]], min(line_starts[lines[1]], len(text))
    block = text[start:end]
    return start + len(block) - len(block.lstrip()), start + len(block.rstrip())


def _all_headings(
    text: str, lines: Sequence[Line], tokens: Sequence[Token], line_starts: Sequence[int]
) -> Iterator[Heading]:
    """Those that are marked, and paragraphs below them that begin with a number."""
    named = list(_headings(text, tokens, line_starts))
    offsets = [line.start for line in lines]
    apart = {bisect_right(offsets, h.start) - 1: numbering.read(h.title) for h in named}
    starts: list[int] = []
    for token in tokens:
        if token.map and token.level == 0:
            first, end = (bisect_left(offsets, line_starts[line]) for line in token.map)
            if first < end:
                starts.append(first)
                if token.type != "paragraph_open":
                    apart.setdefault(first, None)
    plainly = _EMPHASIS.sub(lambda marks: " " * len(marks.group()), text)
    found = (
        replace(heading, end=_past_marks(text, heading.end))
        for heading in plain.headings(plainly, lines, starts, apart)
    )
    return plain.nested(named, found)


def _past_marks(text: str, end: int) -> int:
    marks = _EMPHASIS.match(text, end)
    return marks.end() if marks else end


def _headings(text: str, tokens: Sequence[Token], line_starts: Sequence[int]) -> Iterator[Heading]:
    inline = MarkdownIt("commonmark")
    for token, content in pairwise(tokens):
        if token.type != "heading_open" or token.level or not token.map or not content.content:
            continue
        start, end = _span(text, token.map, line_starts)
        title = _words(inline.parseInline(content.content))
        numbered = numbering.read(title)
        yield Heading(
            start=start,
            end=end,
            level=int(token.tag[1:]),
            section_id=numbered.section_id if numbered else "",
            title=title,
        )


def _words(tokens: Iterable[Token]) -> str:
    """A heading without its marks."""
    words = "".join(
        " " if child.type in {"softbreak", "hardbreak"} else child.content
        for token in tokens
        for child in token.children or ()
    )
    return " ".join(words.split())
