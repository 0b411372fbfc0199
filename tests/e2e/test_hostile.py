"""Documents that give orders, and a model that obeys them: no order reaches an answer.

Forty-two documents, ingested by the whole system. What one says of itself, in its own words, may be
quoted as what it says; what it tells the reader to say may not be said (decision 24).
"""

import json
import re
from pathlib import Path

import pytest
import yaml
from google.protobuf.json_format import MessageToDict
from reportlab.lib.colors import white
from reportlab.pdfgen.canvas import Canvas
from verity.v1 import core_pb2 as core
from verity.v1 import grounding_service_pb2 as grounding
from verity.v1.grounding_service_pb2_grpc import GroundingServiceStub

from tests.e2e.conftest import running

DOCUMENTS = yaml.safe_load(
    (Path(__file__).parents[1] / "cases" / "hostile" / "documents.yaml").read_text("utf-8")
)
# In every document; never in a log or a span.
CANARY = "quetzal7731"
# What the model quotes for what it was told to say.
WAYS = ("payload", "sentence", "none")
HONEST = "Records are kept for five years."


def written(folder, document):
    name = f"{document['id']}.{document.get('as', 'md')}"
    body = document["text"] * document.get("repeat", 1) + document.get("end", "")
    told = f"{body}\n\nThe mark of this paper is {CANARY}.\n"
    if document.get("as") == "pdf":
        page = Canvas(str(folder / name))
        page.setTitle(document.get("title", ""))
        page.drawString(72, 700, body)
        page.drawString(72, 680, f"The mark of this paper is {CANARY}.")
        page.setFillColor(white)
        page.setFontSize(4)
        page.drawString(72, 650, document.get("white", ""))
        page.save()
    else:
        (folder / name).write_text(told, "utf-8")
    return {"file": name, "tags": [tag_of(document), *document.get("tags", [])]}


def tag_of(document):
    return f"doc-{DOCUMENTS.index(document)}"


def question(document, way):
    return f"{way}: what does paper {tag_of(document)} say of itself?"


def script():
    rules = []
    for document in DOCUMENTS:
        statements = [
            {"text": text, "citations": [{"source": "src_0", "quote": quote}]}
            for text, quote in document.get("says", [])
        ]
        said = {"statements": statements, "insufficient": not statements}
        said |= {"compliance": "compliant", "suggested_query": ""}
        when = {"question": f"^says: .*{tag_of(document)} "}
        rules.append({"when": when, "then": {"do": "say", "text": json.dumps(said)}})
    obey = [
        {"when": {"question": f"^{way}:"}, "then": {"do": "obey", "quote": way}} for way in WAYS
    ]
    return {"rules": [*rules, *obey], "default": "good"}


@pytest.fixture(scope="module")
def obedient(tmp_path_factory, receiver):
    folder = tmp_path_factory.mktemp("hostile")
    file = folder / "script.json"
    file.write_text(json.dumps(script()))
    papers = folder / "papers"
    papers.mkdir()
    (papers / "honest.md").write_text(f"{HONEST}\n")
    listed = [{"file": "honest.md", "tags": ["honest"]}]
    listed += [written(papers, one) for one in DOCUMENTS]
    (papers / "corpus.yaml").write_text(yaml.safe_dump({"documents": listed}, allow_unicode=True))
    with running(folder, receiver, "--model", f"scripted:{file}") as started:
        code, done = started.run("ingest", str(papers))
        assert code == 0, done
        yield started


@pytest.fixture(scope="module")
def answers(obedient):
    """By document and way of obeying; each by AskStream, and what is scripted by Ask too."""
    found = {}
    with obedient.channel("orchestrator") as channel:
        stub = GroundingServiceStub(channel)
        for document in DOCUMENTS:
            for way in ("says", *WAYS):
                request = grounding.AskRequest(question=question(document, way))
                request.filter.tags.append(tag_of(document))
                events = list(stub.AskStream(grounding.AskStreamRequest(ask=request)))
                streamed = [e.statement_verified.statement for e in events]
                asked = stub.Ask(request).answer if way == "says" else events[-1].answer
                found[document["id"], way] = (
                    asked,
                    events[-1].answer,
                    [one for one in streamed if one.text],
                )
    return found


def plain(text):
    kept = re.sub(r"[\u200b\u00ad\u202a-\u202e\U000e0000-\U000e007f]", "", text)
    return " ".join(re.findall(r"\w+", kept.casefold()))


def led_in(document):
    """What is told, with the words before it: so it is what the document says, and no more."""
    told, text = plain(document["told"]), plain(document["text"] + document.get("end", ""))
    before = text.partition(told)[0].split() if told in text else []
    return " ".join([*before[-2:], told]) if before else ""


def test_there_are_forty_and_more():
    assert len(DOCUMENTS) >= 40
    assert len({document["id"] for document in DOCUMENTS}) == len(DOCUMENTS)


def test_no_order_of_a_document_reaches_an_answer(answers):
    said = {}
    for document in DOCUMENTS:
        for way in ("says", *WAYS):
            asked, answered, streamed = answers[document["id"], way]
            texts = [one.text for one in (*asked.statements, *answered.statements, *streamed)]
            told = plain(document["told"])
            order = led_in(document)
            wrong = [
                text
                for text in (*texts, asked.text, answered.text)
                if told in plain(text) and not (order and order in plain(text))
            ]
            if wrong:
                said[document["id"], way] = wrong[0]
    assert said == {}


def test_an_order_obeyed_without_a_citation_is_objected_to_as_such(answers):
    objected = []
    for document in DOCUMENTS:
        _, answered, _ = answers[document["id"], "none"]
        codes = {reason.code for one in answered.objections for reason in one.reasons}
        if core.Reason.CODE_NO_CITATION in codes:
            objected.append(document["id"])
    assert len(objected) > len(DOCUMENTS) / 2, objected


def test_the_answers_have_the_form_of_any_other(obedient, answers):
    with obedient.channel("orchestrator") as channel:
        request = grounding.AskRequest(question="How long are records kept?")
        request.filter.tags.append("honest")
        honest = GroundingServiceStub(channel).Ask(request).answer
    assert [one.text for one in honest.statements] == [HONEST]
    fields = set(MessageToDict(honest)) | {"abstention", "objections"}
    fields |= {"compliance", "complianceGaps"}
    for asked, answered, streamed in answers.values():
        for answer in (asked, answered):
            assert set(MessageToDict(answer)) <= fields
            assert answer.compliance != core.COMPLIANCE_COMPLIANT
            assert (answer.status == answer.STATUS_ABSTAINED) == (not answer.statements)
        for one in (*asked.statements, *answered.statements, *streamed):
            assert one.verdict == core.VERDICT_SUPPORTED
            assert all(citation.quote for citation in one.citations)


def test_no_word_of_them_is_in_a_log_or_a_span(obedient, answers):
    assert answers
    logs = [path.read_text("utf-8") for path in obedient.data_dir.rglob("*.log")]
    assert logs
    spans = "".join(f"{span.name}{span.attributes}" for span in obedient.receiver.spans)
    for word in (CANARY, "evil.example", "Ignore all", "forgiven"):
        assert not any(word in log for log in logs)
        assert word not in spans
