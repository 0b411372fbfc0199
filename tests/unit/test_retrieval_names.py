"""Which words of a question name a document."""

import pytest

from services.retrieval import bm25
from services.retrieval.names import name_terms, terms_that_may_name


@pytest.mark.parametrize(
    ("source_name", "question"),
    [
        ("3M_2022_10K.pdf", "Is 3M a capital-intensive business?"),
        ("3M_2022_10K.pdf", "What was it in FY2022?"),
        ("3M_2022_10K.pdf", "according to the 10-K"),
        ("ACTIVISIONBLIZZARD_2019_10K.pdf", "What is Activision Blizzard's revenue?"),
        ("AMCOR_2023Q4_EARNINGS.pdf", "How did Amcor do in 2023?"),
        ("تقرير_٢٠٢٤.pdf", "What was it in 2024?"),
        ("KYC_Packet_Halcyon_Trading.pdf", "Who owns Halcyon?"),
    ],
)
def test_a_question_names_a_document_by_a_word_of_its_file_name(source_name, question):
    assert set(name_terms(source_name)) & set(terms_that_may_name(question))


def test_small_numbers_single_letters_and_the_ending_name_nothing():
    assert name_terms("14.pdf") == name_terms("A_7-1.txt") == name_terms("") == []


def test_of_two_passages_of_the_same_words_the_one_of_the_named_document_weighs_more():
    def score(source_name):
        said = bm25.passage_vector("capital expenditure in millions", source_name)
        weights = dict(zip(said.indices, said.values, strict=True))
        asked = bm25.query_vector("What was 3M's capital expenditure in FY2022?")
        return sum(weights.get(index, 0.0) for index in asked.indices)

    assert score("3M_2022_10K.pdf") > score("AMD_2022_10K.pdf") > score("AMD_2015_10K.pdf")
