"""The extractive drafter answers with the sources' own sentences, or not at all."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import nupunkt
import pytest
from effort import is_linear
from observed import eventually
from statements import verify

from services.chassis.errors import DeadlineExceeded
from services.generation.drafter import (
    Compliance,
    Draft,
    Objection,
    Passage,
    Statement,
    Task,
)
from services.generation.extractive import ExtractiveDrafter, Extractor, Rules
from services.generation.sentences import reading
from services.verification.evidence import DraftCitation, Verdict
from services.verification.evidence import Passage as Evidence
from services.verification.evidence import Statement as Claim
from services.verification.verdict import sources_of

THRESHOLD = (
    "Section 4.2: Any corporate entity with a UBO holding more than 25% equity must submit a"
    " notarized proof of funds."
)
ESCALATION = (
    "Section 5.1: If proof of funds is not notarized, the onboarding must be escalated to the"
    " Senior Compliance Officer."
)
UBO_QUESTION = (
    "The corporate applicant has a UBO with 30% equity, but their proof of funds is not notarized."
    " What is the compliance action?"
)
REVENUE_QUESTION = "What was TechCorp's Q3 2024 revenue and year-over-year growth rate?"
REVENUE = (
    "Revenue for the third quarter of 2024 was $2.45 billion, an increase of 18% year over year."
)


def passage(name: str, text: str, **more) -> Passage:
    fields = {"source_name": "Policy.pdf", "authority": 3, "document_id": "policy", **more}
    return Passage(name, text, **fields)


POLICY = (
    passage(
        "p42",
        "4.2 Beneficial ownership thresholds\n" + THRESHOLD.replace("submit a", "submit a\n") + "\n"
        "The share is the sum of direct and indirect equity on the day of the application.",
        heading_path=("Part 4", "4.2 Beneficial ownership thresholds"),
        start=4200,
    ),
    passage(
        "p55",
        "5.1 Proof of funds that is not notarized\n" + ESCALATION + "\n"
        "The account is not opened and no date for opening is promised.",
        heading_path=("Part 5", "5.1 Proof of funds that is not notarized"),
        start=5100,
    ),
    passage(
        "p43",
        "Section 4.3: Any corporate entity with a shareholder holding 10% equity or more must be"
        " placed under enhanced monitoring for the first twelve months.",
        start=4300,
    ),
    passage(
        "p52",
        "Section 5.2: If a required document is missing after a second request, the application"
        " must be referred to the Onboarding Team Leader.",
        start=5200,
    ),
    passage(
        "packet",
        "The proof of funds submitted by Ms Elena Marchetti is not notarized.",
        source_name="KYC_Packet.pdf",
        authority=2,
        document_id="packet",
    ),
)
REPORT = {"source_name": "TechCorp_Q3_2024_Report.pdf", "document_id": "report"}
QUARTER = (
    passage("r1", f"Third quarter highlights\n{REVENUE}", **REPORT),
    passage("r2", "Compared with the second quarter of 2024, revenue rose 6%.", **REPORT),
    passage("r3", "Cloud Platform revenue increased 25% to $1,127 million.", **REPORT),
    passage(
        "r4",
        "For the fourth quarter of 2024, TechCorp expects revenue between $2.52 billion and $2.60"
        " billion, which would be growth of 14% to 18% over the fourth quarter of 2023.",
        **REPORT,
    ),
    passage(
        "n1",
        "Consensus revenue was $2.38 billion, so the company beat expectations by $70 million.",
        source_name="Northgate_Analyst_Note_TechCorp.pdf",
        document_id="note",
        authority=2,
    ),
    passage(
        "b1",
        "TechCorp grew a whopping 25% last quarter, people.",
        source_name="StreetWire_Blog_TechCorp.pdf",
        document_id="blog",
        authority=1,
    ),
)


def extractor(**rules) -> Extractor:
    return Extractor(nupunkt.load("default"), Rules(**rules))


def extract(question: str, *passages: Passage, **rules) -> Draft:
    return extractor(**rules).extract(Task(question, passages))


def texts(draft: Draft) -> list[str]:
    return [statement.text for statement in draft.statements]


def test_the_rule_and_its_consequence_answer_the_question_about_the_30_percent_owner():
    draft = extract(UBO_QUESTION, *POLICY)
    assert texts(draft)[:2] == [THRESHOLD, ESCALATION]
    assert not draft.insufficient


def test_the_figure_of_the_quarter_asked_for_is_picked_among_the_others():
    draft = extract(REVENUE_QUESTION, *QUARTER)
    assert texts(draft) == [REVENUE]


@pytest.mark.parametrize("passages", [POLICY, QUARTER, (*POLICY, *QUARTER), ()])
def test_nothing_answers_a_question_about_something_else(passages):
    draft = extract("What is the penalty for late filing of form 8832?", *passages)
    assert draft.insufficient
    assert draft.statements == ()


def test_what_a_documents_name_says_already_is_no_answer():
    report = passage(
        "u", "At Ulta Beauty, the possibilities are many.", source_name="Ulta_Beauty.pdf"
    )
    who = passage(
        "d",
        "A strong quarter, said Dave Kimbell, chief executive officer.",
        source_name="Ulta_Beauty.pdf",
    )
    question = "Who is the CEO of Ulta Beauty?"
    assert extract(question, report).insufficient
    assert texts(extract(question, report, who)) == [who.text]


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("Who is the CEO?", "The chief executive officer is Ms Ito."),
        ("Who is the chief executive officer?", "The CEO is Ms Ito."),
        ("What is a PEP?", "A politically exposed person holds a prominent public office."),
        ("Who are politically exposed persons?", "PEPs hold a prominent public office."),
    ],
)
def test_a_short_form_and_what_it_stands_for_are_the_same(question, sentence):
    assert texts(extract(question, passage("p", sentence))) == [sentence]


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("Who is the CEO?", "Costs of every office rose in the year."),
        ("Who is the CEO?", "The CFO is Ms Ito and lives here."),
        ("Who is in IT?", "It is tall and made of steel."),
    ],
)
def test_other_letters_are_another_short_form(question, sentence):
    assert extract(question, passage("p", sentence)).insufficient


@pytest.mark.parametrize(
    "question",
    [
        "What was TechCorp's Q3 2021 revenue?",
        "What does Section 9.7 require of a corporate entity?",
        "What is the capital of Australia?",
        "?",
        "What is it?",
    ],
)
def test_a_name_that_no_passage_holds_and_a_question_about_nothing_find_no_answer(question):
    assert extract(question, *POLICY, *QUARTER).insufficient


@pytest.mark.parametrize("question", [UBO_QUESTION, REVENUE_QUESTION])
def test_every_quote_is_cut_from_its_passage_and_every_statement_is_its_quote(question):
    passages = {one.id: one for one in (*POLICY, *QUARTER)}
    draft = extract(question, *passages.values())
    assert draft.statements
    for statement in draft.statements:
        [citation] = statement.citations
        assert citation.quote in passages[citation.passage_id].text
        assert statement.text == reading(citation.quote)


def test_of_two_sentences_that_say_the_same_the_source_with_more_authority_is_cited():
    blog = passage("blog", REVENUE, source_name="TechCorp_Q3_2024_Blog.pdf", authority=1)
    report = passage("report", REVENUE, source_name="TechCorp_Q3_2024_Note.pdf", authority=3)
    draft = extract(REVENUE_QUESTION, blog, report)
    [statement] = draft.statements
    assert statement.citations[0].passage_id == "report"


def test_each_part_of_a_question_gets_its_sentence():
    draft = extract(
        "Who approves the policy, how often does the committee meet and what does a dispensation"
        " run for?",
        passage("a", "The Board of Directors approves the policy and the risk appetite."),
        passage("b", "The Risk and Compliance Committee meets at least six times a year.", start=1),
        passage("c", "A dispensation runs for ninety days from the day of its grant.", start=2),
    )
    assert [one.citations[0].passage_id for one in draft.statements] == ["a", "b", "c"]


def test_a_part_of_a_question_is_too_little_to_answer_it():
    passages = (passage("a", "The Board of Directors approves the policy and the risk appetite."),)
    asked = "Who approves the policy, how often does the panel meet and what does it cost a year?"
    assert extract(asked, *passages).insufficient
    assert not extract("Who approves the policy?", *passages).insufficient


def test_there_are_no_more_statements_than_the_limit():
    assert len(extract(UBO_QUESTION, *POLICY, limit=1).statements) == 1


def test_a_sentence_that_was_objected_to_is_not_offered_again_and_another_is():
    task = Task(REVENUE_QUESTION, (*QUARTER, passage("t", REVENUE_SAID, **REPORT)))
    first = extractor().extract(task)
    rejected = tuple(Objection(statement, ()) for statement in first.statements)
    second = extractor().extract(replace(task, objections=rejected))
    assert REVENUE in texts(first)
    assert texts(second) == [REVENUE_SAID]


REVENUE_SAID = "In Q3 2024 our revenue came to $2.45 billion and growth year on year was 18%."


def test_when_all_that_answers_was_objected_to_there_is_no_answer():
    rejected = (Objection(Statement(REVENUE, ()), ()),)
    task = Task(REVENUE_QUESTION, (passage("r", REVENUE, **REPORT),), rejected)
    assert extractor().extract(task).insufficient


@pytest.mark.parametrize(
    ("question", "compliance"),
    [
        (UBO_QUESTION, Compliance.UNKNOWN),
        ("Is a proof of funds that is not notarized compliant?", Compliance.UNKNOWN),
        ("What must be done if proof of funds is not notarized?", Compliance.NOT_ASKED),
        ("Is the applicant in breach of form 8832?", Compliance.NOT_ASKED),  # No answer.
    ],
)
def test_compliance_is_never_judged_and_unknown_only_where_it_is_asked(question, compliance):
    assert extract(question, *POLICY).compliance is compliance


def test_a_sentence_in_the_form_the_question_asks_for_is_preferred():
    draft = extract(
        "How long is the suspicion report kept by the MLRO?",
        passage("a", "Section 1.7: The suspicion report is kept by the MLRO in a locked place."),
        passage("b", "The suspicion report is kept by the MLRO for seven years after the exit."),
        limit=1,
    )
    assert draft.statements[0].citations[0].passage_id == "b"


def test_the_cut_is_a_setting():
    assert extract(REVENUE_QUESTION, *QUARTER, cut=1.0).insufficient
    assert not extract("Which revenue?", *QUARTER, cut=0.0).insufficient


def test_of_a_topic_that_asks_nothing_more_must_be_covered_than_of_a_question():
    given = [passage("a", "The custody agreement names a branch in Bergen.")]
    assert not extract(
        "What does the custody agreement say of a delivery in Bergen?", *given
    ).insufficient
    assert extract("delivery Bergen custody fee agreement", *given).insufficient
    assert not extract("custody agreement Bergen", *given).insufficient


def test_the_same_task_gives_the_same_draft():
    task = Task(UBO_QUESTION, (*POLICY, *QUARTER))
    assert extractor().extract(task) == extractor().extract(task)


@pytest.mark.parametrize(
    "text",
    ["", "\n\n\n", "." * 10_000, "word " * 20_000, "|" * 500, "\ufeff\u200b\u00ad", "A.\n" * 5000],
    ids=["empty", "blank", "stops", "words", "bars", "invisible", "initials"],
)
def test_any_passage_can_be_read(text):
    extract(UBO_QUESTION, passage("odd", text), *POLICY)


class Slow:
    """An extractor that works until it is released or told to stop."""

    def __init__(self) -> None:
        self.started, self.released, self.stopped = (threading.Event() for _ in range(3))
        self.seen: list[str] = []

    def extract(self, task, proceed):
        self.seen.append(task.question)
        self.started.set()
        try:
            while not self.released.wait(0.001):
                proceed()
        except DeadlineExceeded:
            self.stopped.set()
            raise
        return Draft(())


@pytest.fixture
def one_thread():
    with ThreadPoolExecutor(1) as executor:
        yield executor


async def test_drafting_leaves_the_event_loop_free(one_thread):
    slow = Slow()
    call = asyncio.create_task(ExtractiveDrafter(slow, one_thread).draft(Task("?", ())))
    await eventually(slow.started.is_set)
    assert not call.done()
    slow.released.set()
    assert (await call).insufficient


async def test_a_call_that_is_cancelled_stops_its_work(one_thread):
    slow = Slow()
    call = asyncio.create_task(ExtractiveDrafter(slow, one_thread).draft(Task("?", ())))
    await eventually(slow.started.is_set)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert await eventually(slow.stopped.is_set)


async def test_a_call_that_is_cancelled_while_it_waits_is_never_run(one_thread):
    slow = Slow()
    drafter = ExtractiveDrafter(slow, one_thread)
    first = asyncio.create_task(drafter.draft(Task("first", ())))
    second = asyncio.create_task(drafter.draft(Task("second", ())))
    await eventually(slow.started.is_set)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    slow.released.set()
    await first
    await drafter.draft(Task("third", ()))
    assert slow.seen == ["first", "third"]


def test_the_extractor_asks_at_each_sentence_whether_to_go_on():
    asked = []
    extractor().extract(Task(UBO_QUESTION, POLICY), lambda: asked.append(1))
    assert len(asked) >= len(POLICY)


def test_threads_do_not_disturb_each_other():
    shared = extractor()
    tasks = [Task(question, (*POLICY, *QUARTER)) for question in (UBO_QUESTION, REVENUE_QUESTION)]
    alone = [extractor().extract(task) for task in tasks]
    with ThreadPoolExecutor(4) as executor:
        for _ in range(10):
            assert list(executor.map(shared.extract, tasks)) == alone


def test_the_work_of_a_draft_grows_with_the_text_and_not_faster():
    text = "The corporate entity must submit a proof of funds to the bank in {}.\n"

    def drafted(count: int) -> None:
        task = Task(UBO_QUESTION, (passage("p", "".join(map(text.format, range(count)))),))
        extractor().extract(task)

    assert is_linear(drafted, 200)


TABLE = (
    "Segment results, in million euros\n"
    "Segment | 2024 | 2023\n"
    "Segment: North | 2024: 2,450 | 2023: 2,076\n"
    "Segment: South | 2024: 1,120 | 2023: 1,344\n"
)


def test_a_figure_that_stands_only_in_a_table_is_answered_with_its_row():
    task = Task("What was the 2024 result of the North segment?", (passage("t", TABLE),))
    [statement] = extractor().extract(task).statements
    assert statement.text == "Segment: North | 2024: 2,450 | 2023: 2,076"
    assert statement.citations[0].quote in TABLE
    finding = verify(
        Claim(statement.text, (DraftCitation("t", statement.citations[0].quote),)),
        sources_of([Evidence("t", TABLE)]),
    )
    assert finding.verdict is Verdict.SUPPORTED


@pytest.mark.parametrize(
    "question",
    [
        "What was the 2024 result of the West segment?",
        "What was the 2024 result of the North West segment?",
        "Who leads the North segment?",
        "What was the 2024 result of the segment?",
    ],
)
def test_a_table_without_the_figure_is_no_answer(question):
    table = passage("t", TABLE.replace("South", "North East"))
    assert all("East" not in text for text in texts(extract(question, table)))


def test_a_question_for_no_figure_is_not_answered_with_a_row():
    assert extract("Who leads the North segment?", passage("t", TABLE)).insufficient


def test_a_rejected_row_is_not_offered_again():
    task = Task("What was the 2024 result of the North segment?", (passage("t", TABLE),))
    rejected = Objection(Statement("Segment: North | 2024: 2,450 | 2023: 2,076", ()), ())
    again = extractor().extract(replace(task, objections=(rejected,)))
    assert "North" not in " ".join(statement.text for statement in again.statements)


def test_what_is_kept_is_neither_repeated_nor_asked_for_again():
    question = f"{UBO_QUESTION} To whom is it escalated?"
    whole = extractor().extract(Task(question, POLICY)).statements
    assert len(whole) >= 1
    rest = extractor().extract(Task(question, POLICY, kept=whole[:1]))
    assert whole[0] not in rest.statements
    assert extractor().extract(Task(question, POLICY, kept=whole)).insufficient
