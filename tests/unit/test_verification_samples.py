"""The sample documents: what they say is supported, and no small change of it is."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from statements import verify

from services.verification.evidence import DraftCitation, Passage, Statement, Verdict
from services.verification.sentences import states_something
from services.verification.source import Source
from services.verification.verdict import sources_of

SOURCES = sorted((Path(__file__).parents[2] / "samples" / "source").glob("*.md"))
EXCHANGES = (
    *(("must", "should"), ("should", "may"), ("more than", "at least"), ("at least", "more than")),
    *(("$", "€"), ("billion", "million"), ("million", "billion"), ("%", " percentage points")),
    *(("days", "weeks"), ("hours", "days"), ("rose", "fell"), ("before", "after")),
)
AUXILIARY = re.compile(r"\b(?:is|are|was|were|must|shall|should|will|has|have)\b(?! not)")


def sentences(path: Path) -> Iterator[tuple[dict[str, Source], str, str]]:
    """Each sentence of running text as (its paragraph, as it is quoted, as it is read)."""
    for paragraph in re.split(r"\n\s*\n", path.read_text(encoding="utf-8")):
        text = paragraph.strip()
        if not text or text[0] in "#|-*>:+[!`<\\" or text.startswith("---"):
            continue
        sources = sources_of([Passage("p", text)])
        for span in sources["p"].sentences:
            quote = text[span.start : span.end]
            if states_something(quote) and len(quote.split()) > 4 and quote.endswith("."):
                yield sources, quote, " ".join(quote.split())


def changed(sentence: str) -> Iterator[tuple[str, str]]:
    """The sentence with one small change of meaning, in every way it can be made."""
    for found in re.finditer(r"\d", sentence):
        other = str((int(found[0]) + 3) % 10)
        yield "digit", sentence[: found.start()] + other + sentence[found.end() :]
    for found in AUXILIARY.finditer(sentence):
        yield "negated", sentence[: found.end()] + " not" + sentence[found.end() :]
    for found in re.finditer(r"\b(?:not|never) ", sentence):
        yield "affirmed", sentence[: found.start()] + sentence[found.end() :]
    for one, other in EXCHANGES:
        pattern = re.escape(one) if not one.isascii() or not one[0].isalpha() else rf"\b{one}\b"
        for found in re.finditer(pattern, sentence):
            yield f"{one} for {other}", sentence[: found.start()] + other + sentence[found.end() :]


def verdict(sources: dict[str, Source], text: str, quote: str) -> Verdict:
    return verify(Statement(text, (DraftCitation("p", quote),)), sources).verdict


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_every_sentence_is_supported_by_itself(path):
    found = [(verdict(sources, text, quote), text) for sources, quote, text in sentences(path)]
    assert len(found) > 10
    assert [text for given, text in found if given is not Verdict.SUPPORTED] == []


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_no_sentence_supports_a_small_change_of_itself(path):
    tried: Counter[str] = Counter()
    passed = []
    for sources, quote, text in sentences(path):
        for kind, other in changed(text):
            tried[kind] += 1
            given = verdict(sources, other, quote)
            assert given is not Verdict.UNCHECKED
            if given is Verdict.SUPPORTED:
                passed.append((kind, other))
    assert tried.total() > 20
    assert passed == []
