"""Every view can be used by everyone: axe-core in both colour schemes, on both widths."""

import pytest
from playwright.sync_api import expect

from tests.browser.parts import PHONE, answered, ask, axe, shoot

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
    page.get_by_role("link", name=AML).wait_for()
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
