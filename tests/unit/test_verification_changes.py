"""No change of a statement's meaning agrees with its source, and every other wording of it does."""

import re
import sys
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal

import pytest

from services.verification.roles import role
from services.verification.source import Cited
from services.verification.words import words
from tests.statements import cases, cited, codes
from tests.unit.test_verification_samples import SOURCES, sentences

EXCHANGES = (
    *(("must", "may"), ("must", "should"), ("shall", "may"), ("may", "must"), ("should", "must")),
    *(("may", "will"), ("more than", "at least"), ("at least", "more than"), ("up to", "over")),
    *(("at most", "at least"), ("within", "after"), ("fewer than", "more than"), ("under", "over")),
    *(("$", "€"), ("€", "£"), ("£", "$"), ("billion", "million"), ("million", "billion")),
    *(("%", " percentage points"), ("percentage points", "percent"), ("basis points", "percent")),
    *(("days", "weeks"), ("hours", "days"), ("months", "years"), ("years", "months")),
    *(("business days", "calendar days"), ("kg", "g"), ("mg", "g"), ("km", "miles"), ("MW", "GW")),
    *(("rose", "fell"), ("fell", "rose"), ("increased", "decreased"), ("before", "after")),
    *(("profit", "loss"), ("loss", "profit"), ("no later than", "no earlier than")),
    *(("first", "second"), ("third", "fourth"), ("Q1", "Q2"), ("Q3", "Q4"), ("never ", "")),
    *(("January", "June"), ("March", "April"), ("July", "June"), ("December", "November")),
    *(("two", "three"), ("three", "five"), ("twelve", "eleven"), ("half", "a third")),
)
AUXILIARY = re.compile(r"\b(?:is|are|was|were|must|shall|should|will|has|have)\b(?! not)")
CONDITION = re.compile(
    r"(?:, provided that|,?(?<!even) (?:unless|except|subject to|only if|if|as long as))"
    r"\b[^,;.]*(?=\.$)"
)


def sources() -> Iterator[tuple[Cited, str]]:
    """Each sentence of the samples and of the cases, as it is cited and as it is read."""
    for path in SOURCES:
        for passages, quote, read in sentences(path):
            yield cited(passages["p"].text, quote), read
    texts = {case["source"] for name in ("facts", "conditions") for case in cases(name)}
    for text in sorted(texts):
        if text.count(". ") == 0:
            yield cited(text), text


SENTENCES = list(sources())


def changes(text: str) -> Iterator[tuple[str, str]]:
    """The text with one change of its meaning, in every way it can be made, by kind."""
    for found in re.finditer(r"\d", text):
        other = str((int(found[0]) + 3) % 10)
        yield "digit", text[: found.start()] + other + text[found.end() :]
    for found in AUXILIARY.finditer(text):
        yield "negated", text[: found.end()] + " not" + text[found.end() :]
    for found in re.finditer(r"\b(?:not|never) ", text):
        yield "affirmed", text[: found.start()] + text[found.end() :]
    for one, other in EXCHANGES:
        pattern = re.escape(one) if not one[0].isalpha() else rf"\b{one}(?!\w| not| never)"
        for found in re.finditer(pattern, text):
            yield (
                f"{one.strip()} for {other.strip()}",
                text[: found.start()] + other + text[found.end() :],
            )
    if found := CONDITION.search(text):
        yield "condition dropped", text[: found.start()] + text[found.end() :]
    yield from swapped(text)


def swapped(text: str) -> Iterator[tuple[str, str]]:
    """The text with the parties on both sides of its verb exchanged."""
    found = re.match(r"The (\w+) (shall|must|may) (\w+) the (\w+)\b", text)
    if found and all(role(word) for word in words(f"{found[1]} {found[4]}")):
        one, modal, verb, other = found.groups()
        yield "parties", f"The {other} {modal} {verb} the {one}" + text[found.end() :]


def rewrites(text: str) -> Iterator[tuple[str, str]]:
    """The text in other words of the same meaning, by kind."""
    for pattern, kind, other in (
        (r"(\d[\d.]*) billion\b", "million for billion", lambda m: f"{thousands(m[1])} million"),
        (r"\b(24|48|72|96) hours\b", "days for hours", lambda m: f"{int(m[1]) // 24} days"),
        (r"(?<=\d)%", "percent in a word", lambda _: " percent"),
        (
            r"\bQ([1-4])(?= 20\d\d)",
            "quarter in words",
            lambda m: f"the {NTH[int(m[1])]} quarter of",
        ),
        (r"\b(12|24|36|60) months\b", "years for months", lambda m: f"{int(m[1]) // 12} years"),
        (r"\b(\d\d?) (January|March|June|July|December) (20\d\d)", "order of a date", american),
        (r"\bshall (?!not)", "must for shall", lambda _: "must "),
        (r"\b(is|was|were|does|did|are) not\b", "contracted", lambda m: f"{m[1]}n't"),
        (r"(?<!no )(?<!not )\bmore than (?=\d)", "over for more than", lambda _: "over "),
        (r"\bat least (\d+%)", "or more for at least", lambda m: f"{m[1]} or more"),
        (r"(?<!-)\b(two|three|five|twelve)(?= \w+s\b)", "digits for words", lambda m: DIGITS[m[1]]),
        (r"(?<![\w$€£])\$(?=\d)", "a code for a sign", lambda _: "USD "),
    ):
        if found := re.search(pattern, text):
            yield kind, text[: found.start()] + other(found) + text[found.end() :]
    if found := re.match(r"The (\w+) (shall|must) (notify|inform|indemnify) the (\w+)\b", text):
        one, modal, verb, other = found.groups()
        verb = {"notify": "notified", "inform": "informed", "indemnify": "indemnified"}[verb]
        passive = f"The {other} {modal} be {verb} by the {one}{text[found.end() :]}"
        yield "passive", passive


NTH = ("", "first", "second", "third", "fourth")
DIGITS = {"two": "2", "three": "3", "five": "5", "twelve": "12"}


def american(found: re.Match[str]) -> str:
    return f"{found[2]} {found[1]}, {found[3]}"


def thousands(number: str) -> str:
    return (
        f"{Decimal(number) * 1000:,f}".rstrip("0").rstrip(".") if "." in number else f"{number},000"
    )


def report(capsys, what: str, tried: Counter[str]) -> None:
    with capsys.disabled():
        sys.stdout.write(f"\n{tried.total()} {what}, by kind: {dict(tried.most_common())}\n")


def test_no_change_of_meaning_agrees(capsys):
    tried: Counter[str] = Counter()
    passed = []
    for source, text in SENTENCES:
        for kind, other in changes(text):
            if other != text:
                tried[kind] += 1
                if not codes(other, source):
                    passed.append((kind, other))
    report(capsys, f"changes of meaning, {len(passed)} accepted", tried)
    assert tried.total() > 2_000
    assert passed == []


def test_every_rewriting_agrees(capsys):
    tried: Counter[str] = Counter()
    failed = []
    for source, text in SENTENCES:
        if codes(text, source):
            continue  # It cites the sentence without the condition of the next one.
        for kind, other in rewrites(text):
            tried[kind] += 1
            if reasons := codes(other, source):
                failed.append((kind, other, reasons))
    report(capsys, f"rewritings, {len(failed)} rejected", tried)
    assert tried.total() > 100
    assert failed == []


@pytest.mark.parametrize("text", ["no payment may be made", "No member may vote"])
def test_no_one_may_is_not_no_one_must(text):
    source = cited(f"{text} before the board agrees.".capitalize())
    assert codes(f"{text.replace('may', 'must')} before the board agrees.", source)
