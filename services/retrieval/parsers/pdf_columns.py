"""The order in which a page of two columns is read, though its file prints it row by row."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

# Fewer rows of prose beside prose are no columns.
MIN_ROWS = 6
# A column of prose has lines of so many words, few of which are figures, and is no narrow strip.
_MIN_WORDS = 4
_MAX_FIGURES = 0.2
_MIN_WIDTH = 0.25
# So many of the rows that have a wide gap have it where the columns are parted.
_MIN_AGREEMENT = 0.6


@dataclass(frozen=True, slots=True)
class Strip:
    """Words side by side on a line, as far as no wide gap parts them.

    Attributes:
        line: Which line they are of.
        start: Where they begin in its text.
        end: One past their last character.
        left: Their left edge as displayed, and so on.
    """

    line: int
    start: int
    end: int
    left: float
    right: float
    text: str


def may_be_prose(text: str) -> bool:
    """Whether a line has words enough for two columns, and not mostly figures."""
    words = text.split()
    figures = sum(any(map(str.isdigit, word)) for word in words)
    return len(words) >= 2 * _MIN_WORDS and figures <= 2 * _MAX_FIGURES * len(words)


def in_order(
    rows: Sequence[Sequence[Strip]], same_row: Callable[[int, int], bool]
) -> list[tuple[int, int, int]] | None:
    """Parts of lines, as line, start and end, in reading order; None where lines are in order.

    Lines that reach over both columns stay where they are; between two of them the left column is
    read before the right one.

    Args:
        rows: The strips of each line, in the order of the file.
        same_row: Whether two lines stand side by side.
    """
    pairs = list(_pairs(rows, same_row))
    if len(pairs) < MIN_ROWS:
        return None
    gutter = _gutter(pairs)
    beside = [(a, b) for a, b in pairs if a.right <= gutter <= b.left]
    if len(beside) < max(MIN_ROWS, _MIN_AGREEMENT * len(pairs)) or not _are_prose(rows, beside):
        return None
    return _read(rows, gutter)


def _pairs(
    rows: Sequence[Sequence[Strip]], same_row: Callable[[int, int], bool]
) -> Iterator[tuple[Strip, Strip]]:
    """What stands side by side with a gap between: parts of a line, lines of a row."""
    for index, strips in enumerate(rows):
        yield from pairwise(strips)
        following = rows[index + 1] if index + 1 < len(rows) else ()
        if strips and following and same_row(index, index + 1):
            a, b = sorted((strips[-1], following[0]), key=lambda strip: strip.left)
            yield a, b


def _gutter(pairs: Sequence[tuple[Strip, Strip]]) -> float:
    """Where most gaps are: in the middle of the one that most others have in common."""
    middles = sorted((a.right + b.left) / 2 for a, b in pairs)
    # Dozens of rows and as many places: on a page, counting all is cheap.
    some = middles[:: max(1, len(middles) // 60)]
    return max(some, key=lambda x: sum(a.right <= x <= b.left for a, b in pairs))


def _are_prose(rows: Sequence[Sequence[Strip]], beside: Sequence[tuple[Strip, Strip]]) -> bool:
    edges = [(strip.left, strip.right) for strips in rows for strip in strips]
    width = max(right for _, right in edges) - min(left for left, _ in edges)
    for column in zip(*beside, strict=True):
        words = [strip.text.split() for strip in column]
        count = sum(map(len, words))
        figures = sum(any(map(str.isdigit, word)) for line in words for word in line)
        if (
            median(map(len, words)) < _MIN_WORDS
            or figures > _MAX_FIGURES * count
            or median(strip.right - strip.left for strip in column) < _MIN_WIDTH * width
        ):
            return False
    return True


def _read(rows: Sequence[Sequence[Strip]], gutter: float) -> list[tuple[int, int, int]] | None:
    order: list[tuple[int, int, int]] = []
    left: list[tuple[int, int, int]] = []
    right: list[tuple[int, int, int]] = []
    moved = False
    for index, strips in enumerate(rows):
        parts = _parted(strips, gutter)
        if parts is None:  # It reaches over both columns.
            order += [*left, *right, (index, strips[0].start, strips[-1].end)]
            left, right = [], []
            continue
        for part, column in zip(parts, (left, right), strict=True):
            if part:
                moved |= column is left and bool(right)
                column.append((index, part[0].start, part[-1].end))
    return [*order, *left, *right] if moved else None


def _parted(
    strips: Sequence[Strip], gutter: float
) -> tuple[Sequence[Strip], Sequence[Strip]] | None:
    """The strips on the left and those on the right; None when one reaches over."""
    left = [strip for strip in strips if strip.right <= gutter]
    right = [strip for strip in strips if strip.left >= gutter]
    return (left, right) if len(left) + len(right) == len(strips) else None
