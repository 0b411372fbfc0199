"""Where on the displayed page stands what the file places in the page's own space."""

from collections.abc import Sequence
from dataclasses import dataclass

from services.retrieval.document import Box

_ROW_OVERLAP = 0.5

# Left, bottom, right, top in the page's own space, where y points up.
Rectangle = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Frame:
    """The part of a page's space that is displayed, and how it is turned."""

    left: float
    bottom: float
    right: float
    top: float
    rotation: int

    @property
    def size(self) -> tuple[float, float]:
        """Width and height as displayed."""
        width, height = self.right - self.left, self.top - self.bottom
        return (height, width) if self.rotation in {90, 270} else (width, height)

    def displayed(self, rectangles: Sequence[Rectangle]) -> Box | None:
        """The box around the rectangles, cut at the page's edges; None when it is off the page."""
        if not rectangles:
            return None
        lefts, bottoms, rights, tops = zip(*rectangles, strict=True)
        left, right = max(min(lefts), self.left), min(max(rights), self.right)
        bottom, top = max(min(bottoms), self.bottom), min(max(tops), self.top)
        if left > right or bottom > top:
            return None
        match self.rotation:
            case 90:
                edges = (
                    bottom - self.bottom,
                    left - self.left,
                    top - self.bottom,
                    right - self.left,
                )
            case 180:
                edges = (
                    self.right - right,
                    bottom - self.bottom,
                    self.right - left,
                    top - self.bottom,
                )
            case 270:
                edges = (self.top - top, self.right - right, self.top - bottom, self.right - left)
            case _:
                edges = (left - self.left, self.top - top, right - self.left, self.top - bottom)
        return Box(*edges)


def in_row(a: Box, b: Box) -> bool:
    """Whether two boxes are at the same height, as far as more than half of the lower one."""
    overlap = min(a.bottom, b.bottom) - max(a.top, b.top)
    return overlap > _ROW_OVERLAP * min(a.bottom - a.top, b.bottom - b.top)


def side_by_side(a: Box, b: Box) -> bool:
    """Whether two boxes are in a row and neither reaches over the other."""
    return in_row(a, b) and max(a.left, b.left) >= min(a.right, b.right)
