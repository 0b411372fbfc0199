"""The support scorer: what it counts, that a count only speaks its own way, and what it refuses."""

import math
from pathlib import Path

import pytest
from effort import is_linear
from hypothesis import given
from hypothesis import strategies as st

from services.verification import facts, polarity
from services.verification.evidence import Passage, Span
from services.verification.source import Cited, Source
from services.verification.support import Scorer
from services.verification.support_features import (
    MAX_COUNT,
    SUPPORTING,
    Features,
    measure,
)

FILE = Path(__file__).parents[2] / "services/verification/support.toml"
SCORER = Scorer.read(FILE.read_text())
RULE = (
    "Any corporate entity with a UBO holding more than 25% equity"
    " must submit a notarized proof of funds."
)
REVENUE = (
    "TechCorp reported revenue of $2.45 billion for the third quarter, an increase of 12%."
    " The board approved the dividend in Dublin. Costs were higher than in the year before."
)
shares = st.floats(0, 1)
counts = st.integers(0, MAX_COUNT).map(float)
counted = st.builds(
    Features,
    coverage=shares,
    phrasing=shares,
    figures=counts,
    names=counts,
    contradicted=st.sampled_from([0.0, 1.0]),
    negated=st.sampled_from([0.0, 1.0]),
    turned=counts,
    opposed=counts,
)


def cited(text, start=0, end=None):
    return [Cited(Source(Passage("p", text)), Span(start, len(text) if end is None else end))]


def count(statement, text):
    there = cited(text)
    reasons = [*facts.disagreements(statement, there), *polarity.disagreements(statement, there)]
    return measure(statement, there, reasons)


def score(statement, text):
    return SCORER.of(count(statement, text))


@given(counted, st.sampled_from(Features._fields), st.floats(0, 3))
def test_more_of_a_count_only_ever_speaks_its_own_way(features, name, more):
    changed = features._replace(**{name: getattr(features, name) + more})
    if name in SUPPORTING:
        assert SCORER.of(changed) >= SCORER.of(features)
    elif features.coverage:
        assert SCORER.of(changed) <= SCORER.of(features)


@given(counted)
def test_a_score_is_a_probability(features):
    assert 0 <= SCORER.of(features) <= 1


def test_every_count_of_the_shipped_file_has_weight():
    assert all(SCORER.weights)
    assert math.isfinite(SCORER.bias)


@pytest.mark.parametrize(
    ("text", "true", "false"),
    [
        (
            RULE,
            "A corporate entity whose UBO holds more than 25% must submit a proof of funds.",
            claim,
        )
        for claim in (
            "A corporate entity whose UBO holds more than 35% must submit a proof of funds.",
            "A corporate entity whose UBO holds more than 25% must not submit a proof of funds.",
            "A trust whose settlor resides abroad is registered by the central bank every year.",
        )
    ]
    + [
        (REVENUE, "TechCorp reported revenue of $2.45 billion for the third quarter.", claim)
        for claim in (
            "TechCorp reported revenue of $2.54 billion for the third quarter.",
            "Halcyon reported revenue of $2.45 billion for the third quarter.",
            "TechCorp reported no revenue of $2.45 billion for the third quarter.",
        )
    ]
    + [
        (
            REVENUE,
            "Costs were higher than the year before.",
            "Costs were lower than the year before.",
        ),
        (REVENUE, "The board approved the dividend.", "The regulator inspected the warehouse."),
    ],
)
def test_a_true_statement_scores_above_a_false_one(text, true, false):
    assert score(true, text) > score(false, text)
    assert score(true, text) >= SCORER.threshold


def test_a_sentence_scores_best_on_itself():
    features = count(RULE, RULE)
    assert features == Features(coverage=1.0, phrasing=1.0)
    assert SCORER.of(features) > 0.75


def test_words_that_stand_together_cover_more_than_words_far_apart():
    filler = "Nothing of this kind was said here. " * 5
    together = f"The board met in Dublin. It approved the dividend. {filler}"
    apart = f"The board met in Dublin. {filler} Someone approved it. {filler} The dividend fell."
    statement = "The board approved the dividend in Dublin."
    assert count(statement, together).coverage == 1.0 > count(statement, apart).coverage


def test_only_the_cited_stretch_is_counted():
    start = REVENUE.index("The board")
    there = cited(REVENUE, start)
    statement = "TechCorp reported revenue."
    assert measure(statement, there, []).coverage == 0
    assert measure(statement, cited(REVENUE), []).coverage == 1


def test_what_a_table_abbreviates_is_not_held_against_a_statement():
    table = "Model | BLEU\nBase | 20.1\nOurs (GA) | 22.3"
    statement = "The model of Ours with Graph Attention gains 2.3 BLEU."
    assert count(statement, table).names == count(statement, table).figures == 0
    assert count(statement, table.replace(" | ", ", ")).figures > 0


ODD = [
    "",
    " \n",
    "...!?",
    "\u200b\u200b",
    "\x00",
    "\ud800",
    "\u202eabc",
    "a" * 100_000,
    "| " * 5000,
]


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
def test_odd_input_never_passes(odd):
    assert SCORER.probability(odd, cited(REVENUE), []) == 0
    assert SCORER.probability(RULE, cited(odd), []) == 0


def test_nothing_cited_never_passes():
    assert SCORER.probability(RULE, [], []) == 0


def test_the_work_is_linear_in_the_cited_text():
    def measured(sentences):
        text = " ".join(
            f"Sentence {n} says that the board of company {n % 97} approved a dividend."
            for n in range(sentences)
        )
        measure("The board of company 5 approved a dividend of 12 euros.", cited(text), [])

    assert is_linear(measured, 2000)  # More sentences than are remembered.


def edited(old, new):
    text = FILE.read_text()
    assert old in text
    return text.replace(old, new)


@pytest.mark.parametrize(
    "broken",
    [
        "",
        "not toml at all",
        edited("[weights]", "[others]"),
        edited("coverage =", "cover ="),
        edited("coverage =", "# coverage ="),
        edited("coverage = ", "coverage = -"),
        edited("figures = -", "figures = "),
        edited("bias = ", "bias = nan # "),
        edited("phrasing = ", "phrasing = inf # "),
        edited("threshold = 0", "threshold = 7"),
        edited("version =", "name ="),
    ],
)
def test_a_broken_coefficients_file_is_refused(broken):
    with pytest.raises(ValueError):  # noqa: PT011 - the message is the file's own
        Scorer.read(broken)
