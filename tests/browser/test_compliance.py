"""A question of compliance: facts from the customer's packet, rules from the policy, a verdict."""

import json

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import pages
from tests.browser.parts import PHONE, answered, ask, axe, shoot, tab_to
from tests.e2e.conftest import running

AML = (
    "The corporate applicant has a UBO with 30% equity, but their proof of funds is not notarized. "
    "What is the compliance action?"
)
PACKET, POLICY = "KYC_Packet_Halcyon_Trading.pdf", "Global_AML_Policy_2026.pdf"
# One sentence of each, by its words.
JUDGED = [
    {"text": f'{{sentence with "{words}"}}', "cite": [
        {"source": f'{{source with "{words}"}}', "quote": f'{{sentence with "{words}"}}'}]}
    for words in ("Elena Marchetti is not notarized", "must be escalated to the Senior Compliance")
]  # fmt: skip
SCRIPT = {
    "default": {"do": "draft", "statements": JUDGED, "compliance": "non_compliant"},
}


@pytest.fixture(scope="module")
def judging(tmp_path_factory, receiver):
    """A model that judges, before the sample corpus."""
    folder = tmp_path_factory.mktemp("judging")
    script = folder / "script.json"
    script.write_text(json.dumps(SCRIPT))
    flags = ("--samples", "--model", f"scripted:{script}")
    with running(folder / "data", receiver, *flags) as started:
        yield started


@pytest.fixture
def opened_judging(browser, judging):
    with pages(browser, judging) as open_page:
        yield open_page


def choose(page, corpus, name):
    body = page.get_by_role("group", name=corpus)
    body.get_by_label("Documents, by a part of the name").fill(name[:8].upper())
    body.get_by_role("checkbox", name=name).check()


def test_facts_from_the_packet_and_rules_from_the_policy_give_a_verdict(opened_judging):
    page = opened_judging()
    page.get_by_role("button", name="Choose what may be cited").click()
    page.get_by_label("Facts and rules apart").check()
    page.get_by_label("Question").fill(AML)
    expect(page.get_by_text("Choose where the facts and the rules are")).to_be_visible()
    choose(page, "Facts", PACKET)
    expect(page.get_by_text("Choose where the rules are")).to_be_visible()
    expect(page.get_by_role("button", name="Ask", exact=True)).to_be_disabled()
    choose(page, "Rules", POLICY)
    shoot(page, "facts-and-rules")
    assert not axe(page)
    page.get_by_role("button", name="Ask", exact=True).click()
    card = answered(page)
    expect(card).to_contain_text("Compliance: non compliant")
    for number, name in [(1, PACKET), (2, POLICY)]:
        card.get_by_role("button", name=f"Citation {number}: {name}").click()
        expect(page.locator("aside mark")).to_contain_text("notarized")
    page.locator("aside img").evaluate("(image) => image.decode()")
    shoot(page, "verdict")


def test_without_the_packet_what_is_the_case_is_lacking(opened_judging):
    page = opened_judging()
    page.get_by_role("button", name="Choose what may be cited").click()
    choose(page, "Documents that may be cited", POLICY)
    ask(page, AML)
    card = answered(page)
    expect(card).to_contain_text("Compliance: unknown")
    expect(card).to_contain_text("Compliance lacks facts")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_two_are_chosen_with_the_keyboard_and_on_a_phone(opened_judging, scheme):
    page = opened_judging(size=PHONE, scheme=scheme)
    page.get_by_label("Question").fill(AML)
    page.get_by_role("button", name="Choose what may be cited").focus()
    page.keyboard.press("Enter")
    tab_to(page, page.get_by_label("Facts and rules apart"))
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.type("halcyon")
    found = page.get_by_role("group", name="Facts").get_by_role("checkbox")
    expect(found).to_have_count(1)
    page.keyboard.press("Enter")  # Asks nothing yet.
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(found).to_be_checked()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    choose(page, "Rules", POLICY)
    assert not axe(page)
    if scheme == "light":
        shoot(page, "phone-facts-and-rules")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(answered(page)).to_contain_text("Compliance: non compliant")
