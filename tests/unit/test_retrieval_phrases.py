"""Which words of a query are quoted, and which texts have them."""

import pytest
from effort import ends_in_time

from services.retrieval.phrases import has_words, quoted


@pytest.mark.parametrize(
    ("query", "phrases"),
    [
        ('where is "proof of funds" said', ["proof of funds"]),
        ("where is \u201cproof of funds\u201d said", ["proof of funds"]),
        ("var st\u00e5r \u201dproof of funds\u201d", ["proof of funds"]),
        ("wo steht \u201eh\u00f6here Gewalt\u201c", ["h\u00f6here Gewalt"]),
        ("\u201eproof of funds\u201d", ["proof of funds"]),
        ("\u201ah\u00f6here Gewalt\u2018 und", ["h\u00f6here Gewalt"]),
        ("\u00abforce majeure\u00bb", ["force majeure"]),
        ("\u00bbh\u00f6here Gewalt\u00ab", ["h\u00f6here Gewalt"]),
        ("\u2039force majeure\u203a", ["force majeure"]),
        ("\u300c不可抗力\u300d条款", ["不可抗力"]),
        ("\u300e合同\u300f", ["合同"]),
        ("\u201c不可抗力\u201d", ["不可抗力"]),
        ("条款\u2018不可抗力\u2019条款", ["不可抗力"]),
        ("\u2018proof of funds\u2019, or", ["proof of funds"]),
        ("is 'proof of funds' said", ["proof of funds"]),
        ("'the customer's funds'", ["the customer's funds"]),
        ("\u2018the customer\u2019s funds\u2019", ["the customer\u2019s funds"]),
        ('"one thing" and "another thing"', ["one thing", "another thing"]),
        ("\u201cmajeure\u201d", ["majeure"]),
        # No phrases: apostrophes, and words that say little.
        ("the customer's and the bank's duties", []),
        ("the customer\u2019s and the bank\u2019s duties", []),
        ("O'Brien's claim and d'Arcy's", []),
        ("the customers' and the banks' duties", []),
        ("rock 'n' roll", []),
        ("l'avis de l'autorit\u00e9", []),
        ("5' by 6' and 5\" wide", []),
        ("a \u201cfund\u201d", []),
        ("\u201c税\u201d", []),
        ('"" and " "', []),
    ],
)
def test_words_in_the_quotation_marks_of_any_language_are_a_phrase(query, phrases):
    assert list(quoted(query)) == phrases


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("a notarized PROOF OF\nFUNDS.", "Proof of funds"),
        ("the final pro-\nvisions apply", "final provisions"),
        ("the final pro\u00advisions apply", "final provisions"),
        ("an anti-\nmoney rule", "anti-money rule"),
        ("an anti-money rule", "anti money rule"),
        ("因不可抗力导致不能履行合同的,", "不可抗力导致不能履行"),
        ("因不可抗\n力导致不能履行", "不可抗力导致"),
        ("ตามกฎหมายว่าด้วยการป้องกัน", "กฎหมายว่าด้วย"),
        ("다음 법은 회사에", "법은 회사에"),
        ("المادة \u0661\u0665 من", "المادة 15"),
    ],
)
def test_a_text_has_a_phrase_whatever_its_case_and_where_its_lines_break(text, phrase):
    assert has_words(text, phrase)


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("funds of proof", "proof of funds"),
        ("waterproof of funds", "proof of funds"),
        ("proof of fundsX", "proof of funds"),
        ("不可抗力", "不可抗拒"),
        ("the final pro visions", "final provisions"),
    ],
)
def test_words_in_another_order_or_inside_of_others_are_not_the_phrase(text, phrase):
    assert not has_words(text, phrase)


@pytest.mark.parametrize("piece", ["'", "\"'", "\u2018a", "a'", " 'a", "\u201e", "\u00bb\u00ab"])
def test_a_query_of_nothing_but_marks_takes_no_long_time(piece):
    with ends_in_time():
        list(quoted(piece * 4_000))
