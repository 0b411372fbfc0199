"""Another source in force that gives another value for the same fact stops a statement."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from statements import verify

from services.verification.conflict import Conflicts, among
from services.verification.evidence import (
    Authority,
    Code,
    DraftCitation,
    Passage,
    Statement,
    Verdict,
)
from services.verification.index import Index
from services.verification.measures import figures
from services.verification.source import Cited, Source
from services.verification.verdict import sources_of

CASES = yaml.safe_load(
    (Path(__file__).parents[1] / "cases" / "conflicts.yaml").read_text(encoding="utf-8")
)


def passage(id_: str, said) -> Passage:
    known = said if isinstance(said, dict) else {"text": said}
    return Passage(
        id_,
        known["text"],
        document_id=known.get("document", ""),
        source_name=known.get("name", ""),
        section_id=known.get("section", ""),
        heading_path=tuple(known.get("headings", ())),
        authority=Authority.HIGH,
        published=known.get("published", ""),
        effective_from=known.get("from", ""),
        effective_to=known.get("to", ""),
    )


def finding(case):
    ours, theirs = passage("ours", case["ours"]), passage("theirs", case["theirs"])
    cited = [ours, theirs] if case.get("cites_theirs") else [ours]
    statement = Statement(
        case.get("statement", ours.text), tuple(DraftCitation(p.id, p.text) for p in cited)
    )
    return verify(statement, sources_of([ours, theirs]), today=case.get("today", "2026-06-01"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_sources_conflict_where_the_case_says_so(case):
    found = finding(case)
    assert found.error is None
    codes = {reason.code for reason in found.reasons}
    assert codes == ({Code.CONFLICTING_SOURCES} if case["conflict"] else set())
    assert found.verdict is (Verdict.CONTRADICTED if case["conflict"] else Verdict.SUPPORTED)


def test_there_are_cases_enough_on_both_sides():
    conflicting = sum(case["conflict"] for case in CASES)
    assert (conflicting >= 20, len(CASES) - conflicting >= 20) == (True, True)


@pytest.mark.parametrize(
    "case", [case for case in CASES if case["conflict"]], ids=lambda case: case["id"]
)
def test_a_conflict_shows_both_sentences_and_both_values(case):
    for reason in finding(case).reasons:
        ours, theirs = reason.citations
        assert (ours.passage.id, theirs.passage.id) == ("ours", "theirs")
        assert ours.quote in ours.passage.text
        text = theirs.passage.text
        assert text[reason.passage_span.start : reason.passage_span.end] in theirs.quote
        assert reason.statement_span is not None


def samples():
    """The paragraphs of the sample documents, each under the heading it stands under."""
    for path in sorted((Path(__file__).parents[2] / "samples" / "source").glob("*.md")):
        heading = ""
        for number, paragraph in enumerate(path.read_text(encoding="utf-8").split("\n\n")):
            text = paragraph.strip()
            if text.startswith("#"):
                heading = text.lstrip("# ")
            elif text:
                yield Passage(
                    f"{path.stem}-{number}",
                    text,
                    document_id=path.stem,
                    source_name=path.name,
                    heading_path=(heading,),
                )


def test_the_sample_documents_contradict_each_other_nowhere_and_any_changed_copy_of_them():
    sources = [Source(one) for one in samples()]
    index = Index(sources, lambda: None)
    conflicts = Conflicts(index.holding, "")
    found, copies, noticed = [], 0, 0
    for source in sources:
        for span in source.sentences:
            sentence = Cited(source, span)
            known = list(figures(sentence))
            if not known:
                continue
            found += conflicts.of(sentence.text, [sentence])
            digits = re.search(r"[1-9]", sentence.text[known[0].value.span.start :])
            if digits:
                copies += 1
                at = known[0].value.span.start + digits.start()
                other = str(int(digits[0]) % 9 + 1)
                text = sentence.text[:at] + other + sentence.text[at + 1 :]
                copy = Source(replace(source.passage, id="copy", document_id="copy", text=text))
                noticed += bool(Conflicts(among([copy]), "").of(sentence.text, [sentence]))
    assert [reason.message for reason in found] == []
    assert copies > 200
    assert noticed / copies > 0.9
