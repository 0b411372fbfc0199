"""Running headers, footers and page numbers: what is printed between two pages of one sentence."""

# ruff: noqa: RUF001 - the dashes and digits of several scripts are meant

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from services.verification.characters import BREAKS
from services.verification.evidence import Span

_LINE = re.compile(r"[^\n\r\v\x1c-\x1e\x85\u2028\u2029]+")
_LINE_START = re.compile(rf"(?:\A|[{BREAKS}])[^\S{BREAKS}]*\Z")
_LINE_END = re.compile(rf"[^\S{BREAKS}]*(?:\Z|[{BREAKS}])")
_DEEPEST_INDENT = 80
_VISIBLE = re.compile(r"\S")
# At the top and at the bottom of a page, so many lines may be furniture.
_DEEPEST = 3
# A line that counts pages says nothing else.
_LONGEST_NUMBER_LINE = 40
_PAGE_WORD = (
    r"(?:page|pages|pg\.?|p\.|seite|s\.|página|pagina|pag\.?|side|sida|strona|str\.|стр\.?|страница"
    r"|стор\.?|сторінка|σελίδα|σελ\.|صفحة|ص|עמוד|עמ['׳]|पृष्ठ|第|쪽|페이지)"
)
_OF = r"(?:of|/|von|de|di|sur|из|з|από|من|מתוך|का|／|共)"
_PAGE_NUMBER = re.compile(
    rf"[\W_]*(?:{_PAGE_WORD}\s*)?(?:\d{{1,5}}|(?-i:[ivxl]{{1,7}}))(?:\s*(?:页|頁|ページ|쪽|페이지))?"
    rf"(?:\s*{_OF}\s*\d{{1,5}}(?:\s*(?:页|頁|ページ|쪽))?)?[\W_]*",
    re.IGNORECASE,
)
# What would make it a figure of the text: a sign, a mark, a unit.
_FIGURE = re.compile(r"[%‰$€£¥₹()°.,+−]|\d\s*[-–]\s*\d")
_NUMBER = re.compile(r"\d+")


def body(text: str, named: Sequence[Span] = ()) -> str:
    """The text at the same offsets, with a line break and blanks where page furniture stands.

    Args:
        text: Any text.
        named: What the parser found to be furniture. A span that is not whole lines of the text is
            none: a word of a sentence must not be taken out of it.
    """
    lines = _merged(span for span in named if _is_lines(text, span))
    gaps = [_around(text, span) for span in lines]
    if "\f" in text:
        gaps += _gaps(text)
    parts, done = [], 0
    for gap in _merged(gaps):
        parts += [text[done : gap.start], _break(text[gap.start : gap.end])]
        done = gap.end
    return "".join([*parts, text[done:]])


def _is_lines(text: str, span: Span) -> bool:
    """Whether a span is within the text, shows something and cuts no line."""
    if not 0 <= span.start < span.end <= len(text):
        return False
    before = _LINE_START.search(text, max(0, span.start - _DEEPEST_INDENT), span.start)
    return (
        before is not None
        and _LINE_END.match(text, span.end) is not None
        and _VISIBLE.search(text, span.start, span.end) is not None
    )


def _around(text: str, span: Span) -> Span:
    """From the last word in front of a span to the first behind it."""
    start, behind = span.start, _VISIBLE.search(text, span.end)
    while start and text[start - 1].isspace():
        start -= 1
    return Span(start, behind.start() if behind else len(text))


def _break(gap: str) -> str:
    """Over a page break a sentence may go on; on the same page two paragraphs stay two."""
    return ("\n" if "\f" in gap else "\n\n"[: len(gap)]).ljust(len(gap))


def _merged(spans: Iterable[Span]) -> Iterator[Span]:
    """The spans in order, those that touch as one."""
    last: Span | None = None
    for span in sorted(spans):
        if last and span.start <= last.end:
            last = Span(last.start, max(last.end, span.end))
            continue
        if last:
            yield last
        last = span
    if last:
        yield last


def _gaps(text: str) -> Iterator[Span]:
    """From the last word of a page to the first of the next, where furniture stands between."""
    pages = [list(_lines(text, page)) for page in _pages(text)]
    tops = _places([[_content(text, line) for line in page[:_DEEPEST]] for page in pages])
    bottoms = _places(
        [[_content(text, line) for line in page[: -_DEEPEST - 1 : -1]] for page in pages]
    )
    feet = [
        _depth(text, page[::-1], bottoms, number) if number < len(pages) - 1 else 0
        for number, page in enumerate(pages)
    ]
    heads = [
        min(_depth(text, page, tops, number), len(page) - foot) if number else 0
        for number, (page, foot) in enumerate(zip(pages, feet, strict=True))
    ]
    for number, (page, following) in enumerate(pairwise(pages)):
        foot, head = feet[number], heads[number + 1]
        if not foot and not head:
            continue
        kept = page[: len(page) - foot]
        start = kept[-1].end if kept else (page[0].start if page else None)
        rest = following[head:]
        end = rest[0].start if rest else (following[-1].end if following else None)
        if start is not None and end is not None:
            yield Span(start, end)


def _pages(text: str) -> Iterator[Span]:
    start = 0
    for found in re.finditer("\f", text):
        yield Span(start, found.start())
        start = found.end()
    yield Span(start, len(text))


def _lines(text: str, page: Span) -> Iterator[Span]:
    for found in _LINE.finditer(text, page.start, page.end):
        line = found.group()
        if stripped := line.strip():
            begin = found.start() + line.index(stripped)
            yield Span(begin, begin + len(stripped))


def _content(text: str, line: Span) -> str:
    return " ".join(text[line.start : line.end].split())


def _places(edges: Sequence[Sequence[str]]) -> dict[str, set[int]]:
    """On which pages a line stands at the edge, as it is or with the page's number in it."""
    places: dict[str, set[int]] = defaultdict(set)
    for number, lines in enumerate(edges):
        for line in lines:
            for key in _keys(line, number):
                places[key].add(number)
    return places


def _keys(line: str, page: int) -> Iterator[str]:
    """A line, and the line with one of its numbers counted from the page it stands on."""
    yield line
    for found in list(_NUMBER.finditer(line))[:4]:
        if len(found[0]) <= 5:  # noqa: PLR2004 - no document has more pages
            yield f"{line[: found.start()]}\0{int(found[0]) - page}{line[found.end() :]}"


def _depth(text: str, lines: Sequence[Span], known: dict[str, set[int]], page: int) -> int:
    """How many lines, from the edge inwards, are furniture."""
    numbered = False
    for depth, line in enumerate(lines[:_DEEPEST]):
        words = _content(text, line)
        if _repeats(words, known, page):
            continue
        # A page has one number; two in a row are a column of figures.
        if numbered or not _is_page_number(words):
            return depth
        numbered = True
    return min(len(lines), _DEEPEST)


def _repeats(line: str, known: dict[str, set[int]], page: int) -> bool:
    """Whether a page near by has it at the same edge: the next one, or the next of its side."""
    near = {page - 2, page - 1, page + 1, page + 2}
    return any(known[key] & near for key in _keys(line, page))


def _is_page_number(line: str) -> bool:
    return (
        len(line) <= _LONGEST_NUMBER_LINE
        and _PAGE_NUMBER.fullmatch(line) is not None
        and _FIGURE.search(line.replace("p.", "")) is None
    )
