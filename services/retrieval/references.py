"""Numbers of sections in a query: "Article 48(1)", "Sections 4.2 to 4.4", "point (a) of Rule 6"."""

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from services.retrieval.folding import with_ascii_digits
from services.retrieval.sections import LABEL, section_keys


class Section(NamedTuple):
    """A section that a query names: its words, and the key under which it is found."""

    text: str
    key: str


# Narrowest first: what is named, then the sections whose text it may be a part of.
Chain = tuple[Section, ...]

# Divisions of a section, behind its number or in words: "(1)", ".Guidance", ", point (f)".
_PART = r"(?:\.?\([0-9a-z]{1,4}\)|\.(?:[0-9]{1,4}|guidance|notes?|[a-z]{1,3}(?![a-z])))"
# Behind a space more may stand in brackets: "Article 5 (new)", "Regulation 7 (2019)".
_PART_BEHIND_A_SPACE = r"\s\((?:[0-9]{1,2}|[a-z]|[ivx]{2,4})\)"
_DIVISION = (
    r"(?:(?:sub-?)?paragraphs?|sub-?(?:section|clause)s?|para\.?|par\.|points?|letters?|lit\."
    r"|abs(?:\.|atz)|nr\.|nummer|buchst(?:\.|abe)|alinéa|apartado|comma)"
)
_DIVISION_ID = r"(?:\(?[0-9]{1,3}[a-z]?\)?|\((?:[a-z]|[ivx]{2,4})\)|[b-hj-z])(?![\w%])"
_IN_WORDS = rf",?\s+{_DIVISION}\s*{_DIVISION_ID}"
# No number is deeper; that many are read in no time.
_NUMBER = rf"[0-9]{{1,4}}[a-z]?(?:{_PART}|{_PART_BEHIND_A_SPACE}|{_IN_WORDS}){{0,8}}(?![\w%])"
# Case tells numerals and letters from words: "Section IV", "Schedule B", but "section a of".
_UPPER_ROMAN = r"(?-i:(?=[IVXLC]{2,7}\b)C{0,2}(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3}))"
_LOWER_ROMAN = r"(?-i:(?=[ivx]{2,6}\b)x{0,3}(?:ix|iv|v?i{0,3}))"
_ROMAN = rf"(?:{_UPPER_ROMAN}|{_LOWER_ROMAN})(?!\w)"
# "A" and "I" are words too, unless something stands behind them that does behind a number.
_ENDS = (
    r"(?!\w)(?=\s*(?:[?!.,;:)\]]|$)|\s+(?:of|to|and|or|under|section|part|paragraph|point|sa(?:y|id)"
    r"|require|appl|cover|mean|provide|state|list))"
)

# "paragraph 2 of" Article 6
_OF = rf"{_DIVISION}\s*{_DIVISION_ID}\s+(?:of|in)\s+(?:the\s+)?"
_LABELLED = re.compile(
    rf"(?<![\w.])(?P<of>(?:{_OF}){{0,3}})(?P<label>(?:{LABEL})\s*)(?P<number>{_NUMBER})"
    rf"|(?<![\w.])(?P<lettered>(?:sections?|articles?|clauses?)\s+)"
    rf"(?P<letter>(?:{_ROMAN}|(?-i:[B-HJ-Z])(?!\w)(?<=section .)|(?-i:[A-Z]){_ENDS})"
    rf"{_PART}{{0,8}})",
    re.IGNORECASE,
)
# These are counted apart from sections, and keep their word.
_APART = re.compile(
    r"\b(?P<label>(?:(?:chapter|annexe?|appendix|schedule|exhibit)s?|annexes|appendices)\s+)"
    rf"(?P<number>[0-9]{{1,3}}\b|(?-i:[A-Z]\b(?:[.-][0-9]{{1,3}})*)|{_ROMAN}"
    rf"|(?-i:[b-hj-z])(?![\w'\u2019-])|(?-i:[ai]){_ENDS})"
    r"|\b(?P<recital>recitals?\s+)(?P<count>[0-9]{1,3})\b",
    re.IGNORECASE,
)
_SINGULAR = {"annexes": "annex", "annexe": "annex", "appendices": "appendix"}
# "第15条第2款"
_CHINESE = re.compile(r"第\s*[0-9]{1,4}\s*[条條](?:\s*第?\s*[0-9]{1,3}\s*[款項项号號]){0,4}")
# Without a word before it a number must look like nothing else: "14.2.3", "4.2(b)", "SEC_4.2".
_BARE = re.compile(
    rf"(?<![\w.,$€£])(?:[0-9]{{1,4}}(?:\.[0-9]{{1,4}}){{2,8}}{_PART}{{0,8}}"
    rf"|[0-9]{{1,4}}(?:\.[0-9]{{1,4}}){{1,8}}{_PART}{{0,8}}(?:\.guidance|\([0-9a-z]{{1,4}}\)){_PART}{{0,8}}"
    r"|(?:sec|art|cl|para)_[0-9]{1,4}(?:\.[0-9]{1,3})*)(?![\w%])",
    re.IGNORECASE,
)
# "Articles 5, 6 and 8", "Sections 4.2 to 4.4"; behind one "Section 4.2" only "and 4.3".
_AND = r"(?:\s*,\s*(?:(?:and|or)\s+)?|\s+(?:and|or|und|oder|et|ou|y|e|o)\s+|\s*&\s*)"
_TO = r"(?:\s+(?:to|through|bis|à)\s+|\s*[-\u2013\u2014]\s*)"
_NEXT = re.compile(
    rf"(?:{_AND}|(?P<to>{_TO}))(?P<number>{_NUMBER}|{_ROMAN}|(?-i:[A-HJ-Z])(?!\w))", re.IGNORECASE
)
_NEXT_OF_ONE = re.compile(
    rf"\s+(?:and|or|(?P<to>to))\s+(?P<number>(?=[0-9]+[.(]){_NUMBER})", re.IGNORECASE
)
_SEVERAL = re.compile(r"(?:[^\W_]{3,}s\.?|§§|artikel)\s*", re.IGNORECASE)
_SET_APART = re.compile("[.(]")
_LONGEST_RANGE = 10

_LAST_PART = re.compile(
    rf"(?:\.?\([0-9a-z]{{1,4}}\)|{_PART_BEHIND_A_SPACE}|{_IN_WORDS})$", re.IGNORECASE
)
_DIVISION_WORD = re.compile(_DIVISION, re.IGNORECASE)
_ID = re.compile(r"\b(?:[0-9]+[a-z]?|[a-z]|[ivx]{2,4})\b", re.IGNORECASE)


def sections(query: str) -> Iterator[Chain]:
    """Each section that a query names."""
    for pattern, read in (
        (_LABELLED, _labelled),
        (_APART, _apart),
        (_CHINESE, _chinese),
        (_BARE, _bare),
    ):
        at, rest = 0, []
        while match := pattern.search(query, at):
            rest.append(query[at : match.start()])
            chains, at = read(match)
            yield from chains
        # What is read as one of these is none of the others.
        query = "; ".join([*rest, query[at:]])


def in_plain_characters(text: str) -> str:
    """Digits, letters and brackets in their ASCII form, each at its place."""
    plain = (unicodedata.normalize("NFKC", character) for character in text)
    return with_ascii_digits(
        "".join(p if len(p) == 1 else c for p, c in zip(plain, text, strict=True))
    )


def _labelled(match: re.Match[str]) -> tuple[list[Chain], int]:
    if match["letter"]:
        return _listed(match["lettered"], match["letter"], match.string, match.end())
    divisions = _ID.findall(_DIVISION_WORD.sub("", match["of"]))
    inner = "".join(f"({one})" for one in reversed(divisions))
    chains, end = _listed(match["label"], match["number"] + inner, match.string, match.end())
    chains[0] = (chains[0][0]._replace(text=match[0]), *chains[0][1:])
    return chains, end


def _listed(label: str, number: str, query: str, end: int) -> tuple[list[Chain], int]:
    """The section, those that follow it in a list or a range, and where they end."""
    several = _SEVERAL.fullmatch(label) is not None
    following = _NEXT if several else _NEXT_OF_ONE
    chains = [_chain(label, number)]
    if not several and not _SET_APART.search(number):
        return chains, end
    while match := following.match(query, end):
        if match["to"]:
            between = _between(chains[-1][0].key, _key(match["number"]))
            chains += [(Section(label + key, key),) for key in between]
        chains.append(_chain(label, match["number"]))
        end = match.end()
    return chains, end


def _chain(label: str, number: str) -> Chain:
    found = [Section(label + number, _key(number))]
    while part := _LAST_PART.search(number):
        number = number[: part.start()]
        found.append(Section(label + number, _key(number)))
    return tuple(found)


def _key(number: str) -> str:
    return section_keys(_DIVISION_WORD.sub(" ", number))[0]


def _between(first: str, last: str) -> list[str]:
    """The keys from one to the other: "4.3" and "4.4" of "4.2 to 4.5"; none where they are many."""
    *path, start = first.split(".")
    *other, end = last.split(".")
    if path != other or not (start.isdecimal() and end.isdecimal()):
        return []
    if int(end) - int(start) > _LONGEST_RANGE:
        return []
    return [".".join([*path, str(n)]) for n in range(int(start) + 1, int(end))]


def _apart(match: re.Match[str]) -> tuple[list[Chain], int]:
    label = match["label"] or match["recital"]
    word = label.strip().lower()
    one = _SINGULAR.get(word, word.removesuffix("s"))
    listed, end = _listed(label, match["number"] or match["count"], match.string, match.end())
    return [
        tuple(section._replace(key=f"{one}.{section.key}") for section in chain) for chain in listed
    ], end


def _chinese(match: re.Match[str]) -> tuple[list[Chain], int]:
    number, *parts = re.findall(r"[0-9]+", match[0])
    sections = [
        Section(
            match[0] if count == len(parts) else f"第{number}条", ".".join([number, *parts[:count]])
        )
        for count in (len(parts), 0)
    ]
    return [tuple(dict.fromkeys(sections))], match.end()


def _bare(match: re.Match[str]) -> tuple[list[Chain], int]:
    return [_chain("", match[0])], match.end()
