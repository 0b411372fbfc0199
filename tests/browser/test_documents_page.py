"""Documents come in, are found, cited, replaced and deleted, whatever is in them."""

import re
import uuid

import pytest
from office_files import a_docx
from playwright.sync_api import expect

from tests.browser.parts import MARKUP, a_file, answered, ask, shoot


@pytest.fixture
def word():
    """Of this test alone: the systems are shared."""
    return f"vault{uuid.uuid4().hex[:8]}"


def upload(page, *paths):
    page.goto("/#/documents")
    page.get_by_label("Files to upload").set_input_files([str(path) for path in paths])
    row = page.get_by_role("list", name="Uploads").get_by_role("listitem")
    expect(row).to_have_count(len(paths))
    return row


def test_a_file_that_is_uploaded_is_asked_about_and_cited(opened, tmp_path, word):
    page = opened()
    text = f"# Keys\n\nThe custodian of {word} keeps its key for nine years.\n"
    row = upload(page, a_file(tmp_path, f"{word}.md", text))
    expect(row).to_contain_text("Added: 1 page, 1 passage")
    page.goto("/#/")
    ask(page, f"How long does the custodian of {word} keep its key?")
    answered(page).get_by_role("button", name="Citation 1: ").click()
    pane = page.get_by_role("complementary", name="Source")
    expect(pane.locator("mark")).to_contain_text(f"custodian of {word} keeps its key")
    expect(pane.get_by_role("img", name=re.compile("Marked"))).to_have_count(0)


def test_a_docx_and_a_web_page_show_their_text(opened, tmp_path, word):
    page = opened()
    paragraph = f"<w:p><w:r><w:t>The clerk of {word} signs twice a day.</w:t></w:r></w:p>"
    docx = tmp_path / f"{word}.docx"
    docx.write_bytes(a_docx(paragraph))
    html = a_file(tmp_path, f"{word}.html", f"<p>The porter of {word} locks five doors.</p>")
    rows = upload(page, docx, html)
    expect(rows.nth(0)).to_contain_text("Added")
    expect(rows.nth(1)).to_contain_text("Added")
    for question, words in [("clerk", "signs twice a day"), ("porter", "locks five doors")]:
        page.goto("/#/")
        ask(page, f"What does the {question} of {word} do?")
        answered(page).get_by_role("button", name="Citation 1: ").click()
        expect(page.locator("aside mark")).to_contain_text(words)


def answer_from(page, file, question):
    expect(upload(page, file)).to_contain_text("Added")
    page.goto("/#/")
    ask(page, question)
    return answered(page)


def test_text_beyond_the_bmp_is_marked_exactly(opened, tmp_path, word):
    page = opened()
    sentence = f"The 🏦 keeper 🗝 of {word} counts 12 coins 😀 each night."
    text = f"# 😀😀 Keys 🗝🗝\n\n🏦🏦🏦 Nothing here bears on it.\n\n{sentence} 🏦 Then 🗝 rests.\n"
    question = f"How many coins does the keeper of {word} count each night?"
    card = answer_from(page, a_file(tmp_path, f"{word}-😀.txt", text), question)
    card.get_by_role("button", name="Citation 1: ").click()
    expect(page.locator("aside mark")).to_have_text(sentence)


def test_text_from_right_to_left_is_shown_so(opened, tmp_path, word):
    page = opened()
    sentence = f"يجب على أمين الخزنة {word} تقديم إثبات موثق خلال 9 أيام."
    text = f"# مقدمة\n\nنص آخر قبلها بلا صلة.\n\n{sentence}\n"
    question = f"ماذا يجب على أمين الخزنة {word} تقديم إثبات؟"
    card = answer_from(page, a_file(tmp_path, f"{word}.txt", text), question)
    expect(card.get_by_role("heading", level=2)).to_have_css("direction", "rtl")
    card.get_by_role("button", name=re.compile("^(Citation|Nearest passage) 1: ")).click()
    mark = page.locator("aside mark").first
    expect(mark).to_contain_text(sentence)
    expect(mark).to_have_css("direction", "rtl")
    shoot(page, "right-to-left")


def test_markup_in_names_headings_quotes_and_drafts_is_text(opened_scripted, tmp_path, word):
    page = opened_scripted()
    name = f"<img src=x onerror=window.hit=1>{word}.md"
    text = f"# <script>window.hit = 1</script> {word}\n\nThe {word} markup `{MARKUP}` has 30%.\n"
    expect(upload(page, a_file(tmp_path, name, text))).to_contain_text("Added")
    expect(page.get_by_role("list", name="Documents")).to_contain_text(name)
    page.goto("/#/")
    ask(page, f"What does the markup of {word} have?")
    card = answered(page)
    card.get_by_text("How it was answered").click()
    expect(card).to_contain_text(f"{MARKUP} The share is 31%.")
    card.get_by_role("button", name=re.compile("^(Citation|Nearest passage) 1: ")).click()
    pane = page.get_by_role("complementary", name="Source")
    expect(pane).to_contain_text(name)
    expect(pane).to_contain_text("onerror")
    assert page.evaluate("window.hit") is None
    assert page.locator("main img:not([src^='blob:'])").count() == 0


def test_a_source_that_was_deleted_since_still_has_its_quote(opened, tmp_path, word):
    page = opened()
    sentence = f"The warden of {word} counts the seals every 4 hours."
    expect(
        upload(page, a_file(tmp_path, f"{word}.md", f"# Seals\n\n{sentence}\n"))
    ).to_contain_text("Added")
    page.goto("/#/")
    ask(page, f"What does the warden of {word} count?")
    answered(page)
    conversation = page.url
    page.goto("/#/documents")
    page.get_by_label("Name contains").fill(word)
    page.get_by_role("button", name=f"Delete {word}.md").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("cannot be undone")
    dialog.get_by_role("button", name="Keep it").click()
    expect(dialog).to_be_hidden()
    page.get_by_role("button", name=f"Delete {word}.md").click()
    shoot(page, "delete")
    dialog.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_text("No document is like this")).to_be_visible()
    page.goto(conversation)
    answered(page).get_by_role("button", name="Citation 1: ").click()
    pane = page.get_by_role("complementary", name="Source")
    expect(pane).to_contain_text("This source has been deleted since")
    expect(pane.locator("mark")).to_contain_text(sentence)


def test_a_new_version_is_said_of_a_source_and_of_its_document(opened, tmp_path, word):
    page = opened()
    before = f"# Seals\n\nThe steward of {word} counts 14 seals.\n"
    expect(upload(page, a_file(tmp_path, f"{word}.md", before))).to_contain_text("Added")
    page.goto("/#/")
    ask(page, f"How many seals does the steward of {word} count?")
    answered(page)
    conversation = page.url
    after = before.replace("14", "15")
    row = upload(page, a_file(tmp_path, f"{word}.md", after)).last
    expect(row).to_contain_text("Added as a new version")
    page.get_by_label("Name contains").fill(word)
    expect(page.get_by_role("list", name="Documents")).to_contain_text("version 2")
    page.goto(conversation)
    answered(page).get_by_role("button", name="Citation 1: ").click()
    pane = page.get_by_role("complementary", name="Source")
    expect(pane).to_contain_text("This source has been replaced since")
    expect(pane.locator("mark")).to_contain_text("14 seals")


def test_a_file_that_is_not_read_is_said_beside_its_name(opened, tmp_path):
    page = opened()
    good = a_file(tmp_path, "good.md", f"# Good\n\nIt is good, {uuid.uuid4().hex}.\n")
    empty, damaged = a_file(tmp_path, "empty.pdf", ""), a_file(tmp_path, "bad.pdf", "%PDF-1.7 no")
    rows = upload(page, empty, damaged, good)
    expect(rows.nth(2)).to_contain_text("Added")
    expect(rows.nth(0)).to_contain_text(re.compile("no bytes|empty", re.IGNORECASE))
    expect(rows.nth(1).locator(".text-bad")).to_be_visible()
    page.get_by_role("button", name="Clear what has ended").click()
    expect(rows).to_have_count(0)


def test_of_a_large_file_the_bytes_are_seen_moving_and_it_can_be_called_off(opened, tmp_path):
    page = opened("/#/documents")
    large = tmp_path / "large.txt"
    large.write_bytes(b"All of it is read later. " * 1_200_000)
    # As over a slow line: 8 MB a second.
    page.context.new_cdp_session(page).send(
        "Network.emulateNetworkConditions",
        {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 8_000_000},
    )
    page.get_by_label("Files to upload").set_input_files(str(large))
    row = page.get_by_role("list", name="Uploads").get_by_role("listitem")
    expect(row).to_contain_text(re.compile(r"Sending, [\d.]+ [KM]iB of 28\.6 MiB"))
    bar = row.get_by_role("progressbar")
    first = float(bar.get_attribute("aria-valuenow"))
    expect(bar).not_to_have_attribute("aria-valuenow", f"{first:g}")
    assert float(bar.get_attribute("aria-valuenow")) > first
    page.get_by_role("button", name="Cancel large.txt").click()
    expect(row).to_contain_text("Cancelled; nothing was changed")
    expect(page.get_by_role("button", name="large.txt", exact=True)).to_have_count(0)


def test_the_list_is_narrowed_and_shows_what_is_superseded(opened, tmp_path, word):
    page = opened()
    old = a_file(tmp_path, f"{word}-old.md", f"# {word}\n\nOld text of {word}.\n")
    expect(upload(page, old)).to_contain_text("Added")
    page.get_by_text("What is said of the next files").click()
    page.get_by_label("Type, such as policy").fill("policy")
    page.get_by_label("Takes the place of").fill(f"{word}-old.md")
    new = a_file(tmp_path, f"{word}-new.md", f"# {word}\n\nNew text of {word}.\n")
    page.get_by_label("Files to upload").set_input_files(str(new))
    expect(page.get_by_role("list", name="Uploads")).to_contain_text(f"{word}-new.md")
    page.get_by_label("Name contains").fill(word.upper())
    documents = page.get_by_role("list", name="Documents").get_by_role("listitem")
    expect(documents).to_have_count(2)
    expect(documents.filter(has_text=f"Superseded by {word}-new.md")).to_have_count(1)
    page.get_by_label("Standing").select_option("Superseded")
    expect(documents).to_have_count(1)
    page.get_by_role("button", name=f"{word}-old.md", exact=True).click()
    expect(documents).to_contain_text("SHA-256")
    page.get_by_role("button", name="Clear", exact=True).click()
    expect(documents.filter(has_text="Global_AML_Policy_2026.pdf")).to_have_count(1)
    shoot(page, "documents")


def test_a_question_that_is_too_long_is_not_sent(opened):
    page = opened()
    box = page.get_by_label("Question")
    box.fill("😀" * 4001)
    expect(page.get_by_text("4,001 of 4,000 characters: shorten the question")).to_be_visible()
    expect(page.get_by_role("button", name="Ask", exact=True)).to_be_disabled()
    page.keyboard.press("Enter")
    expect(page.locator("article")).to_have_count(0)
    box.fill("What does it say? " * 222)
    page.get_by_role("button", name="Ask", exact=True).click()
    answered(page)
