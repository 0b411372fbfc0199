"""Plain text and Markdown: characters, pages, paragraphs, sections."""

# ruff: noqa: RUF001 - letters of other scripts look like ours

import pytest
from effort import ends_in_time
from hypothesis import given
from hypothesis import strategies as st

from services.retrieval.document import ParsedDocument
from services.retrieval.parsers import encoding, markdown, plain

POLISH = "Umowa wchodzi w życie po zapłacie. Opłata wynosi pięć procent, źródło: są dwa."
RUSSIAN = "Банк проверяет личность каждого клиента до открытия счета."
GREEK = "Η τράπεζα επαληθεύει την ταυτότητα κάθε πελάτη πριν από το άνοιγμα."
JAPANESE = "銀行は口座を開設する前に顧客の本人確認を行うものとする。"
CHINESE = "银行应当在开户前核实客户身份，并保存相关记录。"
CHINESE_OF_TAIWAN = "銀行應於開戶前核實客戶身分，並保存相關紀錄。"
KOREAN = "은행은 계좌를 개설하기 전에 고객의 신원을 확인하여야 한다."


def outline(document: ParsedDocument):
    return [(heading.level, heading.section_id, heading.title) for heading in document.headings]


def printed(document: ParsedDocument):
    return [document.text[heading.start : heading.end] for heading in document.headings]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("Übung €5".encode(), "Übung €5"),
        ("Übung €5".encode("utf-8-sig"), "Übung €5"),
        (b"\xff\xfe" + "Übung €5 😀".encode("utf-16-le"), "Übung €5 😀"),
        (b"\xfe\xff" + "Übung €5 😀".encode("utf-16-be"), "Übung €5 😀"),
        (b"\xff\xfe\x00\x00" + "Übung".encode("utf-32-le"), "Übung"),
        (b"\xdcbung \x805 \x93so\x94", "Übung €5 “so”"),
        (b"gap \x81 here", "gap \ufffd here"),
        (b"a\r\nb\rc\n\r\nd", "a\nb\nc\n\nd"),
        (b"x" * 2000 + b"\x1b", "x" * 2000 + "\ufffd"),
        (b"tab\tand\fpage", "tab\tand\fpage"),
        ("words, 5 %".encode("utf-16-le"), "words, 5 %"),
        ("words, 5 %".encode("utf-16-be"), "words, 5 %"),
        (RUSSIAN.encode("cp1251"), RUSSIAN),
        (RUSSIAN.encode("koi8-r"), RUSSIAN),
        (GREEK.encode("cp1253"), GREEK),
        (JAPANESE.encode("shift_jis"), JAPANESE),
        (CHINESE.encode("gb18030"), CHINESE),
        (CHINESE_OF_TAIWAN.encode("big5"), CHINESE_OF_TAIWAN),
        (KOREAN.encode("euc_kr"), KOREAN),
        (("ABC " + JAPANESE).encode("iso2022_jp"), "ABC " + JAPANESE),
        (POLISH.encode("cp1250"), POLISH),
        (POLISH.encode("iso8859_2"), POLISH),
        (b"500 m\xb3 or 1\xbd\xb2, \xbfqu\xe9?\xb9 Na\xefve", "500 m³ or 1½², ¿qué?¹ Naïve"),
        # What Polish and English share must not become Polish: a price would change its currency.
        (b"It costs \xa35 (\xa712.4) \x96 \x93B\x94", "It costs £5 (§12.4) – “B”"),
        (b"", ""),
    ],
)
def test_bytes_become_text_in_the_defined_way(data, text):
    assert encoding.decode(data) == text


@pytest.mark.parametrize(
    ("text", "declared"),
    [
        (JAPANESE, "euc-jp"),
        (JAPANESE, "iso-2022-jp"),
        ("Źródło środków", "ISO-8859-2"),
        ("“It costs €5”", "ISO-8859-1"),
        ("plain", "no-such-encoding"),
        ("plain", "unicode_escape"),
    ],
)
def test_a_declared_encoding_is_believed_when_it_is_one(text, declared):
    written = {"ISO-8859-1": "cp1252"}.get(declared, declared)
    data = text.encode() if text == "plain" else text.encode(written)
    assert encoding.decode(data, declared) == text


@pytest.mark.parametrize(
    ("data", "declared", "charset"),
    [
        (POLISH.encode("cp1250"), "", "cp1250"),
        (POLISH.encode("cp1250"), "ISO-8859-1", "cp1252"),
        (RUSSIAN.encode("koi8-r"), "", "koi8-r"),
        ("Übung".encode(), "", "utf-8"),
        ("Übung".encode("utf-16-le"), "utf-16", "utf-16-le"),
        # Where no other encoding that might be declared would read otherwise, none is named.
        (b"plain", "iso-8859-2", ""),
        ("Übung".encode("utf-8-sig"), "cp1252", ""),
    ],
)
def test_the_encoding_is_told_with_the_text(data, declared, charset):
    assert encoding.read(data, declared).charset == charset


def test_what_has_no_meaning_in_the_declared_encoding_is_seen_to_be_missing():
    assert encoding.decode(b"caf\xe9 au lait", "utf-8") == "caf\ufffd au lait"


@pytest.mark.parametrize("data", [b"a\x00b", b"\x01\x02\x03 abc", b"odd\x00"])
def test_bytes_full_of_control_codes_are_no_text(data):
    assert encoding.decode(data) is None


def test_form_feeds_end_the_pages_of_plain_text():
    document = plain.parse("first\n\fsecond\nmore\f\fthird\f")
    assert [document.text[page.start : page.end] for page in document.pages] == [
        "first\n\f",
        "second\nmore\f",
        "\f",
        "third\f",
    ]
    assert [page.number for page in document.pages] == [1, 2, 3, 4]
    assert document.pages_without_text == (3,)
    assert [line.page_number for line in document.lines] == [1, 2, 2, 4]


@given(st.text(alphabet=" ab.\n\f1\u2028é", max_size=80))
def test_pages_cover_any_text_and_lines_lie_on_their_pages(text):
    document = plain.parse(text)
    assert "".join(text[page.start : page.end] for page in document.pages) == text
    pages = {page.number: page for page in document.pages}
    end = 0
    for line in document.lines:
        page = pages[line.page_number]
        assert end <= line.start < line.end
        assert page.start <= line.start
        assert line.end <= page.end
        assert text[line.start : line.end].strip()
        end = line.end


def test_numbered_lines_that_stand_alone_are_headings():
    document = plain.parse(
        "4. Due diligence\n\n4.1 Scope\n\nIt applies to all.\n\n4.2 Owners\n\nAs shown.\n\n"
        "Annex A - Forms\n\nPart 1: Owner\n\nName.\n"
    )
    assert outline(document) == [
        (2, "4", "4. Due diligence"),
        (3, "4.1", "4.1 Scope"),
        (3, "4.2", "4.2 Owners"),
        (1, "Annex A", "Annex A - Forms"),
        (2, "Part 1", "Part 1: Owner"),
    ]


def test_a_paragraph_that_begins_with_a_section_number_has_its_heading_run_in():
    document = plain.parse(
        "Section 4.2: Any corporate entity with a UBO\nmust submit proof.\n\n"
        "Article 48(1)\nThe entity shall keep\nrecords.\n\n"
        "48.2 Records are kept for five years\nafter the end.\n"
    )
    assert outline(document) == [
        (2, "4.2", "Section 4.2"),
        (2, "48(1)", "Article 48(1)"),
        (2, "48.2", "48.2"),
    ]
    assert printed(document) == ["Section 4.2:", "Article 48(1)", "48.2"]


def test_a_number_alone_on_its_line_is_the_heading_of_the_text_below():
    document = plain.parse(
        "14.2.3 Due diligence\n\nEach customer is identified.\n\n"
        "14.2.3.Guidance.10\n\nA firm keeps a copy.\n\n14.3.1\n\nA firm appoints an officer.\n\n"
        "14.4\n\nThe officer reports.\n"
    )
    assert outline(document) == [
        (3, "14.2.3", "14.2.3 Due diligence"),
        (5, "14.2.3.Guidance.10", "14.2.3.Guidance.10"),
        (3, "14.3.1", "14.3.1"),
        (2, "14.4", "14.4"),
    ]


def test_a_document_may_begin_with_any_section_if_the_next_one_follows():
    document = plain.parse("4.1 The client shall pay\nall.\n\n4.2 It may\nwithhold.\n")
    assert [number for _, number, _ in outline(document)] == ["4.1", "4.2"]
    document = plain.parse("4.1\n\nAll is paid.\n\n4.2\n\nIt is kept.\n\n4.3\n\nNothing is due.\n")
    assert [number for _, number, _ in outline(document)] == ["4.1", "4.2", "4.3"]


def test_sections_begin_without_blank_lines_between_them():
    document = plain.parse(
        "Section 4.1: Fees\nThe client shall pay.\nSection 4.2: Costs\nThe client shall\n"
        "bear costs, as listed in\nSection 4.1: it may ask why.\nArticle 48(1)\nRecords are kept.\n"
        "48.2 They are kept for five\nyears.\n"
    )
    assert [number for _, number, _ in outline(document)] == ["4.1", "4.2", "48(1)", "48.2"]


def test_a_labelled_title_is_a_heading_though_it_ends_in_a_point():
    document = plain.parse("Section 2.02 Making the Advances.\n\nEach is made on notice.\n")
    assert outline(document) == [(2, "2.02", "Section 2.02 Making the Advances.")]


@pytest.mark.parametrize(
    "text",
    [
        "1. Buy bread\n\n2. Buy milk\n\n3. Buy eggs\n\nThat is all.",
        "The limits are set out in\nSection 4.2. They apply to all.",
        "as required by\nArticle 48(1) of the Act.",
        "It cost\n\n12.5 Million euros were paid\nfor it.",
        "2024 was a good year\n\nIndeed.",
        "31 December 2024\n\nBalance.",
        "1. Scope ........ 4\n\n1.1 Owners ........ 5\n\n1.2 Trusts 6\n\nText.",
        "Section 4.2 of the Agreement applies to all.\n\nArticle 48(1) shall not apply.",
        "These are listed in Part I,\nItem 7. Discussion of Results, of this report.",
        "The limits are those of the\nSection 4.2: Owners that is annexed.",
        "Contents:\nSection 4.1: Fees\nSection 4.2: Costs\nSection 4.3: Trusts",
        "Rates:\n\n4.1\n\n4.2\n\n4.3\n\n2,450",
        "4.7\n\nAverage rating of our branches.\n\n3.9\n\nThat of our machines.",
        "1.2.3\n\nReleased in May.",
        "Call us.\n020.7946\n\n12.5\n\n31.12",
        "Sectional sofas\n\nParty 5 of the second part.",
    ],
)
def test_lists_references_amounts_dates_and_contents_are_no_headings(text):
    assert plain.parse(text).headings == ()


def test_markdown_headings_come_from_its_structure_and_their_spans_from_the_text_itself():
    document = markdown.parse(
        "# Group *AML* policy\n\nIntro.\n\n4.2 Beneficial `owners`\n-----------------------\n\n"
        "Text.\n\n```\n# no heading\n```\n\n> # quoted\n\n- # in a list\n\n### Article 48(1) ###\n"
    )
    assert outline(document) == [
        (1, "", "Group AML policy"),
        (2, "4.2", "4.2 Beneficial owners"),
        (3, "48(1)", "Article 48(1)"),
    ]
    assert printed(document) == [
        "# Group *AML* policy",
        "4.2 Beneficial `owners`\n-----------------------",
        "### Article 48(1) ###",
    ]


def test_markdown_paragraphs_that_begin_with_a_section_number_are_headings_in_bold_or_not():
    document = markdown.parse(
        "# 4 Owners\n\nSection 4.2: Any *entity*\nis verified.\n\n**4.3 Trusts**\n\n---\n\n"
        "**Section 4.4:** Nominees say\nfor whom they act.\n\n4.5\n\nThey are listed.\n\n"
        "> Section 4.6: quoted\n\n- Section 4.7: in a list\n\n```\nSection 4.8: code\n```\n\n"
        "| Section 4.9: | b |\n|---|---|\n| 1 | 2 |\n\nSEC_4.9\n\n## Annex\n\nWords.\n"
    )
    assert outline(document) == [
        (1, "4", "4 Owners"),
        (2, "4.2", "Section 4.2"),
        (2, "4.3", "4.3 Trusts"),
        (2, "4.4", "Section 4.4"),
        (2, "4.5", "4.5"),
        (2, "SEC_4.9", "SEC_4.9"),
        (2, "", "Annex"),
    ]
    assert printed(document) == [
        "# 4 Owners",
        "Section 4.2:",
        "**4.3 Trusts**",
        "**Section 4.4:**",
        "4.5",
        "SEC_4.9",
        "## Annex",
    ]


def test_markdown_tables_and_listings_are_whole_and_everything_stays_as_written():
    text = "Rates:\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nAfter.\n\n```\ncode\n\nmore\n```\n"
    document = markdown.parse(text)
    assert document.text == text
    assert [text[start:end] for start, end in document.tables] == [
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "```\ncode\n\nmore\n```",
    ]
    assert text.index("After.") in document.paragraphs
    assert len(document.pages) == 1


def test_front_matter_is_text_without_headings():
    text = "---\ntitle: Policy\n# comment\n---\n\n# Policy\n\nWords.\n"
    document = markdown.parse(text)
    assert document.text == text
    assert printed(document) == ["# Policy"]


def test_a_rule_at_the_top_is_no_front_matter():
    assert printed(markdown.parse("---\n\n# One\n\nNo second rule.\n")) == ["# One"]


@pytest.mark.parametrize("unit", ["x", "word ", "\n", " \n", "1. x\n\n", "1.1 Title\n\n", "\f"])
def test_long_text_of_one_kind_is_read_in_linear_time(unit):
    text = unit * (60_000 // len(unit))
    with ends_in_time():
        plain.parse(text)
        markdown.parse(text)
