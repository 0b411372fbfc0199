"""Every view can be used by everyone: axe-core in both colour schemes, on both widths."""

import pytest
from playwright.sync_api import expect

from tests.browser.parts import PHONE, a_file, answered, ask, axe, shoot

AML = "The corporate applicant has a UBO with 30% equity"
LATE = "What is the penalty for late filing of form 8832?"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_in_any_view(opened, scheme):
    page = opened(scheme=scheme)
    found = {"ask": axe(page)}
    page.get_by_role("button", name=AML).click()
    answered(page).get_by_text("How it was answered").click()
    found["answer and figures"] = axe(page)
    if scheme == "dark":
        shoot(page, "answer-dark")
    page.get_by_role("button", name="Citation 1: ").click()
    page.locator("aside mark").wait_for()
    page.locator("aside img").evaluate("(image) => image.decode()")
    found["source"] = axe(page)
    if scheme == "dark":
        shoot(page, "source-dark")
    ask(page, LATE)
    answered(page)
    found["abstention"] = axe(page)
    page.get_by_role("link", name="Printable").first.click()
    page.get_by_role("heading", name="Sources").wait_for()
    found["sheet"] = axe(page)
    shoot(page, f"sheet-{scheme}")
    page.get_by_role("link", name="Documents").click()
    page.get_by_role("button", name="Global_AML_Policy_2026.pdf", exact=True).click()
    page.get_by_text("What is said of the next files").click()
    found["documents"] = axe(page)
    if scheme == "dark":
        shoot(page, "documents-dark")
    page.get_by_role("button", name="Delete Global_AML_Policy_2026.pdf").click()
    found["delete"] = axe(page)
    page.get_by_role("button", name="Keep it").click()
    page.get_by_role("link", name="Conversations").click()
    page.get_by_role("link", name=AML).first.wait_for()
    found["conversations"] = axe(page)
    page.goto("/#/conversations/there-is-none")
    page.get_by_role("alert").wait_for()
    found["not there"] = axe(page)
    page.goto("/#/nonsense")
    found["nowhere"] = axe(page)
    assert not {view: problems for view, problems in found.items() if problems}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_on_a_phone(opened, scheme):
    page = opened(size=PHONE, scheme=scheme)
    page.get_by_role("button", name=AML).click()
    answered(page)
    found = {"answer": axe(page)}
    page.get_by_role("button", name="Citation 2: ").click()
    page.locator("aside mark").wait_for()
    found["source"] = axe(page)
    page.get_by_role("button", name="Close the source").click()
    page.get_by_role("link", name="Documents").click()
    page.get_by_role("button", name="Global_AML_Policy_2026.pdf", exact=True).wait_for()
    found["documents"] = axe(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert not {view: problems for view, problems in found.items() if problems}


def test_colours_follow_the_system_until_they_are_chosen(opened):
    page = opened(scheme="dark")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.get_by_role("button", name="Colours: system. Change to light").click()
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert dark != light
    page.reload()
    expect(page.get_by_role("button", name="Colours: light. Change to dark")).to_be_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == light
    page.get_by_role("button", name="Colours: light. Change to dark").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == dark


def test_a_system_that_asks_who_one_is_gets_a_token(opened_guarded, guarded, tmp_path):
    page = opened_guarded("/#/documents")
    field = page.get_by_label("This system asks who you are")
    for token in ("nonsense", guarded[1].token(exp=1)):
        field.fill(token)
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_be_visible()
        expect(field).to_have_value("")
    assert not axe(page)
    field.fill(guarded[1].token())
    page.keyboard.press("Enter")
    expect(page.get_by_text("No documents yet")).to_be_visible()
    expect(field).to_be_hidden()
    file = a_file(tmp_path, "keys.md", "# Keys\n\nThe warden keeps nine keys.\n")
    page.get_by_label("Files to upload").set_input_files(str(file))
    expect(page.get_by_role("list", name="Uploads")).to_contain_text("Added")
    page.get_by_role("link", name="Ask").click()
    ask(page, "How many keys does the warden keep?")
    answered(page).get_by_role("button", name="Citation 1: ").click()
    expect(page.locator("aside mark")).to_contain_text("nine keys")
