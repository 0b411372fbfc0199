"""The order in which a page of columns is read, though its file prints it row by row."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from math import inf
from statistics import median

# Two words further apart than this many times the type size may stand in different columns of
# prose. One line of justified prose has such a gap at times, and no six have it at one place.
GUTTER = 0.8
# Fewer rows of prose beside prose are no columns.
MIN_ROWS = 6
# A column of prose has lines of so many words, few of which are figures, and is no narrow strip.
_MIN_WORDS = 4
_MAX_FIGURES = 0.2
_MIN_WIDTH = 0.2
# So many of its lines are nearly as long as its longest, unlike the cells of a table.
_MIN_FULL = 0.6
_FULL = 0.7
# So many of the rows that have a wide gap have it where the columns are parted.
_MIN_AGREEMENT = 0.6
# Above a row of cells, each of which has several lines, is a gap of this many times their height.
_ROW_GAP = 0.4


@dataclass(frozen=True, slots=True)
class Strip:
    """Words side by side on a line, as far as no wide gap parts them.

    Attributes:
        line: Which line they are of.
        start: Where they begin in its text.
        end: One past their last character.
        left: Their left edge as displayed, and so on; top and bottom are their line's.
    """

    line: int
    start: int
    end: int
    left: float
    top: float
    right: float
    bottom: float
    text: str


# Strips of a line, one in each of the columns in which it has words.
_Row = Sequence[Strip]


def may_be_prose(text: str) -> bool:
    """Whether a line has words enough for two columns, and not mostly figures."""
    words = text.split()
    figures = sum(any(map(str.isdigit, word)) for word in words)
    return len(words) >= 2 * _MIN_WORDS and figures <= 2 * _MAX_FIGURES * len(words)


def in_order(
    rows: Sequence[_Row], same_row: Callable[[int, int], bool]
) -> list[tuple[int, int, int]] | None:
    """Parts of lines, as line, start and end, in reading order; None where lines are in order.

    Lines that reach over columns stay where they are; between two of them the left column is read
    before the next one. So it is between two gaps that run over all columns, as those between rows
    of cells do.

    Args:
        rows: The strips of each line, in the order of the file.
        same_row: Whether two lines stand side by side.
    """
    pairs = list(_pairs(rows, same_row))
    gutters = _gutters(pairs)
    if not gutters:
        return None
    parted = [_parted(strips, gutters) for strips in rows]
    pairs = list(_pairs([[] if row is None else row for row in parted], same_row))
    beside = [[(a, b) for a, b in pairs if a.right <= x <= b.left] for x in gutters]
    if not all(_are_prose(rows, columns) for columns in beside):
        return None
    return _read(rows, parted, gutters)


def _pairs(
    rows: Sequence[_Row], same_row: Callable[[int, int], bool]
) -> Iterator[tuple[Strip, Strip]]:
    """What stands side by side with a gap between: parts of a line, lines of a row."""
    for index, strips in enumerate(rows):
        yield from pairwise(strips)
        following = rows[index + 1] if index + 1 < len(rows) else ()
        if strips and following and same_row(index, index + 1):
            a, b = sorted((strips[-1], following[0]), key=lambda strip: strip.left)
            yield a, b


def _gutters(pairs: Sequence[tuple[Strip, Strip]]) -> list[float]:
    """Where most rows with a gap have one, from the left."""
    fewest = max(MIN_ROWS, _MIN_AGREEMENT * len({a.line for a, _ in pairs}))
    gutters = []
    while len(pairs) >= fewest:
        gutter = _gutter(pairs)
        others = [(a, b) for a, b in pairs if not a.right <= gutter <= b.left]
        if len(pairs) - len(others) < fewest:
            break
        gutters.append(gutter)
        pairs = others
    return sorted(gutters)


def _gutter(pairs: Sequence[tuple[Strip, Strip]]) -> float:
    """Where most gaps are: in the middle of the one that most others have in common."""
    middles = sorted((a.right + b.left) / 2 for a, b in pairs)
    # Dozens of rows and as many places: on a page, counting all is cheap.
    some = middles[:: max(1, len(middles) // 60)]
    return max(some, key=lambda x: sum(a.right <= x <= b.left for a, b in pairs))


def _parted(strips: _Row, gutters: Sequence[float]) -> _Row | None:
    """The strips joined to one for each column; None when one reaches over a gutter."""
    if any(strip.left < x < strip.right for strip in strips for x in gutters):
        return None
    columns = groupby(strips, key=lambda strip: _column(strip, gutters))
    return [_joined(list(column)) for _, column in columns]


def _column(strip: Strip, gutters: Sequence[float]) -> int:
    return sum(strip.left >= x for x in gutters)


def _joined(strips: _Row) -> Strip:
    return replace(
        strips[0],
        end=strips[-1].end,
        right=max(strip.right for strip in strips),
        text=" ".join(strip.text for strip in strips),
    )


def _are_prose(rows: Sequence[_Row], beside: Sequence[tuple[Strip, Strip]]) -> bool:
    if len(beside) < MIN_ROWS:
        return False
    edges = [(strip.left, strip.right) for strips in rows for strip in strips]
    width = max(right for _, right in edges) - min(left for left, _ in edges)
    for column in zip(*beside, strict=True):
        words = [strip.text.split() for strip in column]
        count = sum(map(len, words))
        figures = sum(any(map(str.isdigit, word)) for line in words for word in line)
        widths = [strip.right - strip.left for strip in column]
        full = sum(line >= _FULL * max(widths) for line in widths)
        if (
            median(map(len, words)) < _MIN_WORDS
            or figures > _MAX_FIGURES * count
            or median(widths) < _MIN_WIDTH * width
            or full < _MIN_FULL * len(widths)
        ):
            return False
    return True


def _read(
    rows: Sequence[_Row], parted: Sequence[_Row | None], gutters: Sequence[float]
) -> list[tuple[int, int, int]] | None:
    order: list[Strip] = []
    columns: list[list[Strip]] = [[] for _ in range(len(gutters) + 1)]
    moved = False
    below_gap = _below_gap(parted)
    for index, (row, strips) in enumerate(zip(parted, rows, strict=True)):
        if row is None or (index in below_gap and max(map(len, columns)) > 1):
            order += [strip for column in columns for strip in column]
            columns = [[] for _ in columns]
        if row is None:  # It reaches over columns.
            order.append(_joined(strips))
            continue
        for strip in row:
            column = _column(strip, gutters)
            moved |= any(columns[column + 1 :])
            columns[column].append(strip)
    order += [strip for column in columns for strip in column]
    return [(strip.line, strip.start, strip.end) for strip in order] if moved else None


def _below_gap(parted: Sequence[_Row | None]) -> set[int]:
    """Indices of the rows over which all columns have a wider gap than most rows have."""
    gaps: dict[int, float] = {}
    bottom = 0.0
    for index, row in enumerate(parted):
        for strip in row or ():
            gaps[index] = min(gaps.get(index, inf), strip.top - bottom)
        bottom = max([bottom, *(strip.bottom for strip in row or ())])
    height = median(strip.bottom - strip.top for row in parted for strip in row or ())
    widest = max(median(gaps.values()), 0.0) + _ROW_GAP * height
    return {index for index, gap in gaps.items() if gap > widest}
