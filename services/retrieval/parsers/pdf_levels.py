"""Levels of a PDF's headings: from its outline, else from their numbers, else from their type."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from services.retrieval.document import Heading
from services.retrieval.parsers import numbering, section_sequence
from services.retrieval.parsers.pdf_layout import PlacedLine

MAX_LEVEL = 8


@dataclass(frozen=True, slots=True)
class Found:
    """Lines `first` to `end` are a heading; run in, only the number is."""

    first: int
    end: int
    numbered: numbering.Numbered | None
    outline_level: int = 0
    run_in: bool = False


@dataclass(frozen=True, slots=True)
class Style:
    """Type size to half a point, and weight."""

    size: float
    bold: bool

    @classmethod
    def of(cls, line: PlacedLine) -> "Style":
        return cls(round(2 * line.printed.size) / 2, line.printed.bold)


def headings(lines: Sequence[PlacedLine], found: Sequence[Found]) -> Iterator[Heading]:
    """What was found, with titles and levels."""
    levels = _levels(lines, found)
    for heading, level in zip(found, levels, strict=True):
        first = lines[heading.first]
        title_lines = [line.text for line in lines[heading.first : heading.end]]
        end = lines[heading.end - 1].end
        if heading.numbered and heading.run_in:
            title_lines = [numbering.label(first.text, heading.numbered)]
            end = first.start + heading.numbered.label_end
        yield Heading(
            start=first.start,
            end=end,
            level=min(level, MAX_LEVEL),
            section_id=heading.numbered.section_id if heading.numbered else "",
            title=" ".join(" ".join(title_lines).split()),
        )


def _levels(lines: Sequence[PlacedLine], found: Sequence[Found]) -> list[int]:
    """Levels: from the outline, else from the number, else from the type."""
    by_number = iter(
        section_sequence.levels([heading.numbered for heading in found if heading.numbered])
    )
    numbered_levels = [next(by_number) if heading.numbered else 0 for heading in found]
    # The outline may hang the sections under a root of its own, or number them from elsewhere.
    shifts: defaultdict[numbering.Kind, Counter[int]] = defaultdict(Counter)
    for heading, level in zip(found, numbered_levels, strict=True):
        if heading.numbered and heading.outline_level:
            shifts[heading.numbered.kind][heading.outline_level - level] += 1
    shift = {kind: counts.most_common(1)[0][0] for kind, counts in shifts.items()}
    known = [
        heading.outline_level
        or (max(level + shift.get(heading.numbered.kind, 0), 1) if heading.numbered else 0)
        for heading, level in zip(found, numbered_levels, strict=True)
    ]
    ranks: defaultdict[Style, Counter[tuple[int, bool]]] = defaultdict(Counter)
    for heading, level in zip(found, known, strict=True):
        if level and not heading.run_in:
            ranks[Style.of(lines[heading.first])][level, bool(heading.numbered)] += 1
    unknown = {
        Style.of(lines[heading.first])
        for heading, level in zip(found, known, strict=True)
        if not level
    }
    # Type without a known level stands one below the next larger type; what has no number stands
    # one below the numbers that are set as it is.
    by_style: dict[Style, int] = {}
    above = 0
    for style in sorted(unknown | ranks.keys(), key=lambda s: (s.size, s.bold), reverse=True):
        (level, is_numbered), _ = (ranks[style].most_common(1) or [((above + 1, False), 0)])[0]
        by_style[style] = level + is_numbered
        above = max(above, by_style[style] if style in unknown else level)
    return [
        level or by_style[Style.of(lines[heading.first])]
        for heading, level in zip(found, known, strict=True)
    ]
