"""Paragraphs and tables of a PDF, seen from where its lines stand."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from services.retrieval.parsers import numbering
from services.retrieval.parsers.pdf_frame import side_by_side
from services.retrieval.parsers.pdf_page import PrintedLine

# A distance between two lines of this many times the usual one parts paragraphs.
_PARAGRAPH_GAP = 1.25
# What is usual at most, in type sizes: on a page of single-line paragraphs all distances are gaps.
_WIDEST_PITCH = 1.45
_SIZE_CHANGE = 1.1
_TERMINAL = frozenset(".!?:;\u201d\"'\u2019)]")
_LIST_ITEM = re.compile(
    r"(?:[\u2022\u25cf\u25aa\u25e6\u2023\u2013\u2014*-]|\(?(?:\d{1,2}|[a-z]|[ivx]{1,5})[.)])\s"
)
_MIN_ROWS = 3
# Rows of a table may be this many lines apart: one line of a wrapped cell lies between, or, where
# no paragraph begins, two.
_MAX_STEP = 2
_MAX_RUNNING_STEP = 3
# A table's head reaches up so many lines at most; lines that name columns may be this many apart,
# with others between them and the rows, such as "Assets".
_HEAD_LINES = 10
_HEAD_STEP = 3
# In a longer line a sentence runs into a head.
_LONGEST_HEAD = 100
# Lines over the figures begin right of so much of a table's width, and have more of them right of
# its middle than a centred title has.
_LABELS = 0.3
_OVER_FIGURES = 0.55
_AMOUNT = re.compile(r"\d[.,]\d|[$\u20ac\u00a3%]|\(\d|(?<!\S)(?!(?:19|20)\d\d)\d{3}")
_ENDED = re.compile(r"(?:\S+ ){1,5}ended\b.{0,20}", re.IGNORECASE)
_DATES = re.compile(r"(?:(?:[A-Z][a-z]{2,8}\.? \d{1,2},?|(?:19|20)\d\d)(?: |$))+")


@dataclass(frozen=True, slots=True)
class PlacedLine:
    """A printed line with its place in the document's text."""

    printed: PrintedLine
    start: int
    page_number: int

    @property
    def end(self) -> int:
        return self.start + len(self.printed.text)

    @property
    def text(self) -> str:
        return self.printed.text


def is_terminated(text: str) -> bool:
    """Whether a line ends as a sentence or a clause does."""
    return text.rstrip()[-1:] in _TERMINAL


def paragraph_starts(lines: Sequence[PlacedLine]) -> frozenset[int]:
    """Indices of the lines that begin a paragraph.

    Args:
        lines: Those of the running text, in order.
    """
    pitches = _usual_pitches(lines)
    starts = {0} if lines else set()
    for index, (above, line) in enumerate(pairwise(lines), start=1):
        if _begins(above, line, pitches.get(line.page_number)):
            starts.add(index)
    return frozenset(starts)


def _begins(above: PlacedLine, line: PlacedLine, usual: float | None) -> bool:
    if _LIST_ITEM.match(line.text) and is_terminated(above.text):
        return True
    runs_on = not is_terminated(above.text) and line.text.lstrip()[:1].islower()
    if runs_on or _same_row(above, line):
        return False
    larger, smaller = sorted((above.printed.size, line.printed.size), reverse=True)
    if larger > _SIZE_CHANGE * smaller:
        return True
    pitch = line.printed.box.top - above.printed.box.top
    if line.page_number != above.page_number or pitch <= 0:
        # A new page or column: the paragraph goes on unless its last sentence is complete.
        return is_terminated(above.text)
    widest = _WIDEST_PITCH * line.printed.size
    return pitch > _PARAGRAPH_GAP * min(usual or widest, widest)


def _usual_pitches(lines: Sequence[PlacedLine]) -> dict[int, float]:
    """By page, the usual distance from the top of a line to the top of the next."""
    pitches: defaultdict[int, list[float]] = defaultdict(list)
    for above, line in pairwise(lines):
        pitch = line.printed.box.top - above.printed.box.top
        if line.page_number == above.page_number and pitch > 0 and not _same_row(above, line):
            pitches[line.page_number].append(pitch)
    return {page: median(values) for page, values in pitches.items()}


def tables(lines: Sequence[PlacedLine], starts: frozenset[int]) -> list[tuple[int, int]]:
    """Half-open ranges of lines that are tables: rows of words set apart, one under the other.

    The lines that name the columns belong to a table, though dates may be set one word a line.

    Args:
        lines: Those of the running text, in order.
        starts: Indices of the lines that begin a paragraph.
    """
    in_columns = [line.printed.columns for line in lines]
    row = list(range(len(lines)))
    for index, (above, line) in enumerate(pairwise(lines), start=1):
        if _same_row(above, line):
            in_columns[index - 1] = in_columns[index] = True
            row[index] = row[index - 1]
    found: list[tuple[int, int]] = []
    for first, last in _runs(lines, in_columns, starts):
        if len({row[index] for index in range(first, last + 1) if in_columns[index]}) >= _MIN_ROWS:
            top = _head_start(lines, first, last, above=found[-1][1] if found else 0)
            found.append((top, last + 1))
    return found


def _runs(
    lines: Sequence[PlacedLine], in_columns: Sequence[bool], starts: frozenset[int]
) -> Iterator[tuple[int, int]]:
    """First and last line of each run of lines in columns; a wrapped cell may lie between."""
    first = last = -1
    for index, tabular in enumerate(in_columns):
        if not tabular:
            continue
        goes_on = index - last <= _MAX_STEP or (
            index - last <= _MAX_RUNNING_STEP and starts.isdisjoint(range(last + 1, index + 1))
        )
        if first >= 0 and goes_on and lines[index].page_number == lines[last].page_number:
            last = index
            continue
        if first >= 0:
            yield first, last
        first = last = index
    if first >= 0:
        yield first, last


def _head_start(lines: Sequence[PlacedLine], first: int, last: int, above: int) -> int:
    """Index of the first line of a table's head; `above` is where it begins at the earliest."""
    boxes = [line.printed.box for line in lines[first : last + 1]]
    left, right = min(box.left for box in boxes), max(box.right for box in boxes)
    largest = _SIZE_CHANGE * lines[last].printed.size
    start = first
    for index in range(first - 1, max(above, first - _HEAD_LINES) - 1, -1):
        line = lines[index]
        is_far = line.page_number != lines[first].page_number or start - index > _HEAD_STEP
        if is_far or line.printed.size > largest or _is_section(line.text):
            break
        if _names_columns(line, left, right):
            start = index
    return start


def _is_section(text: str) -> bool:
    """Whether a line begins with a section's number, which that of "52 Weeks Ended" is not."""
    numbered = numbering.read(text)
    return numbered is not None and (numbered.kind != "bare" or numbered.marked)


def _names_columns(line: PlacedLine, left: float, right: float) -> bool:
    """Whether a line above a table, from `left` to `right`, is words over its figures, or dates."""
    words, box = line.text.strip(), line.printed.box
    middle = (box.left + box.right) / 2
    is_over_figures = (
        box.left > left + _LABELS * (right - left)
        and middle > left + _OVER_FIGURES * (right - left)
        and box.right <= right
    )
    is_row = (
        line.printed.columns
        and len(words) <= _LONGEST_HEAD
        and not is_terminated(words)
        and not _AMOUNT.search(words)
    )
    return is_over_figures or is_row or bool(_ENDED.fullmatch(words) or _DATES.fullmatch(words))


def _same_row(one: PlacedLine, other: PlacedLine) -> bool:
    """Whether two lines stand side by side."""
    if one.page_number != other.page_number:
        return False
    return side_by_side(one.printed.box, other.printed.box)
