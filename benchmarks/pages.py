"""Whether what is quoted from a filing stands on the page that a citation of it would name.

Experts wrote down for each question the evidence and its page. Each line of the evidence is given
to the quote engine, which looks for it on that page of the filing as it was parsed, and in the
passages that were cut of it, whose citation names a page of its own.

What was written down came out of another parser, which lost every character beyond ASCII
("Stockholders equity") and, of some filings, the spaces ("Totalrevenues"). The engine rightly takes
neither for the words of the page. A line whose letters and digits stand on the page, one after the
other, is therefore asked for a second time as the page spells it, and counted apart.
"""

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unicodedata import normalize

from services.retrieval.document import Chunk, Page, ParsedDocument
from services.retrieval.passage import Region, regions
from services.retrieval.reading import read
from services.verification import evidence
from services.verification.folding import fold
from services.verification.quotes import is_too_short, locate
from services.verification.source import Source

TARGET = 0.97


@dataclass(frozen=True, slots=True)
class Evidence:
    """What an expert found, line by line, and the page on which it stands, counted from 1."""

    lines: tuple[str, ...]
    page_number: int


def measure(arguments: list[str]) -> dict[str, Any]:
    """The figures of one run.

    Returns:
        `found`: the share of items of which every line is on its stated page; `mostly_as_written`:
        of which more than half of the lines are, letter for letter; `lines_as_written`,
        `lines_respelled`, `lines_missed`: how the lines were found; `elsewhere`: of those missed,
        how many are on another page; `lines_cited`: of the lines that are a quote by themselves,
        the share that a passage holds and cites with the stated page; `items_by_document`:
        [found, all].
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks pages")
    parser.add_argument("--data", type=Path, required=True, help="questions_*.jsonl and pdfs/")
    parser.add_argument("--misses", action="store_true", help="print the lines that are not found")
    options = parser.parse_args(arguments)
    counts: Counter[str] = Counter()
    by_document: dict[str, list[int]] = {}
    misses: list[dict[str, Any]] = []
    for name, items in sorted(_items(options.data).items()):
        path = options.data / "pdfs" / f"{name}.pdf"
        if not path.exists():
            counts["documents_missing"] += 1
            continue
        filing = _Filing(path)
        tally = by_document[name] = [0, 0]
        for item in items:
            ways = {line: filing.way(line, item.page_number) for line in item.lines}
            missed = [line for line, way in ways.items() if way is None]
            tally[0] += not missed
            tally[1] += 1
            counts.update(f"lines_{way or 'missed'}" for way in ways.values())
            counts["mostly"] += 2 * sum(way == "as_written" for way in ways.values()) > len(ways)
            for line in missed:
                page = filing.page_with(line)
                counts["elsewhere"] += page > 0
                misses.append(
                    {"document": name, "page": item.page_number, "line": line, "found_on": page}
                )
            for line, way in ways.items():
                if way == "as_written" and not is_too_short(line, None):
                    counts["quotes"] += 1
                    counts["quotes_cited"] += filing.cites(line, item.page_number)
    found, items_count = map(sum, zip(*by_document.values(), strict=True))
    share = found / items_count
    return {
        "documents": len(by_document),
        "documents_missing": counts["documents_missing"],
        "items": items_count,
        "found": round(share, 4),
        "mostly_as_written": round(counts["mostly"] / items_count, 4),
        "lines_as_written": counts["lines_as_written"],
        "lines_respelled": counts["lines_respelled"],
        "lines_missed": counts["lines_missed"],
        "elsewhere": counts["elsewhere"],
        "lines_cited": round(counts["quotes_cited"] / counts["quotes"], 4),
        "items_by_document": by_document,
        **({"misses": misses} if options.misses else {}),
        "target": {"found": TARGET, "met": share >= TARGET},
    }


def _items(data: Path) -> dict[str, list[Evidence]]:
    items: defaultdict[str, list[Evidence]] = defaultdict(list)
    for path in sorted(data.glob("questions*.jsonl")):
        for row in map(json.loads, path.read_text().splitlines()):
            for part in row["evidence"]:
                lines = tuple(_joined(part["evidence_text"].splitlines()))
                items[part["doc_name"]].append(Evidence(lines, part["evidence_page_num"] + 1))
    return items


def _joined(lines: Sequence[str]) -> Iterator[str]:
    """The lines; one that ends within a compound or before its figure's unit goes on in the next.

    Of a line that is only a mark, such as "$", nothing can be said.
    """
    above = ""
    for line in map(str.strip, lines):
        if not any(map(str.isalnum, line)):
            continue
        if above.endswith("-") or (above[-1:].isdigit() and line[0].islower()):
            above = f"{above}\n{line}"
            continue
        if above:
            yield above
        above = line
    if above:
        yield above


class _Filing:
    """A filing, asked where a line stands."""

    def __init__(self, path: Path) -> None:
        reading = read(path.read_bytes(), path.name, "")
        self._document = reading.document
        self._chunks = reading.chunks
        self._pages: dict[int, Source] = {}

    def way(self, line: str, page_number: int) -> str | None:
        """How a line is on a page: as it is written or respelled; None when it is not."""
        if not 1 <= page_number <= len(self._document.pages):
            return None
        source = self._source(page_number)
        if _has(source, line):
            return "as_written"
        return "respelled" if any(_has(source, o) for o in _respelled(source, line)) else None

    def page_with(self, line: str) -> int:
        """The first page that has a line as it is written; 0 for none."""
        pages = self._document.pages
        return next((p.number for p in pages if _has(self._source(p.number), line)), 0)

    def _source(self, page_number: int) -> Source:
        if page_number not in self._pages:
            self._pages[page_number] = Source(_page(self._document, page_number))
        return self._pages[page_number]

    def cites(self, line: str, page_number: int) -> bool:
        """Whether a citation of a line names the page."""
        page = self._document.pages[page_number - 1]
        for chunk in self._chunks:
            if chunk.start < page.end and page.start < chunk.end:
                passage = _passage(self._document, chunk)
                found = locate(Source(passage), line)
                if (
                    found
                    and evidence.Citation(passage, found.span, found.match).page_number
                    == page_number
                ):
                    return True
        return False


def _has(source: Source, line: str) -> bool:
    # Figures alone point at nothing and are no quote; they are looked for as words.
    if is_too_short(line, None):
        return f" {fold(line).key} " in f" {source.folded.key} "
    return locate(source, line) is not None


def _respelled(source: Source, line: str) -> Iterator[str]:
    """The stretches of a page that have the letters and digits of a line, in ASCII, in order."""
    text = source.text
    # A raised mark was written down as a digit.
    plain = [normalize("NFKC", letter) if letter.isdigit() else letter for letter in text]
    places = [place for place, letter in enumerate(plain) if letter.isascii() and letter.isalnum()]
    letters = "".join(plain[place] for place in places)
    wanted = "".join(letter for letter in line if letter.isascii() and letter.isalnum())
    at = letters.find(wanted)
    while at >= 0:
        yield text[places[at] : places[at + len(wanted) - 1] + 1]
        at = letters.find(wanted, at + 1)


def _page(document: ParsedDocument, number: int) -> evidence.Passage:
    page: Page = document.pages[number - 1]
    return evidence.Passage(f"page {number}", document.text[page.start : page.end])


def _passage(document: ParsedDocument, chunk: Chunk) -> evidence.Passage:
    return evidence.Passage(
        f"{chunk.start}",
        document.text[chunk.start : chunk.end],
        heading_path=chunk.heading_path,
        page_number=chunk.page_number,
        regions=tuple(_regions(regions(document, chunk))),
    )


def _regions(placed: Sequence[Region]) -> Iterator[evidence.Region]:
    for region in placed:
        yield evidence.Region(evidence.Span(region.start, region.end), region.page_number)
