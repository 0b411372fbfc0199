"""Quotes changed in meaning, of which none may pass, and the same words printed otherwise.

`--data DIR` holds .txt, .md or .jsonl files with a `text` field; by default the project's samples.
Counts are by kind; the first wrong ones are listed.
"""

# ruff: noqa: RUF001 - typographic characters are meant

import argparse
import io
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.altered import altered
from benchmarks.printed import PRINTINGS, combined, inside
from benchmarks.quote_rows import Quote, quotes, texts
from services.retrieval.chunking import chunk
from services.retrieval.document import ParsedDocument
from services.verification.evidence import Passage, Span
from services.verification.quotes import Found, locate
from services.verification.source import Source

SAMPLES = Path(__file__).parents[1] / "samples" / "source"
SHOWN = 20
# Not of the quote itself: what is printed around it.
SOURCE_ONLY = {"page break"}
Wrong = dict[str, Any]


def measure(arguments: list[str]) -> dict[str, Any]:
    parser = argparse.ArgumentParser(prog="python -m benchmarks mutations")
    parser.add_argument("--data", type=Path, default=SAMPLES, help="a folder of texts")
    parser.add_argument("--mutations", type=int, default=12_000, help="of each family, at most")
    parser.add_argument("--pages", type=int, default=60, help="of a real PDF, at most")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    known = [(Source(Passage("p", text)), list(quotes(text))) for text in texts(options.data)]
    chance = Random(options.seed)
    return {
        "data": str(options.data),
        "quotes": sum(len(found) for _, found in known),
        "meaning": changed_in_meaning(known, chance, options.mutations),
        "presentation": printed_otherwise(known, chance, options.mutations),
        "pdf": through_a_pdf(known, options.pages),
    }


def changed_in_meaning(
    known: Sequence[tuple[Source, list[Quote]]], chance: Random, limit: int
) -> dict[str, Any]:
    tried, accepted = Counter[str](), Counter[str]()
    wrong: list[Wrong] = []
    for source, quote in _rounds(known):
        for kind, text in altered(quote.text, source.text, chance):
            tried[kind] += 1
            found = locate(source, text)
            if found and not found.cut:
                accepted[kind] += 1
                wrong.append({"kind": kind, "true": quote.text, "quote": text})
        if tried.total() >= limit:
            break
    return {
        "tried": tried.total(),
        "accepted": accepted.total(),
        "by_kind": {kind: [tried[kind], accepted[kind]] for kind in sorted(tried)},
        "wrong": wrong[:SHOWN],
    }


def printed_otherwise(
    known: Sequence[tuple[Source, list[Quote]]], chance: Random, limit: int
) -> dict[str, Any]:
    """A variant is right when it is found at the very offsets at which it stands."""
    tried, right = Counter[str](), Counter[str]()
    wrong: list[Wrong] = []
    for source, quote in _rounds(known):
        for kind, where, text, expected in variants(source, quote, chance):
            tried[kind] += 1
            found = locate(where, text)
            if _is_right(found, expected):
                right[kind] += 1
            else:
                wrong.append({"kind": kind, "quote": text, "found": repr(found)})
        if tried.total() >= limit:
            break
    return _table(tried, right, wrong)


def variants(
    source: Source, quote: Quote, chance: Random
) -> Iterator[tuple[str, Source, str, Span]]:
    """Each kind of printing, of the quote against its source and the other way round."""
    yield "as it is", source, quote.text, Span(quote.start, quote.end)
    for kind, printing in (*PRINTINGS.items(), ("combined", combined)):
        pieces = printing(quote.text, chance)
        if "".join(pieces) == quote.text:
            continue
        if kind not in SOURCE_ONLY:
            yield kind, source, "".join(pieces), Span(quote.start, quote.end)
        # Around the quote, as much of its source as may matter.
        near = source.text[max(0, quote.start - 400) : quote.end + 400]
        at = quote.start - max(0, quote.start - 400)
        text, start, end = inside(near, at, at + len(quote.text), pieces)
        if near.count(quote.text) == 1:
            yield kind, Source(Passage("p", text)), quote.text, Span(start, end)


def through_a_pdf(known: Sequence[tuple[Source, list[Quote]]], max_pages: int) -> dict[str, Any]:
    """Sentences set in a real PDF with running heads, and looked for in what is read from it.

    One that goes on over a page is looked for in its passage too, in which the head stands once.
    """
    tried, right = Counter[str](), Counter[str]()
    wrong: list[Wrong] = []
    wanted = [quote.text for _, found in known for quote in found][: max_pages * 30]
    wanted = [text for text in dict.fromkeys(wanted) if text.isprintable() and _is_latin_1(text)]
    for size in (8, 10, 13):
        document = _printed(wanted, size, max_pages)
        source, cut = Source(Passage("p", document.text)), list(_passages(document))
        for text in wanted:
            found = locate(source, text)
            tried[f"{size} pt"] += 1
            if _is_all_of(source, found, text):
                right[f"{size} pt"] += 1
            elif "".join(text.split()) not in "".join(source.body.split()):
                tried[f"{size} pt"] -= 1  # Past the last page.
            else:
                wrong.append({"kind": f"{size} pt", "quote": text, "found": repr(found)})
            for passage in cut if found and _is_over_a_page(source, found) else ():
                place = found.span.shifted(-passage.document_offset) if found else Span(0, 0)
                if not Span(0, len(passage.text)).contains(place):
                    continue
                kind, again = f"over a page, {size} pt", locate(Source(passage), text)
                tried[kind] += 1
                if _is_right(again, place):
                    right[kind] += 1
                else:
                    wrong.append({"kind": kind, "quote": text, "found": repr(again)})
    return _table(tried, right, wrong)


def _is_over_a_page(source: Source, found: Found) -> bool:
    return "\f" in source.text[found.span.start : found.span.end]


def _is_all_of(source: Source, found: Found | None, text: str) -> bool:
    cut = source.body[found.span.start : found.span.end] if found else ""
    return found is not None and not found.cut and _letters(cut) == _letters(text)


def _passages(document: ParsedDocument) -> Iterator[Passage]:
    """The document's passages, each with its furniture, as retrieval cuts them."""
    for piece in chunk(document, count_tokens=lambda text: len(text.split())):
        yield Passage(
            str(piece.start),
            document.text[piece.start : piece.end],
            document_offset=piece.start,
            furniture=tuple(
                Span(max(start, piece.start), min(end, piece.end)).shifted(-piece.start)
                for start, end in document.furniture
                if start < piece.end and piece.start < end
            ),
        )


def _printed(paragraphs: Sequence[str], size: int, max_pages: int) -> ParsedDocument:
    """What Verity's parser reads from a PDF of some paragraphs."""
    from reportlab.lib.pagesizes import A5  # noqa: PLC0415 - only this family needs them
    from reportlab.pdfgen.canvas import Canvas  # noqa: PLC0415

    from services.retrieval import parsers  # noqa: PLC0415

    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A5)
    width, height = A5
    lines: list[str] = []
    for paragraph in paragraphs:
        line = ""
        for word in paragraph.split():
            longer = f"{line} {word}".strip()
            if canvas.stringWidth(longer, "Helvetica", size) > width - 80:
                lines.append(line)
                line = word
            else:
                line = longer
        lines += [line, ""]
    per_page = int((height - 120) / (size * 1.3))
    for number in range(min(max_pages, -(-len(lines) // per_page))):
        canvas.setFont("Helvetica", 8)
        canvas.drawString(40, height - 30, "Rules of the House")
        canvas.drawString(width / 2, 25, f"Page {number + 1}")
        canvas.setFont("Helvetica", size)
        for row, line in enumerate(lines[number * per_page : (number + 1) * per_page]):
            canvas.drawString(40, height - 60 - row * size * 1.3, line)
        canvas.showPage()
    canvas.save()
    return parsers.parse(out.getvalue(), "rules.pdf")


def _rounds(known: Sequence[tuple[Source, list[Quote]]]) -> Iterator[tuple[Source, Quote]]:
    """Every quote once, then again with other dice: a small folder makes many variants."""
    if any(found for _, found in known):
        while True:
            yield from ((source, quote) for source, found in known for quote in found)


def _is_right(found: Found | None, expected: Span) -> bool:
    return found is not None and not found.cut and found.span == expected


def _table(tried: Counter[str], right: Counter[str], wrong: list[Wrong]) -> dict[str, Any]:
    missed = defaultdict(list)
    for one in wrong:
        missed[one["kind"]].append(one)
    return {
        "tried": tried.total(),
        "accepted": right.total(),
        "share": round(right.total() / max(tried.total(), 1), 5),
        "by_kind": {kind: [tried[kind], right[kind]] for kind in sorted(tried)},
        "wrong": [one for kind in sorted(missed) for one in missed[kind][:3]][:SHOWN],
    }


def _letters(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return re.sub(r"[\W_]", "", folded)


def _is_latin_1(text: str) -> bool:
    return all(ord(char) < 256 or char in "“”‘’–—" for char in text)
