"""The order of a table whose file prints it column by column: its rows, cell after cell."""

import re
from collections.abc import Iterator, Sequence

from services.retrieval.document import Box
from services.retrieval.parsers.pdf_frame import in_row, side_by_side

# Fewer cells under one another are no column, and one of which fewer are figures may be a head, a
# list, or prose.
_MIN_CELLS = 3
_MIN_FIGURES = 0.6
_FIGURE = re.compile(r"\W*\d[\W\d]*")

# Indices of the lines that stand under one another.
_Stack = Sequence[int]


def by_row(boxes: Sequence[Box], texts: Sequence[str]) -> list[int]:
    """The lines in the order of the file, but for columns of figures beside labels: row by row."""
    order: list[int] = []
    stacks = list(_stacks(boxes))
    at = 0
    while at < len(stacks):
        labels = stacks[at]
        rows: dict[int, list[int]] = {label: [] for label in labels}
        at += 1
        while at < len(stacks):
            beside = _beside(labels, stacks[at], boxes)
            cells, below = stacks[at][: len(beside)], stacks[at][len(beside) :]
            ends_there = not below or boxes[below[0]].top > boxes[labels[-1]].top
            if not ends_there or not _are_figures(cells, texts):
                break
            for label, cell in zip(beside, cells, strict=True):
                rows[label].append(cell)
            if below:
                stacks[at] = below
                break
            at += 1
        for label, cells in rows.items():
            order += [label, *cells]
    return order


def _stacks(boxes: Sequence[Box]) -> Iterator[list[int]]:
    """Lines as far as each stands below the one before, and over or under it."""
    stack: list[int] = []
    for index, box in enumerate(boxes):
        if stack:
            above = boxes[stack[-1]]
            overlap = min(above.right, box.right) - max(above.left, box.left)
            if in_row(above, box) or box.top < above.top or overlap <= 0:
                yield stack
                stack = []
        stack.append(index)
    if stack:
        yield stack


def _beside(labels: _Stack, cells: _Stack, boxes: Sequence[Box]) -> list[int]:
    """The label left of each cell, as far as each has one of its own, in order."""
    found: list[int] = []
    following = iter(labels)
    for cell in cells:
        label = next((i for i in following if side_by_side(boxes[i], boxes[cell])), None)
        if label is None or boxes[label].left > boxes[cell].left:
            break
        found.append(label)
    return found


def _are_figures(cells: _Stack, texts: Sequence[str]) -> bool:
    figures = sum(_FIGURE.fullmatch(texts[cell]) is not None for cell in cells)
    return len(cells) >= _MIN_CELLS and figures >= _MIN_FIGURES * len(cells)
