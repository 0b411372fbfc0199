"""Running headers and footers: what stands at the edge of page after page."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterator, Sequence

from services.retrieval.document import Line
from services.retrieval.parsers import page_labels

# Headers and footers stand in this share of the page's height, at its top and at its bottom.
_EDGE = 0.12
_MIN_PAGES = 3
_FEW_PAGES = 2
# In a long document as many of all pages: a table's head may go on over three.
_MIN_SHARE = 0.03
# A page may also end where its text does, and its number with it: so many outermost lines are
# looked at, and so many pages must be numbered there.
_OUTERMOST = 2
_MIN_NUMBERED = 5
# A line with more numbers than this is data, not "POL-014, version 9.0, page 3 of 60".
_MAX_NUMBERS = 8
# A head that changes with the chapter stands at one height on so many of all pages, and on so many
# of these says the same as a page or two before or after.
_MIN_IN_SLOT = 0.5
_MIN_REPEATED = 0.75
_SAME_HEIGHT = 1.0
_NUMBER = re.compile(r"\d{1,5}(?!\d)")
# Two pages are few to count along with: there a number must be said to be a page's, or stand alone.
_PAGE_NUMBER = re.compile(
    r"(?<=\bpage )\d{1,5}(?!\d)|\b\d{1,5}(?= ?(?:of|/) ?\d)|(?<=^- )\d{1,5}(?= -$)|^\d{1,5}$",
    re.IGNORECASE,
)


def find(text: str, lines: Sequence[Line], page_heights: Sequence[float]) -> frozenset[int]:
    """Indices of the lines that are running headers or footers.

    A line is one when at least three pages carry it at the same edge, letter for letter or with one
    number that counts along with the pages, and when everything further out on its page is one too.
    Where pages end with their text, a line with such a number is one among the outermost. Of a
    document of two pages both must carry it, and must not say the same throughout. A line is one,
    too, in a slot whose words change with the chapter.

    Args:
        text: The document's text.
        lines: All lines of all pages; each has a box.
        page_heights: By page, in the order of the pages.
    """
    pages_by_key: defaultdict[Hashable, set[int]] = defaultdict(set)
    edges = list(_edges(lines, page_heights))
    are_two = len(page_heights) == _FEW_PAGES and not _are_alike(text, lines)
    number = _PAGE_NUMBER if are_two else _NUMBER
    for top, indices in edges:
        for index in indices:
            for key in _keys(text, lines[index], number):
                pages_by_key[top, key].add(lines[index].page_number)
    found: set[int] = set()
    fewest = _FEW_PAGES if are_two else max(_MIN_PAGES, _MIN_SHARE * len(page_heights))
    for top, indices in edges:
        for index in indices:
            counts = [len(pages_by_key[top, key]) for key in _keys(text, lines[index], number)]
            if not _is_at_edge(lines[index], page_heights):
                # The line itself is the first key.
                counts = [count for count in counts[1:] if count >= _MIN_NUMBERED]
            if max(counts, default=0) < fewest:
                break
            found.add(index)
    if len(page_heights) > _FEW_PAGES:
        for top in (True, False):
            found |= _changing(text, lines, page_heights, edges, found, top=top)
    # A document of which nothing is left has no furniture: its pages just say the same.
    return frozenset(found) if len(found) < len(lines) else frozenset()


def _changing(
    text: str,
    lines: Sequence[Line],
    page_heights: Sequence[float],
    edges: Sequence[tuple[bool, list[int]]],
    found: Collection[int],
    *,
    top: bool,
) -> set[int]:
    """Lines in the slot of a running head, or foot, that changes from chapter to chapter."""
    outermost: dict[int, tuple[float, str, int]] = {}
    for at_top, indices in edges:
        index = next((index for index in indices if index not in found), None)
        if at_top != top or index is None or not _is_at_edge(lines[index], page_heights, top=top):
            continue
        if box := lines[index].box:
            printed = text[lines[index].start : lines[index].end]
            outermost[lines[index].page_number] = box.top, printed, index
    heights = Counter(round(height) for height, *_ in outermost.values())
    usual = max(heights, key=lambda height: heights[height], default=0)
    slot = {
        page: (printed, index)
        for page, (height, printed, index) in outermost.items()
        if abs(height - usual) <= _SAME_HEIGHT
    }
    repeated = [
        page
        for page, (printed, _) in slot.items()
        if any(slot.get(page + step, ("", 0))[0] == printed for step in (-2, -1, 1, 2))
    ]
    if len(slot) < _MIN_IN_SLOT * len(page_heights) or len(repeated) < _MIN_REPEATED * len(slot):
        return set()
    return {index for _, index in slot.values()}


def _edges(
    lines: Sequence[Line], page_heights: Sequence[float]
) -> Iterator[tuple[bool, list[int]]]:
    """For each page its lines near the top, then those near the bottom, from the edge inwards."""
    by_page: defaultdict[int, list[int]] = defaultdict(list)
    for index, line in enumerate(lines):
        if line.box is not None:
            by_page[line.page_number].append(index)
    tops = {index: line.box.top for index, line in enumerate(lines) if line.box is not None}
    bottoms = {index: line.box.bottom for index, line in enumerate(lines) if line.box is not None}
    for indices in by_page.values():
        for top in (True, False):
            inwards = (
                sorted(indices, key=lambda index: tops[index])
                if top
                else sorted(indices, key=lambda index: -bottoms[index])
            )
            near = [
                index
                for depth, index in enumerate(inwards)
                if depth < _OUTERMOST or _is_at_edge(lines[index], page_heights, top=top)
            ]
            if near:
                yield top, near


def _is_at_edge(line: Line, page_heights: Sequence[float], *, top: bool | None = None) -> bool:
    """Whether a line is in the margin, at the top, at the bottom or, if none is said, at either."""
    if line.box is None:
        return False
    height = page_heights[line.page_number - 1]
    above = line.box.bottom <= _EDGE * height
    below = line.box.top >= (1 - _EDGE) * height
    return above or below if top is None else above if top else below


def _are_alike(text: str, lines: Sequence[Line]) -> bool:
    """Whether all pages say the same: copies of one page, of which nothing is a running line."""
    pages: defaultdict[int, list[str]] = defaultdict(list)
    for line in lines:
        pages[line.page_number].append(text[line.start : line.end])
    return len(set(map(tuple, pages.values()))) < _FEW_PAGES


def _keys(text: str, line: Line, number_of_page: re.Pattern[str]) -> Iterator[Hashable]:
    """What the line has in common with its like on other pages."""
    printed = " ".join(text[line.start : line.end].split())
    yield printed
    numbers = list(number_of_page.finditer(printed))
    if len(numbers) <= _MAX_NUMBERS:
        for number in numbers:
            lead = int(number.group()) - line.page_number
            yield printed[: number.start()], printed[number.end() :], lead
    if number_of_page is _NUMBER and (value := page_labels.roman(printed)):
        yield "roman", value - line.page_number
