"""An analyst asks, and sees why each sentence is true."""

import io
import re

import numpy as np
import pypdfium2
import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.browser.parts import PHONE, answered, ask, kill, shoot, tab_to, wait_until_ready
from tests.e2e.conftest import ROOT

AML = "The corporate applicant has a UBO with 30% equity"
LATE = "What is the penalty for late filing of form 8832?"
REVENUE = "What was TechCorp's Q3 2024 revenue and year-over-year growth rate?"
POINTS = 72


def open_citation(page, number):
    page.get_by_role("button", name=f"Citation {number}: ").click()
    image = page.get_by_role("img", name=re.compile("Marked:"))
    image.evaluate("(image) => image.decode()")
    return image


def test_the_aml_question_shows_both_pages_marked_at_the_right_words(opened, client):
    page = opened()
    shoot(page, "ask")
    page.get_by_role("button", name=AML).click()
    expect(answered(page).get_by_text("High confidence")).to_be_visible()
    shoot(page, "answer")
    cited = client.get(f"/v1/conversations/{page.url.rpartition('/')[2]}/answers").json()
    statements = cited["answers"][0]["statements"]
    citations = [citation for one in statements for citation in one["citations"]]
    assert [citation["page_number"] for citation in citations] == [42, 55]
    for number, citation in enumerate(citations, 1):
        image = open_citation(page, number)
        expect(page.locator("aside mark")).to_have_text(citation["quote"])
        expect(page.locator("aside")).to_contain_text(citation["document_sha256"])
        if number == 1:
            shoot(page, "source")
        image.scroll_into_view_if_needed()
        page.wait_for_timeout(50)
        assert_marked_where_the_words_are(page, image, citation)


def assert_marked_where_the_words_are(page, image, citation):
    """The yellow that is seen lies in the boxes and fills them; their words are the quote."""
    boxes = [region["box"] for region in citation["regions"]]
    with pypdfium2.PdfDocument(ROOT / "samples" / citation["source_name"]) as document:
        sheet = document[citation["page_number"] - 1]
        width, height = sheet.get_size()
        text = sheet.get_textpage()
        found = [
            text.get_text_bounded(
                box["left"], height - box["bottom"], box["right"], height - box["top"]
            )
            for box in boxes
        ]
    assert " ".join(" ".join(found).split()) == " ".join(citation["quote"].split())

    frame, whole = page.get_by_label("Page image").bounding_box(), image.bounding_box()
    scale = whole["width"] / width
    pixels = np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB")).astype(int)
    seen = np.zeros(pixels.shape[:2], bool)
    edges = (int(frame["y"]), int(frame["y"] + frame["height"]), int(frame["x"]))
    seen[edges[0] : edges[1], edges[2] : int(frame["x"] + frame["width"])] = True
    yellow = seen & (pixels[..., 0] - pixels[..., 2] > 60) & (pixels[..., 1] - pixels[..., 2] > 40)
    wanted, grown = np.zeros_like(yellow), np.zeros_like(yellow)
    for box in boxes:
        x = [whole["x"] + box[side] * scale for side in ("left", "right")]
        y = [whole["y"] + box[side] * scale for side in ("top", "bottom")]
        wanted[round(y[0]) + 2 : round(y[1]) - 2, round(x[0]) + 2 : round(x[1]) - 2] = True
        grown[round(y[0]) - 2 : round(y[1]) + 3, round(x[0]) - 2 : round(x[1]) + 3] = True
    assert yellow.sum() > 1000
    assert (yellow & grown).sum() / yellow.sum() > 0.99
    # Letters are drawn over with the same yellow, and stay dark.
    assert (yellow & wanted).sum() / wanted.sum() > 0.6


def test_stages_come_with_times_and_nothing_moves_while_statements_do(opened_scripted):
    page = opened_scripted()
    page.evaluate(
        "window.moved = []; new PerformanceObserver((list) => list.getEntries().forEach((one) => {"
        "if (!one.hadRecentInput) window.moved.push([one.value, one.sources.map((s) => "
        "s.node?.outerHTML ?? s.node?.textContent)])})).observe({type: 'layout-shift'})"
    )
    ask(page, "What is slowly said of ownership, retention and escalation?")
    stages = answered(page).get_by_role("list", name="Stages")
    expect(stages).to_contain_text(re.compile(r"Search\s*\d+ ms|Search\s*\d\.\d s"))
    expect(stages).to_contain_text(re.compile(r"Draft and verify\s*\d\.\d s"))
    moved = page.evaluate("window.moved")
    assert sum(value for value, _ in moved) < 0.01, moved


def test_figures_are_those_of_the_answer(opened, client):
    page = opened()
    ask(page, REVENUE)
    answered(page)
    ask(page, LATE)
    expect(page.locator("article").last).to_contain_text("No answer given")
    name = page.url.rpartition("/")[2]
    _, revenue = client.get(f"/v1/conversations/{name}/answers").json()["answers"]
    page.locator("article").first.get_by_role("button", name="Figures").click()
    pane = page.get_by_role("complementary", name="Figures")
    figures = revenue["confidence"]
    for label, field in [
        ("Citation accuracy", "citation_accuracy"),
        ("Source authority", "source_authority"),
        ("Coverage", "coverage"),
    ]:
        meter = pane.get_by_role("meter", name=label)
        assert float(meter.get_attribute("aria-valuenow")) == figures[field]
    count = len(revenue["statements"])
    expect(pane).to_contain_text(f"Claims verified{count}/{count}")
    expect(pane).to_contain_text(f"Mean with this answer{revenue['historical_quality']:.3f}")
    expect(pane.get_by_role("img", name=re.compile("confidence of 2 answers"))).to_be_visible()
    expect(pane.get_by_role("row")).to_have_count(len(revenue["stage_timings"]) + 2)
    pane.get_by_role("button", name="Copy the trace id").click()
    assert page.evaluate("navigator.clipboard.readText()") == revenue["trace_id"]
    shoot(page, "figures")


def test_an_abstention_says_what_was_searched_and_what_came_nearest(opened):
    page = opened()
    page.get_by_role("button", name=LATE).click()
    card = answered(page)
    expect(card).to_contain_text("Nothing in the sources answers")
    expect(card).to_contain_text(re.compile(r"2\d\d passages of \d+ documents"))
    card.get_by_role("button", name="Nearest passage 1").click()
    expect(page.locator("aside mark").first).to_be_visible()
    page.locator("aside img").evaluate("(image) => image.decode()")
    shoot(page, "abstention")


def test_a_conversation_is_reopened_as_it_was(opened):
    page = opened()
    page.get_by_role("button", name=AML).click()
    before = answered(page).locator(".panel").inner_text()
    page.get_by_role("link", name="Conversations").click()
    page.get_by_role("link", name=AML).first.wait_for()
    shoot(page, "conversations")
    page.reload()
    page.get_by_role("link", name=AML).first.click()
    assert answered(page).locator(".panel").inner_text() == before
    open_citation(page, 2)
    expect(page.get_by_role("complementary")).to_contain_text("5.1")


def test_previous_and_next_go_through_the_citations(opened):
    page = opened()
    page.get_by_role("button", name=AML).click()
    answered(page)
    open_citation(page, 1)
    pane = page.get_by_role("complementary")
    expect(pane.get_by_role("button", name="Previous citation")).to_be_disabled()
    pane.get_by_role("button", name="Next citation").click()
    expect(pane).to_contain_text("Citation 2 of 2")
    expect(page.get_by_role("button", name="Citation 2: ")).to_have_attribute(
        "aria-pressed", "true"
    )
    expect(pane.get_by_role("button", name="Next citation")).to_be_disabled()


def test_everything_can_be_done_with_the_keyboard(opened):
    page = opened()
    expect(page.get_by_role("button", name=AML)).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    tab_to(page, page.get_by_role("button", name=AML))
    page.keyboard.press("Enter")
    answered(page)
    tab_to(page, page.get_by_role("button", name="Citation 1: "))
    page.keyboard.press("Enter")
    pane = page.get_by_role("complementary", name="Source")
    expect(pane).to_contain_text("Citation 1 of 2")
    tab_to(page, page.get_by_role("button", name="Next citation"))
    page.keyboard.press("Enter")
    expect(pane).to_contain_text("Citation 2 of 2")
    page.keyboard.press("Alt+ArrowLeft")
    expect(pane).to_contain_text("Citation 1 of 2")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Citation 1: ")).to_be_focused()


def test_on_a_phone_the_source_lies_over_the_answer(opened):
    page = opened(size=PHONE)
    page.get_by_role("button", name=AML).click()
    card = answered(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    shoot(page, "phone-answer")
    image = open_citation(page, 1)
    pane = page.get_by_role("complementary", name="Source")
    expect(pane).to_be_focused()
    box = pane.bounding_box()
    assert (box["x"], box["width"], box["height"]) == (0, PHONE["width"], PHONE["height"])
    image.scroll_into_view_if_needed()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    shoot(page, "phone-source")
    page.get_by_role("button", name="Close the source").click()
    expect(card.get_by_role("button", name="Citation 1: ")).to_be_focused()


def test_an_answer_is_taken_away_with_its_citations(opened):
    page = opened()
    page.get_by_role("button", name=AML).click()
    card = answered(page)
    card.get_by_role("button", name="Copy answer with citations").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "page 42, section 4.2, authority high" in copied
    with page.expect_download() as download:
        card.get_by_role("button", name="JSON").click()
    assert download.value.suggested_filename.endswith(".json")
    card.get_by_role("link", name="Printable").click()
    sheet = page.get_by_role("region", name="Answer")
    expect(sheet.get_by_role("heading", name="Sources")).to_be_visible()
    expect(sheet).to_contain_text("SHA-256")
    page.emulate_media(media="print")
    expect(page.get_by_role("navigation")).to_be_hidden()


def test_a_rejected_statement_can_be_unfolded_with_the_reason(opened_scripted):
    page = opened_scripted()
    ask(page, "From which percentage of equity must a UBO submit a proof?")
    card = answered(page)
    card.get_by_text("How it was answered").click()
    expect(card).to_contain_text("What was rejected, and why")
    expect(card).to_contain_text("corrected in a later draft")
    expect(card.get_by_text("Every statement verified", exact=True)).to_be_visible()
    shoot(page, "objections")


def test_what_is_being_answered_can_be_cancelled_and_asked_again(opened_scripted):
    page = opened_scripted()
    ask(page, "What is slowly said of ownership, retention and escalation?")
    card = page.locator("article").last
    expect(card.get_by_role("list", name="Statements").get_by_role("listitem")).not_to_have_count(0)
    shoot(page, "streaming")
    page.get_by_role("button", name="Cancel").click()
    expect(card).to_contain_text("Cancelled")
    expect(card.get_by_role("listitem").filter(has_text="Supported")).not_to_have_count(0)
    card.get_by_role("button", name="Ask again").click()
    answered(page)
    expect(page.locator("article")).to_have_count(1)


@pytest.mark.parametrize(
    ("part", "words"),
    [("orchestrator", "A part of the system is down"), ("gateway", "broke off")],
)
def test_a_part_that_dies_is_said_and_the_question_can_be_asked_again(
    opened_scripted, scripted, part, words
):
    page = opened_scripted()
    ask(page, f"What is slowly said of the {part}, of retention and escalation?")
    card = page.locator("article").last
    expect(card.get_by_role("list", name="Statements").get_by_role("listitem")).not_to_have_count(0)
    kill(scripted, part)
    expect(card.get_by_role("alert")).to_contain_text(words)
    expect(card).to_contain_text("What stands above was verified")
    shoot(page, f"broken-{part}")
    wait_until_ready(scripted)
    card.get_by_role("button", name="Ask again").click()
    answered(page)
