"""What a query names exactly, and which passages have it."""

import pytest

from services.retrieval.passage import Metadata, Passage
from services.retrieval.routing import Kind, has, leading, named
from services.retrieval.sections import section_keys


def passage(text="", section_id=""):
    return Passage(
        id="p",
        document_id="d",
        document_sha256="",
        version=1,
        metadata=Metadata("a.txt", "document", 1),
        text=text,
        page_number=1,
        section_id=section_id,
        heading_path=(),
        start=0,
        end=len(text),
        regions=(),
    )


@pytest.mark.parametrize(
    ("query", "keys"),
    [
        ("What does Section 4.2 require?", ["4.2"]),
        ("Article 15 of the GDPR", ["15"]),
        ("SEC_4.2", ["4.2"]),
        ("does 14.2.3.Guidance.10 apply", ["14.2.3.guidance.10"]),
        ("§ 5 and Art. 48(1)(a)", ["5", "48.1.a"]),
        ("Rule 1.1.1.(2)", ["1.1.1.2"]),
        ("see Annex A", ["annex.a"]),
        ("3.5 million in 2022, or 4.2%", []),
        ("part 2 of 3", []),
        ("the sectional door", []),
    ],
)
def test_numbers_of_sections_are_seen_and_amounts_are_not(query, keys):
    assert [one.key for one in named(query) if one.kind is Kind.SECTION] == keys


@pytest.mark.parametrize(
    ("section_id", "key", "is_in"),
    [
        ("4.2", "4.2", True),
        ("Article 48(1)", "48.1", True),
        ("Article 48(1)", "48", True),
        ("SEC_4.2", "4.2", True),
        ("14.2.3.Guidance.10", "14.2.3", True),
        ("14.2.30", "14.2.3", False),
        ("Annex 4", "4", False),
        ("", "4.2", False),
    ],
)
def test_a_passage_has_the_section_it_is_in_however_the_number_is_printed(section_id, key, is_in):
    assert (key in section_keys(section_id)) is is_in


def test_a_quoted_phrase_is_had_by_what_has_its_words_in_order():
    (phrase,) = named("where is \u201cProof of funds\u201d said?")
    assert (phrase.kind, phrase.text) == (Kind.PHRASE, "Proof of funds")
    assert has(passage("a notarized PROOF OF\nFUNDS."), phrase)
    assert not has(passage("funds of proof; waterproof of fundsX"), phrase)


def test_a_query_names_a_bounded_number_of_things_each_once():
    assert len(named("section 1, section 1, " + ", ".join(f"section {n}" for n in range(50)))) == 10


@pytest.mark.parametrize(
    ("query", "leads"),
    [
        ("What does Section 4.2 say?", ["4.2"]),
        ("proof of funds in Section 5.1", ["5.1"]),
        ("Article 48(1) GDPR", ["48.1"]),
        (
            "Which records must an administrator of a fund keep for its auditor under Rule 17.1.5?",
            [],
        ),
        (
            'Which records must the administrator keep as "books of account" under Rule 17.1.5?',
            ["books of account"],
        ),
    ],
)
def test_a_section_leads_where_little_else_is_asked_and_a_quoted_phrase_always(query, leads):
    assert [one.key for one in leading(query, named(query))] == leads
