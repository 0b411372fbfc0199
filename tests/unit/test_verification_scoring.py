"""The figures of an answer."""

import pytest

from services.chassis.errors import InvalidInput
from services.verification.evidence import Authority, Verdict
from services.verification.scoring import Confidence, Scored, Weights, score

SUPPORTED, UNSUPPORTED = Verdict.SUPPORTED, Verdict.UNSUPPORTED
HIGH, MEDIUM, STANDARD = Authority.HIGH, Authority.MEDIUM, Authority.STANDARD


def scored(text="The fee is due.", verdict=SUPPORTED, **documents):
    return Scored(text, verdict, list(documents.items()))


def test_a_perfect_answer_scores_one():
    assert score([scored(policy=HIGH)], 1, 1, Weights()) == Confidence(1.0, 1.0, 1.0, 1.0)


def test_the_figures_are_weighted_as_defined():
    confidence = score(
        [
            scored(policy=HIGH, memo=STANDARD),
            scored(policy=HIGH),
            scored(verdict=UNSUPPORTED),
            scored(call=MEDIUM),
        ],
        5,
        4,
        Weights(),
    )
    assert confidence.citation_accuracy == 0.8
    assert confidence.source_authority == pytest.approx((1.0 + 0.4 + 0.7) / 3)
    assert confidence.coverage == 0.75
    assert confidence.grounding_confidence == pytest.approx(0.6 * 0.8 + 0.3 * 0.7 + 0.1 * 0.75)


def test_a_document_cited_twice_counts_once():
    confidence = score([scored(a=HIGH), scored(a=HIGH), scored(b=STANDARD)], 3, 3, Weights())
    assert confidence.source_authority == pytest.approx(0.7)


def test_an_authority_that_is_not_stated_weighs_as_standard():
    assert score([scored(a=Authority.UNSPECIFIED)], 1, 1, Weights()).source_authority == 0.4


def test_what_states_nothing_is_not_counted():
    greeting = scored("Hello!", Verdict.UNCITED)
    assert score([greeting, scored(a=HIGH)], 1, 1, Weights()).coverage == 1.0


def test_nothing_supported_is_no_confidence_whatever_was_located():
    confidence = score([scored(verdict=UNSUPPORTED, a=HIGH)], 1, 1, Weights())
    assert confidence.grounding_confidence == 0.0
    assert confidence.citation_accuracy == 1.0


def test_an_empty_answer_scores_nothing():
    assert score([], 0, 0, Weights()) == Confidence(0.0, 0.0, 0.0, 0.0)


def test_more_verified_than_cited_is_refused():
    with pytest.raises(InvalidInput) as refused:
        score([], 1, 2, Weights())
    assert refused.value.violations[0].field == "citations_verified"


@pytest.mark.parametrize("weights", [(0.6, 0.3, 0.2), (1.2, -0.1, -0.1), (0.0, 0.0, 0.0)])
def test_weights_that_do_not_make_one_are_refused(weights):
    with pytest.raises(ValueError, match="make 1 together"):
        Weights(*weights)
