"""Honest edits are made as their rules say, and those that are refused are counted by kind."""

from benchmarks.closeness import figures
from benchmarks.honest import Told, edits, items
from services.verification.evidence import Passage


def test_each_edit_is_made_where_its_rule_fits_and_nowhere_else():
    made = dict(
        edits(
            Told("In addition, it is not due within 5% of a year, which is short.", kind="policy")
        )
    )
    assert made["connective dropped"].text.startswith("It is not due")
    assert made["last part cut"].text.endswith("of a year.")
    assert made["contracted"].text.startswith("In addition, it isn't due")
    assert made["the document states that"].text.startswith("The policy states that in addition")
    assert not {"pronoun resolved", "condition put last", "two clauses joined"} & set(made)


def test_an_item_of_a_list_is_said_with_what_leads_in_to_it():
    found = [
        one.text
        for one in items(
            "A bank must:\n\n(a) keep its records for good;\n(b) file its reports in time."
        )
    ]
    assert found == [
        "A bank must: keep its records for good.",
        "A bank must: file its reports in time.",
    ]


def test_what_is_refused_is_counted_beside_what_other_checks_refuse():
    text = "If a letter is missing, the bank must close the account. The bank keeps records of it."
    found = figures([(Passage("p", text, source_name="AML_Policy.pdf"), "policy")])
    assert found["kinds"]["condition put last"] == {
        "edits": 1,
        "refused": 1,
        "free": 0,
        "first": ["The bank must close the account if a letter is missing."],
    }
    assert found["kinds"]["the document states that"]["refused"] == 0
    assert found["honest_refused"] == round(found["refused"] / found["edits"], 3)
