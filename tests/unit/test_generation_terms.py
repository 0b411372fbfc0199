"""Two ways of saying one thing share their terms, and different things do not."""

import pytest

from services.generation.terms import Reader


@pytest.fixture(scope="module")
def read():
    return Reader().read


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Q3 2024", "the third quarter of 2024"),
        ("Q3 2024", "third-quarter 2024"),
        ("Q3 2024", "Q3 of fiscal year 2024"),
        ("3Q24", "Q3 2024"),
        ("year-over-year", "year on year"),
        ("up year over year", "an increase from the prior year"),
        ("growth", "rose"),
        ("growth", "grew"),
        ("fell", "a decline"),
        ("$2.45 billion", "$2,450 million"),
        ("18%", "18.0 percent"),
        ("TechCorp's revenue", "the revenues of TechCorp"),
        ("the bank doesn\u2019t accept", "the bank does not accept"),
        ("notarized proofs", "a notarized proof"),
        ("How many employees are there?", "the employees"),
        ("What is the growth rate?", "growth"),
    ],
)
def test_wordings_of_one_thing_have_the_same_terms(one, other, read):
    assert set(read(one).terms) == set(read(other).terms)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Q3 2024", "Q3 2023"),
        ("Q3 2024", "Q2 2024"),
        ("notarized", "not notarized"),
        ("growth", "decline"),
        ("form 8832", "form 8833"),
        ("25%", "25"),
        ("$5", "5"),
        ("$5", "\u20ac5"),
        ("section 4.2", "section 4.20"),
        ("section 4.2", "section 42"),
        ("$2.45 billion", "$2.45 million"),
    ],
)
def test_different_things_have_different_terms(one, other, read):
    assert set(read(one).terms) != set(read(other).terms)


@pytest.mark.parametrize(
    ("bound", "figure", "admitted"),
    [
        ("more than 25%", "30%", True),
        ("more than 25%", "25%", False),
        ("at least 25%", "25%", True),
        ("less than 25%", "30%", False),
        ("up to $10,000", "$9,999", True),
        ("no more than 25%", "25%", True),
        ("more than 25%", "$30", False),
        ("more than 25", "30", False),
        ("25%", "30%", False),
        ("more than half of the 25%", "30%", False),
    ],
)
def test_a_bound_admits_what_lies_within_it_in_its_own_unit(bound, figure, admitted, read):
    [stated] = read(bound).quantities
    [asked] = read(figure).quantities
    assert stated.admits(asked) is admitted


@pytest.mark.parametrize(
    ("text", "term", "is_name"),
    [
        ("form 8832", "#8832", True),
        ("Q3 2024", "fy2024q3", True),
        ("policy MCB-POL-014", "pol-014", True),
        ("a share of 30%", "#30%", False),
        ("$30", "#30$", False),
        ("the form", "form", False),
    ],
)
def test_a_number_without_a_unit_is_a_name(text, term, is_name, read):
    found = read(text)
    assert term in found.terms
    assert found.is_name(term) is is_name


@pytest.mark.parametrize(
    "text", ["", " ", "?!", "\u202e\u0000", "1" * 5000, "9" * 400 + "%", "\U0001f600"]
)
def test_any_text_can_be_read(text, read):
    read(text)
