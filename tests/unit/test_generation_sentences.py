"""Sentences are found where they are, and nothing else is taken for one."""

import nupunkt
import pytest

from services.generation.sentences import reading, sentences

RULE = "Section 5.1: If proof of funds is not notarized, the onboarding must be escalated."


def found(text: str, *headings: str) -> list[str]:
    tokenizer = nupunkt.load("default")
    return [text[one.start : one.end] for one in sentences(text, headings, tokenizer)]


def test_sentences_are_cut_exactly_as_they_are_printed():
    text = "The document is due. It is due\nfor both owners.  It is\tnot due for C."
    assert found(text) == [
        "The document is due.",
        "It is due\nfor both owners.",
        "It is\tnot due for C.",
    ]


@pytest.mark.parametrize(
    "above",
    [
        "5.1 Proof of funds that is not notarized",
        "Proof of funds that is not notarized",
        "## 5.1 Proof of funds that is not notarized",
    ],
)
def test_a_heading_is_no_part_of_the_sentence_below_it(above):
    text = f"{above}\n{RULE}"
    assert found(text, "5.1 Proof of funds that is not notarized") == [RULE]
    assert found(text) == [RULE]  # Not named, and ended before the margin.


def test_the_first_line_of_a_sentence_that_was_taken_for_a_heading_stays_with_it():
    text = "Her proof consists of a letter of the bank with copies\nattached to the letter."
    assert found(text, "Her proof consists of a letter of the bank with copies") == [text]


@pytest.mark.parametrize(
    "text",
    [
        "| Revenue | $2,450 | $2,312 | up. |",
        "Revenue $2,450 $2,312 $2,076",
        "MCB-POL-014 \u00b7 Version 9.0 \u00b7 Internal \u00b7 Page 2 of 62.",
        "The onboarding must be escalated to the",
        "to the Senior Compliance Officer of the country.",
        "Yes. No. Maybe so.",
        "Name of the owner\nCompany and number of shares\nEquity in percent",
    ],
)
def test_rows_furniture_and_cut_ends_are_no_sentences(text):
    assert found(text) == []


def test_a_running_footer_does_not_join_the_sentence_before_it():
    text = f"{RULE}\nMCB-POL-014 Version 9.0\nGlobal AML Policy 2026"
    assert found(text) == [RULE]


def test_list_items_are_read_without_their_bullets():
    text = (
        "The file holds these:\n- A copy of the passport.\n"
        "\u2022 The signed form of the bank.\n2) A third one of these."
    )
    assert found(text) == [
        "A copy of the passport.",
        "The signed form of the bank.",
        "A third one of these.",
    ]


def test_paragraphs_are_parted_at_blank_lines():
    assert found("History of the capital\n\nThe company was founded in 2018.") == [
        "The company was founded in 2018."
    ]


@pytest.mark.parametrize(
    ("printed", "read"),
    [
        ("a notarized proof\nof funds", "a notarized proof of funds"),
        ("a notar-\nized proof", "a notarized proof"),
        ("a notar\u00ad\nized proof", "a notarized proof"),
        ("18% year-on-\nyear", "18% year-on-year"),
        ("the Anglo-\nSaxon model", "the Anglo-Saxon model"),
        ("between 10 -\n20 days", "between 10 - 20 days"),
        ("  two   spaces ", "two spaces"),
    ],
)
def test_layout_is_folded_and_wording_is_not(printed, read):
    assert reading(printed) == read
