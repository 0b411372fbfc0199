"""What a query names exactly, and which passages have it."""

from pathlib import Path

import pytest
import yaml
from effort import ends_in_time

from services.retrieval.passage import Metadata, Passage
from services.retrieval.routing import Kind, has, leading, named, nearness, reached
from services.retrieval.sections import section_keys

CASES = yaml.safe_load(
    (Path(__file__).parents[1] / "cases" / "references.yaml").read_text(encoding="utf-8")
)


def passage(text="", section_id="", document="d"):
    return Passage(
        id=f"{document} {section_id}",
        document_id=document,
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


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["query"])
def test_numbers_of_sections_are_seen_and_ordinary_words_are_not(case):
    found = named(case["query"])
    assert {one.text: one.key for one in found} == case.get("names", {})
    around = {wider.text: wider.key for one in found for wider in one.wider}
    assert around == case.get("or", {})


@pytest.mark.parametrize(
    "piece",
    [
        "(1)",
        ".1",
        "section 1(1)",
        " paragraph 1 of",
        "Articles 1 and 2",
        "Articles 1, ",
        "annex i",
        "第1",
        "第1条第1款",
        "section I.1",
        "4.2.guidance",
    ],
)
def test_a_query_of_nothing_but_numbers_takes_no_long_time(piece):
    with ends_in_time():
        named("Articles 1" + piece * 2_000)


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


# A part of section 4 is no section 4.2.
IN_FORCE = (("manual", "6.1"), ("manual", "4"), ("act", "6"), ("act", "6(2)"))


def test_what_is_named_itself_is_nearer_than_what_lies_in_it():
    passages = [passage(section_id=number, document=of) for of, number in IN_FORCE]
    assert nearness(named("Art. 6"), passages) == {"manual 6.1": 1, "act 6": 2, "act 6(2)": 1}


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        # Of the act the paragraph itself; the charter's Article 6 is one text.
        ("Article 6(2)", {"Article 6(2)": ["act 6(2)"], "Article 6": ["charter 6"]}),
        ("Article 6(9)", {"Article 6(9)": [], "Article 6": ["act 6", "charter 6"]}),
        (
            "Article 6(2)(b)",
            {"Article 6(2)(b)": [], "Article 6(2)": ["act 6(2)"], "Article 6": ["charter 6"]},
        ),
        ("Article 8(1)", {"Article 8(1)": []}),
        ("Section 4.2", {"Section 4.2": []}),
    ],
)
def test_a_section_stands_for_its_part_in_a_document_that_has_the_part_nowhere(query, ids):
    passages = [
        passage(section_id=number, document=of) for of, number in (*IN_FORCE, ("charter", "6"))
    ]
    found = reached(named(query), passages)
    assert {one.text: [p.id for p in those] for one, those in found.items()} == ids


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
