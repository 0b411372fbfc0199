"""E-mail: headers, the body that is read, attachments by name."""

from email.message import EmailMessage

import pytest

from services.chassis.errors import InvalidInput
from services.retrieval.parsers import mail, parse


def a_message(text="The limit is 5%.", **headers):
    message = EmailMessage()
    message["From"] = "Jane Doe <jane@bank.example>"
    message["To"] = "audit@bank.example"
    message["Date"] = "Mon, 01 Jul 2024 09:00:00 +0200"
    message["Subject"] = "Limits for owners"
    for name, value in headers.items():
        message[name] = value
    if text:
        message.set_content(text)
    return message


HEAD = (
    "Subject: Limits for owners\n\nFrom: Jane Doe <jane@bank.example>\n"
    "To: audit@bank.example\nDate: Mon, 01 Jul 2024 09:00:00 +0200\n\n"
)


def test_the_subject_is_the_heading_and_the_other_headers_stand_below_it():
    document = mail.parse(bytes(a_message("One.\n\nTwo\nthree.\n")))
    assert document.text == HEAD + "One.\n\nTwo\nthree."
    assert [heading.title for heading in document.headings] == ["Subject: Limits for owners"]


def test_of_a_body_sent_twice_the_plain_text_is_read_else_the_page():
    both = a_message()
    both.add_alternative("<p>Not this.</p>", subtype="html")
    assert mail.parse(bytes(both)).text == HEAD + "The limit is 5%."
    page = a_message(text="")
    page.set_content("<h2>Rules</h2><p>5&nbsp;%<script>x</script>", subtype="html")
    assert mail.parse(bytes(page)).text == HEAD + "Rules\n\n5\xa0%"


def sent_twice(plain, page, *more):
    message = a_message(text="")
    message.set_content(plain)
    message.add_alternative(page, subtype="html")
    for kind, content in more:
        message.add_alternative(content, subtype=kind)
    return bytes(message)


@pytest.mark.parametrize("plain", [" \n", "Please read this in HTML."])
def test_a_plain_text_that_is_blank_or_says_far_less_than_the_page_does_not_replace_it(plain):
    page = "<p>The limit for owners is 5% of all shares, from July on, and 3% from August.</p>"
    assert mail.parse(sent_twice(plain, page)).text == (
        HEAD + "The limit for owners is 5% of all shares, from July on, and 3% from August."
    )


def test_an_invitation_is_read_in_words_and_not_as_its_calendar_entry():
    entry = ("calendar", "BEGIN:VCALENDAR\n" + "X-LONG:1\n" * 50)
    assert mail.parse(sent_twice("We meet at 9.", "<p>We meet at 9.", entry)).text == (
        HEAD + "We meet at 9."
    )
    assert mail.parse(sent_twice("", "<p>We meet at 10.", entry)).text == HEAD + "We meet at 10."


@pytest.mark.parametrize("kind", ["plain", "html"])
@pytest.mark.parametrize("code", ["\0", "\x0b"])
def test_a_body_with_control_codes_is_read_with_the_codes_seen_to_be_none(kind, code):
    raw = f"From: a@b\r\nTo: c@d\r\nContent-Type: text/{kind}\r\n\r\nIt is 1{code}4%."
    assert parse(raw.encode(), "letter.eml").text.endswith("It is 1\N{REPLACEMENT CHARACTER}4%.")


@pytest.mark.parametrize("before", [b"\r\n", b"\n \n", b"\xef\xbb\xbf"])
def test_blank_lines_above_the_headers_are_not_part_of_the_message(before):
    document = parse(before + bytes(a_message()), "letter.eml")
    assert document.text == HEAD + "The limit is 5%."


def test_attachments_are_named_and_not_opened():
    message = a_message()
    message.add_attachment(
        b"\x00secret", maintype="application", subtype="pdf", filename="Überblick.pdf"
    )
    message.add_attachment("secret", filename="notes.txt")
    message.add_attachment(a_message("secret"))
    assert mail.parse(bytes(message)).text == (
        HEAD + "The limit is 5%.\n\nAttachments: Überblick.pdf, notes.txt, Limits for owners"
    )


def test_a_message_that_is_nothing_but_a_file_names_it():
    message = a_message(text="")
    message.set_content(b"%PDF\0", maintype="application", subtype="pdf", filename="fees.pdf")
    assert mail.parse(bytes(message)).text == HEAD + "Attachments: fees.pdf"


def test_encoded_headers_and_bodies_are_decoded():
    message = a_message(text="", Cc="=?ISO-8859-1?Q?J=F6rg?= <j@bank.example>")
    message.set_content("Źródło: 5 €", charset="utf-8", cte="base64")
    text = mail.parse(bytes(message)).text
    assert "Cc: Jörg <j@bank.example>" in text
    assert text.endswith("Źródło: 5 €")
    raw = (
        "From: a@b\r\nSubject: caf\xe9\r\nContent-Type: text/plain; charset=iso-8859-2\r\n\r\n\xb1"
    )
    assert mail.parse(raw.encode("latin-1")).text == "Subject: café\n\nFrom: a@b\n\ną"


@pytest.mark.parametrize(
    "data",
    [
        b"From: a\r\nSubject: =?utf-8?B?!!!?=\r\nContent-Type: text/plain; charset=none\r\n\r\nx",
        b"From: a\r\nTo: b\r\nContent-Type: multipart/mixed\r\n\r\nx",
        b"From: a\r\nTo: b\r\nContent-Type: multipart/mixed; boundary=q\r\n\r\n--q\r\n\r\nx",
        b"From: a\r\nTo: b\r\nContent-Transfer-Encoding: base64\r\n\r\n!x",
    ],
)
def test_a_malformed_message_is_read_as_far_as_it_goes(data):
    assert "From: a" in parse(data, "letter.eml").text


def test_messages_nested_without_end_are_damaged():
    deep = b"From: a\r\nTo: b\r\nContent-Type: message/rfc822\r\n\r\n" * 5000
    with pytest.raises(InvalidInput) as caught:
        parse(deep + b"x", "letter.eml")
    assert caught.value.reason == "DAMAGED_FILE"
