"""A topic is told from a question, in the languages whose questions are known."""

import pytest

from services.generation.topics import is_topic


@pytest.mark.parametrize(
    "text",
    [
        "custody agreement fees",
        "history of the proof of funds",
        "Global AML Policy 2026 section 4.2",
        "Geldwäscherichtlinie 2026",
    ],
)
def test_words_that_ask_nothing_are_a_topic(text):
    assert is_topic(text)


@pytest.mark.parametrize(
    "text",
    [
        "custody agreement fees?",
        "the fee of the custody agreement is",
        "Please list the fees of the agreement",
        "percentage of equity of a UBO",
        "the number of reviews in a year",
        "I want to know the fee",
        "welche Unterlagen sind einzureichen",
        "quels documents sont demandés",
        "cuánto cuesta la cuenta",
        "quale documento serve",
        "quem aprova a conta",
        "hoeveel kost de rekening",
        "jakie dokumenty, gdzie i kiedy",
        "срок хранения документов",
        "保存期間",
    ],
)
def test_what_asks_is_none(text):
    assert not is_topic(text)
