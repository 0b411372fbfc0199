"""Ten thousand quotes changed in meaning, and as many printed otherwise: none passes, all pass."""

import unicodedata
from collections import Counter
from pathlib import Path
from random import Random

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.altered import altered
from benchmarks.mutations import SAMPLES, variants
from benchmarks.quote_rows import Quote, quotes, texts
from services.verification.evidence import Passage
from services.verification.quotes import locate
from services.verification.source import Source

ENOUGH = 10_000
CASES = sorted((Path(__file__).parents[1] / "cases" / "quotes").glob("*.yaml"))


def in_seven_scripts():
    """Single sentences of the cases, each its own source."""
    for path in CASES:
        for case in yaml.safe_load(path.read_text(encoding="utf-8")):
            text = case["source"]
            if (
                case["expect"] == "FOUND"
                and case["span_text"] == text
                and text.isprintable()
                and ".." not in text  # The text's own dots are read as an elision once a word goes.
                and unicodedata.is_normalized("NFC", text)
            ):
                yield Quote(text, 0, len(text))


SENTENCES = [
    (source, quote)
    for text in texts(SAMPLES)
    for source in [Source(Passage("p", text))]
    for quote in quotes(text)
]
SENTENCES += [(Source(Passage("p", quote.source)), quote) for quote in in_seven_scripts()]

sentences = st.sampled_from(SENTENCES)
dice = st.integers(0, 2**32).map(Random)


def thorough(examples):
    return settings(
        max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck), database=None
    )


def test_no_quote_that_was_changed_in_meaning_is_found():
    tried = Counter()

    @given(sentences, dice)
    @thorough(1_000)
    def change(sentence, chance):
        source, quote = sentence
        for kind, text in altered(quote.text, source.text, chance):
            tried[kind] += 1
            found = locate(source, text)
            assert found is None or found.cut, kind

    change()
    print(dict(sorted(tried.items())))  # noqa: T201 - the counts are asked for
    assert tried.total() >= ENOUGH


def test_a_true_quote_is_found_at_its_offsets_however_either_side_is_printed():
    tried = Counter()

    @given(sentences, dice)
    @thorough(540)
    def print_otherwise(sentence, chance):
        for kind, source, text, expected in variants(*sentence, chance):
            tried[kind] += 1
            found = locate(source, text)
            assert found, kind
            assert (found.span, found.cut) == (expected, None), kind

    print_otherwise()
    print(dict(sorted(tried.items())))  # noqa: T201 - the counts are asked for
    assert tried.total() >= ENOUGH
