"""What it costs to locate a true quote in a long document, against `str.find` and difflib.

All of it in one run and on one text, so that the ratios hold on any machine. `str.find` searches
the folded text for the folded quote: the least that anyone pays who folds at all.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from difflib import SequenceMatcher
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.quote_rows import quotes, texts
from services.verification.evidence import Passage
from services.verification.folding import fold
from services.verification.quotes import forget, locate
from services.verification.source import Source

SAMPLES = Path(__file__).parents[1] / "samples" / "source"
CHARS_PER_PAGE, CHARS_PER_LINE = 3_000, 90
LONG = 500


def measure(arguments: list[str]) -> dict[str, Any]:
    parser = argparse.ArgumentParser(prog="python -m benchmarks locate")
    parser.add_argument("--data", type=Path, default=SAMPLES, help="texts to make documents of")
    parser.add_argument("--pages", type=int, nargs="+", default=[10, 100, LONG, 1_000])
    parser.add_argument("--quotes", type=int, default=60)
    options = parser.parse_args(arguments)
    sentences = [quote.text for text in texts(options.data) for quote in quotes(text)]
    sizes = {pages: _size(sentences, pages, options.quotes) for pages in options.pages}
    return {
        "sizes": sizes,
        "difflib": _difflib(sentences, LONG),
        "targets": {"find_ratio": 3, "difflib_ratio": 200},
    }


def _size(sentences: list[str], pages: int, count: int) -> dict[str, Any]:
    text, wanted = _document(sentences, pages, count)
    source = Source(Passage("p", text))
    start = time.perf_counter()
    key, _ = source.folded.key, source.sentences
    indexing = time.perf_counter() - start
    found = [locate(source, quote) for quote in wanted]
    ours, theirs = [], []
    for quote in wanted:
        folded = fold(quote).key
        theirs.append(_seconds(partial(key.find, folded)))
        ours.append(_seconds(partial(_first_time, source, quote)))
    return {
        "pages": pages,
        "chars": len(text),
        "indexing_ms": round(indexing * 1000, 2),
        "indexing_us_per_page": round(indexing * 1e6 / pages, 2),
        "located": sum(one is not None and one.cut is None for one in found),
        "quotes": len(wanted),
        "locate_us": round(statistics.fmean(ours) * 1e6, 1),
        "find_us": round(statistics.fmean(theirs) * 1e6, 1),
        "find_ratio": round(sum(ours) / sum(theirs), 2),
    }


def _difflib(sentences: list[str], pages: int) -> dict[str, Any]:
    """Difflib takes minutes in a long document; one quote is enough to tell."""
    text, wanted = _document(sentences, pages, 1)
    source = Source(Passage("p", text))
    locate(source, wanted[0])
    ours = _seconds(partial(_first_time, source, wanted[0]))
    theirs = _seconds(
        lambda: SequenceMatcher(None, text, wanted[0], autojunk=False).find_longest_match(), times=1
    )
    return {"pages": pages, "seconds": round(theirs, 3), "difflib_ratio": round(theirs / ours)}


def _first_time(source: Source, quote: str) -> None:
    forget()
    locate(source, quote)


def _document(sentences: list[str], pages: int, count: int) -> tuple[str, list[str]]:
    """Wrapped pages of sentences, each made its own by a number, and quotes spread over them."""
    chance = Random(pages)
    numbered: list[str] = []
    size = 0
    for number, sentence in enumerate(cycle(sentences)):
        numbered.append(f"{sentence[:-1]} in case {number}{sentence[-1]}")
        size += len(numbered[-1]) + 1
        if size >= pages * CHARS_PER_PAGE:
            break
    places = sorted(chance.randrange(len(numbered)) for _ in range(count))
    lines = list(_wrapped(" ".join(numbered)))
    per_page = CHARS_PER_PAGE // CHARS_PER_LINE
    text = "\n\f".join(
        "\n".join(lines[at : at + per_page]) for at in range(0, len(lines), per_page)
    )
    return text, [numbered[place] for place in places]


def _wrapped(text: str) -> Iterator[str]:
    words = iter(text.split(" "))
    line = next(words)
    for word in words:
        if len(line) + len(word) >= CHARS_PER_LINE:
            yield line
            line = word
        else:
            line = f"{line} {word}"
    yield line


def _seconds(call: Callable[[], object], times: int = 5) -> float:
    """The best of some: what the work costs when nothing disturbs it."""
    best = float("inf")
    for _ in islice(cycle([None]), times):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best
