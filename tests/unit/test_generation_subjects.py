"""Facts of somebody else than the question names do not answer it; rules hold for everybody."""

import nupunkt
import pytest

from services.generation.drafter import Passage, Task
from services.generation.extractive import Extractor, Rules
from services.generation.subjects import Subjects, names


@pytest.fixture(scope="module")
def extractor():
    return Extractor(nupunkt.load("default"), Rules())


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("What were Best Buy's merchandise inventories at year end?", ["Best Buy"]),
        ("What was TechCorp's Q3 2024 revenue?", ["TechCorp"]),
        ("TechCorp revenue?", ["TechCorp"]),
        ("Revenue of Halcyon Trading in March?", ["Halcyon Trading"]),
        ("What must a UBO with 30% equity submit?", []),
        ("who approves it?", []),
        ("Was the étude by Émile Zola?", ["Émile Zola"]),
        ("What is due on Monday?", []),
        ("It is late. What follows?", []),
        ("Did Johnson & Johnson grow?", ["Johnson & Johnson"]),
        ("Hat Müller unterschrieben?", ["Müller"]),
    ],
)
def test_names_are_words_with_a_capital_of_their_own(question, found):
    assert list(names(question)) == found


def test_nobody_is_a_stranger_where_no_document_holds_the_name():
    assert not Subjects((frozenset({"acme"}),)).strangers({"a": {"profit"}, "b": {"loss"}})


def test_documents_without_a_name_that_others_hold_are_strangers():
    subjects = Subjects((frozenset({"best", "buy"}), frozenset({"nowhere"})))
    documents = {"a": {"best", "buy", "profit"}, "b": {"best", "profit"}}
    assert subjects.strangers(documents) == {"b"}


def test_a_figure_of_another_company_is_no_answer(extractor):
    ulta = Passage(
        "u",
        "Merchandise inventories at the end of the year totaled $1.6 billion.",
        document_id="ulta",
        source_name="ULTA.pdf",
    )
    best = Passage(
        "b", "Best Buy sells appliances in stores.", document_id="best", source_name="BEST.pdf"
    )
    question = "What were Best Buy's merchandise inventories at the end of the year?"

    assert extractor.extract(Task(question, [ulta, best])).insufficient
    assert not extractor.extract(Task(question.replace("Best Buy", "Ulta"), [ulta])).insufficient


def test_a_rule_that_names_nobody_answers_a_question_about_somebody(extractor):
    rule = Passage(
        "r",
        "If proof of funds is not notarized, the onboarding must be escalated to the officer.",
        document_id="policy",
    )
    fact = Passage(
        "f",
        "The proof of funds of Halcyon Trading is not notarized.",
        document_id="packet",
    )
    question = "Proof of funds of Halcyon Trading is not notarized. Who decides on the onboarding?"

    drafted = extractor.extract(Task(question, [rule, fact]))

    assert "r" in {one.passage_id for s in drafted.statements for one in s.citations}
