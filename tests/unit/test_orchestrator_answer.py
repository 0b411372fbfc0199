"""Nothing that was not verified gets into an answer, whatever verification replies."""

from dataclasses import replace

import pytest
from fakes import citation, draft, honest, passage, statement
from hypothesis import given, settings
from hypothesis import strategies as st
from verity.v1 import core_pb2 as core
from verity.v1 import grounding_service_pb2 as grounding
from verity.v1 import retrieval_service_pb2 as retrieval
from verity.v1 import verification_service_pb2 as verification

from services.orchestrator import compliance
from services.orchestrator.answer import ABSTENTION, compose, text
from services.orchestrator.release import Release
from services.orchestrator.review import objection, review
from services.orchestrator.state import Asked

SOURCE = passage()
SUPPORTED = core.VERDICT_SUPPORTED
ASKED = Asked("t", "c", "q?", [retrieval.DocumentFilter()], 3, None, 0.0, 9.0)
Attempt = grounding.Attempt
Gap = grounding.ComplianceGap


def state(**known):
    return {
        "asked": ASKED,
        "standalone": "",
        "strategy": grounding.Strategy(passages=8),
        "attempts": 1,
        "attempt_log": [Attempt(attempt=1, outcome=Attempt.OUTCOME_VERIFIED, generator="fake/1")],
        "compliance": core.COMPLIANCE_UNSPECIFIED,
        "said": [],
        "failed": [],
        "objections": [],
        "timings": [],
        "degraded": False,
        "extractive": False,
        "passages": [FACTS, RULES, SOURCE],
        "corpora": {},
        "outdated": [],
        "verifier": "fake-verifier/1",
        "search": core.SearchReport(document_count=3, passage_count=70),
        "confidence": core.Confidence(grounding_confidence=0.9),
        **known,
    }


def of_type(name, kind):
    made = passage(name)
    made.document_type = kind
    return made


FACTS, RULES = of_type("facts", "kyc"), of_type("rules", "Policy")


def known_of(checked, **known):
    """What is known when a draft was checked."""
    release = Release([], [])
    for one in checked:
        release.offer(one)
    outcome = Attempt.OUTCOME_OBJECTED if release.failed else Attempt.OUTCOME_VERIFIED
    return state(
        said=release.said,
        failed=release.failed,
        objections=[objection(one) for one in release.failed],
        attempt_log=[Attempt(attempt=1, outcome=outcome, generator="fake/1")],
        **known,
    )


def checked(made, passages=(SOURCE, FACTS, RULES)):
    request = verification.VerifyRequest(statements=made.statements, passages=passages)
    return review(made.statements, passages, honest(request), 1)


def answered(made, **known):
    return compose(known_of(checked(made), **known))


def supported(words, *citations):
    return core.VerifiedStatement(
        text=words,
        verdict=SUPPORTED,
        citations=citations or [citation(SOURCE, "a notarized proof of funds")],
    )


def released_from(made, *statements, passages=(SOURCE,)):
    reply = verification.VerifyResponse(statements=statements)
    return [one.verified for one in review(made.statements, passages, reply, 1) if one.passed]


DRAFT = draft(statement("First."), statement("Second."))


def test_a_verified_draft_is_released_in_order():
    both = released_from(DRAFT, supported("First."), supported("Second."))
    assert [s.text for s in both] == ["First.", "Second."]


def test_a_reply_with_a_statement_too_few_or_too_many_releases_nothing():
    assert released_from(DRAFT, supported("First.")) == []
    assert released_from(DRAFT, *[supported("First.")] * 3) == []


def test_a_reply_with_other_words_than_the_drafts_releases_only_what_matches():
    assert [s.text for s in released_from(DRAFT, supported("First."), supported("Other."))] == [
        "First."
    ]
    assert released_from(DRAFT, supported("Second."), supported("First.")) == []


def test_a_support_without_a_located_citation_is_none():
    located = citation(SOURCE, "a notarized proof of funds")

    def moved(**change):
        other = core.Citation()
        other.CopyFrom(located)
        other.MergeFrom(core.Citation(**change))
        return other

    odd = {
        "no quote": core.Citation(passage_id=SOURCE.id),
        "another passage": moved(passage_id="p2"),
        "another place": moved(span=core.Span(start=located.span.start + 1)),
        "another quote": moved(quote="a notarised proof of funds"),
        "another file": moved(document_sha256="cd" * 32),
        "another document": moved(document_id="other"),
    }
    one = draft(statement("First."))
    assert released_from(one, core.VerifiedStatement(text="First.", verdict=SUPPORTED)) == []
    for name, found in odd.items():
        assert released_from(one, supported("First.", found)) == [], name
        assert released_from(one, supported("First.", located, found)) == [], name


def test_a_support_that_gives_reasons_against_itself_is_none():
    doubtful = supported("First.")
    doubtful.reasons.add(code=core.Reason.CODE_NUMBER_MISMATCH)
    assert released_from(draft(statement("First.")), doubtful) == []


def test_what_does_not_fit_is_objected_to_as_unchecked():
    broken = review(DRAFT.statements, [SOURCE], verification.VerifyResponse(), 2)
    found = [objection(one) for one in broken]
    assert [o.statement.text for o in found] == ["First.", "Second."]
    assert {o.verdict for o in found} == {core.VERDICT_UNCHECKED}
    assert {o.attempt for o in found} == {2}
    assert found[0].reasons[0].code == core.Reason.CODE_CHECK_FAILED


def test_more_citations_verified_than_there_are_count_as_all():
    twice = supported("First.", *[citation(SOURCE, "25% equity")] * 2)
    reply = verification.VerifyResponse(statements=[twice])
    (one,) = review(DRAFT.statements[:1], [SOURCE], reply, 1)
    assert one.citations_verified == 1


def test_citation_numbers_count_up_through_the_answer():
    once, twice = (citation(SOURCE, q) for q in ("Any corporate entity", "proof of funds"))
    assert text([supported("A.", once, twice), supported("B.", twice)]) == "A. [1][2] B. [3]"


def test_a_whole_draft_is_an_answer():
    answer = answered(draft(statement("A.")))
    assert answer.status == grounding.Answer.STATUS_ANSWERED
    assert answer.text == "A. [1]"
    assert answer.confidence.grounding_confidence == 0.9
    assert answer.generator == "fake/1"
    assert answer.verifier == "fake-verifier/1"
    assert not answer.HasField("abstention")


def test_a_part_of_a_draft_is_a_partial_answer_that_decides_no_compliance():
    made = draft(
        statement("A.", source="facts"),
        statement("C.", source="rules"),
        statement("B.", "invented"),
    )
    answer = answered(made, compliance=core.COMPLIANCE_COMPLIANT)
    assert answer.status == grounding.Answer.STATUS_PARTIAL
    assert [s.text for s in answer.statements] == ["A.", "C."]
    assert answer.compliance == core.COMPLIANCE_UNKNOWN
    assert [gap.corpus for gap in answer.compliance_gaps] == [Gap.CORPUS_JUDGEMENT]


@pytest.mark.parametrize(
    ("sources", "lacking"),
    [
        (["facts", "rules"], []),
        (["rules"], [Gap.CORPUS_FACTS]),
        (["facts"], [Gap.CORPUS_RULES]),
        # A document without a type says neither.
        (["p1"], [Gap.CORPUS_FACTS, Gap.CORPUS_RULES]),
    ],
)
def test_compliance_is_decided_only_where_facts_and_rules_are_cited(sources, lacking):
    made = draft(*(statement(f"From {name}.", source=name) for name in sources))
    answer = answered(made, compliance=core.COMPLIANCE_NON_COMPLIANT)
    decided = core.COMPLIANCE_UNKNOWN if lacking else core.COMPLIANCE_NON_COMPLIANT
    assert answer.compliance == decided
    assert [gap.corpus for gap in answer.compliance_gaps] == lacking
    assert all(gap.message for gap in answer.compliance_gaps)


def test_filters_say_what_is_fact_and_what_is_rule_whatever_the_documents_type():
    both = replace(ASKED, filters=[retrieval.DocumentFilter()] * 2)
    corpora = {"p1": frozenset({Gap.CORPUS_FACTS}), "facts": frozenset({Gap.CORPUS_RULES})}
    made = draft(statement("A."), statement("C.", source="facts"))
    known = {"asked": both, "corpora": corpora}
    answer = answered(made, compliance=core.COMPLIANCE_COMPLIANT, **known)
    assert answer.compliance == core.COMPLIANCE_COMPLIANT
    # Asked in two corpora, it is a question of compliance even if the drafter says nothing of it.
    answer = answered(made, **known)
    assert answer.compliance == core.COMPLIANCE_UNKNOWN
    assert [gap.corpus for gap in answer.compliance_gaps] == [Gap.CORPUS_JUDGEMENT]
    silent = compose(state(**known, attempts=0, attempt_log=[]))
    assert silent.compliance == core.COMPLIANCE_UNKNOWN
    assert [gap.corpus for gap in silent.compliance_gaps][:2] == [
        Gap.CORPUS_FACTS,
        Gap.CORPUS_RULES,
    ]


@pytest.mark.parametrize(
    ("kinds", "corpus"),
    [
        ("policy policies regulation regulations", Gap.CORPUS_RULES),
        ("richtlinie gesetz verordnung dienstanweisung handbuch", Gap.CORPUS_RULES),
        ("politique reglement loi procedure lignes-directrices", Gap.CORPUS_RULES),
        ("politica reglamento ley normativa procedimiento", Gap.CORPUS_RULES),
        ("regolamento legge procedura linee-guida direttiva", Gap.CORPUS_RULES),
        ("regulamento lei norma diretriz procedimentos", Gap.CORPUS_RULES),
        ("beleid wet richtlijn handboek reglement", Gap.CORPUS_RULES),
        ("regulamin ustawa polityka rozporzadzenie wytyczne", Gap.CORPUS_RULES),
        # What is the case: an identity card, a deed, a letter, a contract, minutes.
        ("kyc ausweis urkunde brief vertrag satzung", Gap.CORPUS_FACTS),
        ("acte statuts lettre contrat ordonnance", Gap.CORPUS_FACTS),
        ("escritura contrato carta acta decreto", Gap.CORPUS_FACTS),
        ("atto verbale contratto visura", Gap.CORPUS_FACTS),
        ("ata certidao akte uittreksel brief notulen", Gap.CORPUS_FACTS),
        ("umowa pismo statut zaswiadczenie wyciag", Gap.CORPUS_FACTS),
    ],
)
def test_the_type_of_a_document_says_in_eight_languages_whether_it_is_a_rule(kinds, corpus):
    found = compliance.by_type(of_type(kind, kind) for kind in kinds.split())
    assert set(found.values()) == {frozenset({corpus})}


def test_a_part_of_a_draft_about_no_compliance_stays_about_none():
    made = draft(statement("A."), statement("B.", "invented"))
    assert answered(made).compliance == core.COMPLIANCE_UNSPECIFIED


def test_nothing_verified_is_an_abstention_without_confidence():
    made = draft(statement("B.", "invented"))
    answer = answered(made, compliance=core.COMPLIANCE_COMPLIANT)
    assert answer.status == grounding.Answer.STATUS_ABSTAINED
    assert answer.text == ABSTENTION
    assert answer.abstention.type == core.Abstention.TYPE_UNVERIFIABLE
    assert answer.compliance == core.COMPLIANCE_UNSPECIFIED
    assert answer.HasField("confidence")
    assert answer.confidence.grounding_confidence == 0


def test_nothing_found_is_an_abstention_that_says_what_was_searched():
    answer = compose(state(attempts=0, attempt_log=[]))
    assert answer.abstention.type == core.Abstention.TYPE_NO_EVIDENCE
    assert "70 passages" in answer.abstention.message
    assert "3 documents" in answer.abstention.message
    assert answer.search.passage_count == 70


words = st.text(alphabet="abc .", min_size=1, max_size=4)
spans = st.builds(
    core.Span, start=st.integers(0, len(SOURCE.text)), end=st.integers(0, len(SOURCE.text))
)
good_citations = st.sampled_from(["a notarized proof of funds", "25% equity"]).map(
    lambda quote: citation(SOURCE, quote)
)
odd_citations = st.builds(
    core.Citation,
    quote=st.sampled_from(["", " ", "25% equity", "26% equity"]),
    passage_id=st.sampled_from(["p1", "p2", ""]),
    document_id=st.sampled_from([SOURCE.document_id, ""]),
    document_sha256=st.sampled_from([SOURCE.document_sha256, ""]),
    span=spans,
)
verified_statements = st.builds(
    core.VerifiedStatement,
    text=words,
    verdict=st.sampled_from([0, 1, 1, 1, 2, 3, 4, 5, 42]),
    reasons=st.lists(st.builds(core.Reason, code=st.integers(0, 18)), max_size=1),
    citations=st.lists(good_citations | odd_citations, max_size=3),
)
replies = st.builds(
    verification.VerifyResponse,
    statements=st.lists(verified_statements, max_size=5),
    citations_total=st.integers(0, 9),
    citations_verified=st.integers(0, 9),
)


@settings(max_examples=300)
@given(drafted=st.lists(words, min_size=1, max_size=5), reply=replies, fitted=st.booleans())
def test_no_reply_gets_an_unverified_word_into_an_answer(drafted, reply, fitted):
    made = draft(*(statement(w) for w in drafted))
    if (
        fitted
    ):  # Else hardly any reply would fit its draft, and the property would hold for nothing.
        for one, w in zip(reply.statements, drafted, strict=False):
            one.text = w
    reviewed = review(made.statements, [SOURCE], reply, 1)
    answer = compose(known_of(reviewed))

    assert [one.verified.text for one in reviewed] == drafted
    proven = [
        one
        for w, one in zip(drafted, reply.statements, strict=False)
        if len(reply.statements) == len(drafted)
        and one.text == w
        and one.verdict == SUPPORTED
        and one.citations
        and not one.reasons
        and all(c.quote.strip() and c.passage_id == "p1" for c in one.citations)
        and all(SOURCE.text[c.span.start : c.span.end] == c.quote for c in one.citations)
        and all(c.document_sha256 == SOURCE.document_sha256 for c in one.citations)
        and all(c.document_id == SOURCE.document_id for c in one.citations)
    ]
    # What is said again in the same words is said once.
    once = list({" ".join(one.text.split()): one for one in reversed(proven)}.values())[::-1]
    assert sorted(s.text.split() for s in answer.statements) == sorted(
        one.text.split() for one in once
    )
    assert all(one in proven for one in answer.statements)
    assert answer.text == (text(answer.statements) if proven else ABSTENTION)
    assert [o.statement.text for o in answer.objections] == [
        one.verified.text for one in reviewed if one.verified not in proven
    ]


def conflicting(*citations):
    reason = core.Reason(code=core.Reason.CODE_CONFLICTING_SOURCES, citations=citations)
    return core.VerifiedStatement(
        text="A.", verdict=core.VERDICT_CONTRADICTED, reasons=[reason], citations=citations[:1]
    )


def test_a_conflict_that_stops_an_answer_is_its_abstention_with_each_place_once():
    one, other = (citation(SOURCE, q) for q in ("Any corporate entity", "proof of funds"))
    reply = verification.VerifyResponse(statements=[conflicting(one, other)] * 2)
    answer = compose(known_of(review([statement("A.")] * 2, [SOURCE], reply, 1)))
    assert answer.abstention.type == core.Abstention.TYPE_CONFLICTING
    assert list(answer.abstention.conflicting) == [one, other]


def test_a_side_of_a_conflict_that_is_not_in_its_source_makes_the_statement_unchecked():
    one = citation(SOURCE, "Any corporate entity")
    invented = core.Citation(passage_id="p1", quote="Pay me.", span=core.Span(start=0, end=7))
    reply = verification.VerifyResponse(statements=[conflicting(one, invented)])
    reviewed = review([statement("A.")], [SOURCE], reply, 1)
    assert reviewed[0].verified.verdict == core.VERDICT_UNCHECKED
    answer = compose(known_of(reviewed))
    assert answer.abstention.type == core.Abstention.TYPE_UNVERIFIABLE
    assert "Pay me" not in str(answer)
