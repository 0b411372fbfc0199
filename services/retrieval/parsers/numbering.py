"""Section numbers as they are printed: "4.2 Beneficial ownership", "Article 48(1)", "Annex A"."""

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["part", "chapter", "annex", "section", "bare"]

_KINDS: dict[str, Kind] = {
    "part": "part",
    "title": "part",
    "chapter": "chapter",
    "annex": "annex",
    "appendix": "annex",
    "schedule": "annex",
    "exhibit": "annex",
    "section": "section",
    "article": "section",
    "clause": "section",
    "item": "section",
    "sec.": "section",
    "art.": "section",
    "§": "section",
    "§§": "section",
}
_NUMBER = r"\d{1,4}[A-Za-z]?(?:\.\d{1,3}[A-Za-z]?)*(?:\([0-9A-Za-z]{1,4}\))*"
_LETTER = r"(?:[IVXLC]{1,7}|[A-Z])(?:[.-]\d{1,3})*"
_END = r"(?![\w(%,])"
_LABELLED = re.compile(
    r"(?P<label>(?:part|title|chapter|annex|appendix|schedule|exhibit)\b"
    r"|(?:section|article|clause|item)\b|sec\.|art\.|§§?)"
    rf"[ \t\xa0]*(?P<id>(?-i:{_NUMBER}|{_LETTER})){_END}",
    re.IGNORECASE,
)
# Rulebooks count their guidance and their paragraphs on: "14.2.3.Guidance.10", "1.1.1.(1)".
_WORD = r"(?:Guidance|Notes?|Commentary|Examples?)\b|[A-Z][a-z]{2,20}(?=\.[\d(])"
_DEEPER = (
    rf"(?:\.(?:\d{{1,3}}[A-Z]?|{_WORD}|\([0-9A-Za-z]{{1,4}}\))|(?<=\w)\([0-9A-Za-z]{{1,4}}\))*"
)
_BARE = re.compile(
    rf"(?P<id>(?:\d{{1,3}}|[A-Z])\.\d{{1,3}}{_DEEPER}"
    rf"|(?:APP|SCH)\d{{1,3}}\.[A-Z]?\d{{1,3}}{_DEEPER}"
    r"|\d{1,3})"
    rf"(?P<dot>[.)]?){_END}(?!\.\w)"
)
# As systems that number sections themselves write them.
_CODED = re.compile(rf"(?P<id>(?:SEC|ART|CL|PARA)_\d{{1,4}}(?:\.\d{{1,3}})*)(?P<dot>[.:)]?){_END}")
# A long dash marks without a space too ("Item 8\u2014Financial"), but not between two numbers.
_MARK = re.compile(
    r"[ \t\xa0]*(?:[:.](?=\s|$)"
    r"|(?:-(?=\s|$)|[\u2013\u2014])(?![ \t\xa0]*\d[\w.()]*(?:[\s,;]|$)))"
)
# The rest of a contents line: leaders, or a page number at the end.
_CONTENTS = re.compile(r"\.{3,}|(?:\. ){2,}|\u2026|[ \t]\d{1,4}$")
# A title run into its text, as in "3.4 Adjustments. The participant acknowledges".
_SENTENCE_END = re.compile(r"[a-z]\.\s+[A-Z]")
_MONTH = re.compile(
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december)\b",
    re.IGNORECASE,
)
_MAX_TITLE = 120
_STEP = re.compile(r"\.\(|[.(]")


@dataclass(frozen=True, slots=True)
class Numbered:
    """How a line that begins with a section number reads.

    Attributes:
        section_id: "4.2" of "Section 4.2", "48(1)" of "Article 48(1)"; parts, chapters and
            annexes keep their word ("Annex A"), for they are counted apart from sections.
        kind: What the number counts; "bare" when no word says it.
        depth: How many numbers deep: 2 for "4.2".
        marked: Whether punctuation sets the number off from what follows, as in "Section 4.2: Any".
        label_end: Where number and punctuation end in the line.
        title: The words after it.
    """

    section_id: str
    kind: Kind
    depth: int
    marked: bool
    label_end: int
    title: str

    @property
    def stands_alone(self) -> bool:
        """Whether neither a word nor a title tells it from a figure."""
        return self.kind == "bare" and not self.title


def read(line: str) -> Numbered | None:
    """The section number at the start of a line, None when there is none."""
    indent = len(line) - len(line.lstrip())
    if labelled := _LABELLED.match(line, indent):
        kind = _KINDS[labelled["label"].lower()]
        number = labelled["id"]
        section_id = number if kind == "section" else f"{labelled['label'].capitalize()} {number}"
        end, marked = labelled.end(), False
        if mark := _MARK.match(line, end):
            end, marked = mark.end(), True
    elif coded := _CODED.match(line, indent):
        kind, number = "section", coded["id"]
        section_id, end, marked = number, coded.end(), bool(coded["dot"])
    elif bare := _BARE.match(line, indent):
        kind, number = "bare", bare["id"]
        section_id, end, marked = number, bare.end(), bool(bare["dot"])
    else:
        return None
    title, depth = line[end:].strip(), len(_STEP.split(number))
    if kind == "bare" and depth == 1 and not title:
        return None
    return Numbered(section_id, kind, depth, marked, end, title)


def is_title(words: str) -> bool:
    """Whether words after a section number are its title, not a sentence or a contents line."""
    return (
        0 < len(words) <= _MAX_TITLE
        and (words[0].isupper() or words[0] in "\"'\u201c\u2018([")
        and words[-1] not in ".,;:"
        and not _CONTENTS.search(words)
        and not _SENTENCE_END.search(words)
        and not _MONTH.match(words)
    )


def is_titled(numbered: Numbered, *, stands_out: bool = False) -> bool:
    """Whether a number's title is all that follows it: a label's may end in a point.

    Behind "Section 4.2: " a point ends a sentence, unless the line stands out from the text.
    """
    words = numbered.title
    if numbered.kind != "bare" and (stands_out or not numbered.marked):
        words = words.removesuffix(".")
    return is_title(words)


def label(line: str, numbered: Numbered) -> str:
    """The number alone with its word: "Section 4.2" of "Section 4.2: Any corporate entity"."""
    return line[: numbered.label_end].strip().rstrip(":.\u2013\u2014-").rstrip()


def is_contents_line(line: str, numbered: Numbered | None) -> bool:
    """Whether a line, with what it begins with, reads as an entry of a table of contents."""
    is_number = numbered is not None and not numbered.title
    return not is_number and _CONTENTS.search(line.rstrip()) is not None
