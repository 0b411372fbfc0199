"""Running headers and footers: what stands at the edge of page after page."""

import re
from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence

from services.retrieval.document import Line

# Headers and footers stand in this share of the page's height, at its top and at its bottom.
_EDGE = 0.12
_MIN_PAGES = 3
# A line with more numbers than this is data, not "POL-014, version 9.0, page 3 of 60".
_MAX_NUMBERS = 8
_NUMBER = re.compile(r"\d{1,5}(?!\d)")


def find(text: str, lines: Sequence[Line], page_heights: Sequence[float]) -> frozenset[int]:
    """Indices of the lines that are running headers or footers.

    A line is one when at least three pages carry it at the same edge, letter for letter or with one
    number that counts along with the pages, and when everything further out on its page is one too.

    Args:
        text: The document's text.
        lines: All lines of all pages; each has a box.
        page_heights: By page, in the order of the pages.
    """
    pages_by_key: defaultdict[Hashable, set[int]] = defaultdict(set)
    edges = list(_edges(lines, page_heights))
    for top, indices in edges:
        for index in indices:
            for key in _keys(text, lines[index]):
                pages_by_key[top, key].add(lines[index].page_number)
    found: set[int] = set()
    for top, indices in edges:
        for index in indices:
            keys = _keys(text, lines[index])
            if not any(len(pages_by_key[top, key]) >= _MIN_PAGES for key in keys):
                break
            found.add(index)
    # A document of which nothing is left has no furniture: its pages just say the same.
    return frozenset(found) if len(found) < len(lines) else frozenset()


def _edges(
    lines: Sequence[Line], page_heights: Sequence[float]
) -> Iterator[tuple[bool, list[int]]]:
    """For each page its lines near the top, then those near the bottom, from the edge inwards."""
    tops: defaultdict[int, list[tuple[float, int]]] = defaultdict(list)
    bottoms: defaultdict[int, list[tuple[float, int]]] = defaultdict(list)
    for index, line in enumerate(lines):
        if line.box is None:
            continue
        height = page_heights[line.page_number - 1]
        if line.box.bottom <= _EDGE * height:
            tops[line.page_number].append((line.box.top, index))
        elif line.box.top >= (1 - _EDGE) * height:
            bottoms[line.page_number].append((-line.box.bottom, index))
    for top, pages in ((True, tops), (False, bottoms)):
        for placed in pages.values():
            yield top, [index for _, index in sorted(placed)]


def _keys(text: str, line: Line) -> Iterator[Hashable]:
    """What the line has in common with its like on other pages."""
    printed = " ".join(text[line.start : line.end].split())
    yield printed
    numbers = list(_NUMBER.finditer(printed))
    if len(numbers) <= _MAX_NUMBERS:
        for number in numbers:
            lead = int(number.group()) - line.page_number
            yield printed[: number.start()], printed[number.end() :], lead
