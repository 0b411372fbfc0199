"""References to numbered places in a document, such as Section 4.2 or Annex II."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from services.verification import numerals
from services.verification.evidence import Span
from services.verification.phrases import any_of

_KIND = any_of(
    r"""
    subsections? | sections? | secs?\. | articles? | arts?\. | clauses? | cl\. | subparagraphs?
    paragraphs? | paras?\.? | chapters? | ch\. | annex(?:es)? | appendix | appendices | schedules?
    rules? | recitals? | parts? | titles? | tables? | figures? | pages? | forms? | items? | notes?
    exhibits? | points? | p\. | pp\. | phases? | stages? | tiers? | levels? | categor(?:y|ies)
    class(?:es)?
    """
)
_NUMBER = r"\(?\d[\w.-]*(?:\(\w{1,4}\))*|[A-Z](?![\w'’])(?:\.?\d+)*|[IVXLC]+(?!\w)"  # noqa: RUF001 - as it is printed
_REFERENCE = re.compile(rf"(?:\b(?P<kind>(?i:{_KIND}))|(?P<sign>§+))\s*(?P<number>{_NUMBER})")
# "Articles 5, 6 and 7": the further numbers of a list.
_FURTHER = re.compile(r"(?:,\s?|,?\s(?:and|or|to)\s)(?P<number>\d[\w.]*(?:\(\w{1,4}\))*)(?![%\w])")
_KINDS = {
    "sec.": "section",
    "secs.": "section",
    "art.": "article",
    "arts.": "article",
    "cl.": "clause",
    "ch.": "chapter",
    "para": "paragraph",
    "para.": "paragraph",
    "paras.": "paragraph",
    "annexes": "annex",
    "appendices": "appendix",
    "categories": "category",
    "classes": "class",
    "class": "class",
    "p.": "page",
    "pp.": "page",
}
# A letter alone is a letter, but for those that are mostly numbers.
_SINGLE_ROMANS = "ivx"


@dataclass(frozen=True, slots=True)
class Reference:
    """A numbered place, such as Section 4.2."""

    span: Span
    kind: str
    number: str

    def lies_in(self, number: str) -> bool:
        """Whether that number names the same place, or one around it: Article 6(1) is in 6."""
        return number == self.number or (
            self.number.startswith(number) and self.number[len(number)] in ".("
        )


def references(text: str) -> Iterator[Reference]:
    """Every numbered place that a text names, in order."""
    for found in _REFERENCE.finditer(text):
        kind = (found["kind"] or "section").lower()
        kind = _KINDS.get(kind, kind.removesuffix("s"))
        number = found["number"].rstrip(".-")
        end = found.start("number") + len(number)
        yield Reference(Span(found.start(), end), kind, _plain(number))
        is_list = (found["kind"] or "").endswith("s") or found["sign"] == "§§"
        while is_list and (further := _FURTHER.match(text, end)):
            number = further["number"].rstrip(".")
            span = Span(further.start("number"), further.start("number") + len(number))
            end = span.end
            yield Reference(span, kind, _plain(number))


def _plain(number: str) -> str:
    """The number in small letters, and a Roman one in digits."""
    lowered = number.lower()
    if lowered.isalpha() and (len(lowered) > 1 or lowered in _SINGLE_ROMANS):
        value = numerals.roman(lowered)
        return str(value) if value else lowered
    return lowered
