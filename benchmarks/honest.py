"""The small edits that a careful model makes to a sentence it repeats, each by a rule.

None changes what the sentence says, as its rule is written; a rule gives nothing where that could
not be told without reading.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

_CONNECTIVE = re.compile(
    r"(?:However|Therefore|Moreover|Furthermore|In addition|Accordingly|Consequently|As a result"
    r"|Thus|Nevertheless|Finally|Similarly|Indeed|Additionally|For this reason) ?, "
)
_NUMBER = re.compile(
    r"(?:(?:Section|Article|Rule) [\d.]+ ?:|\d+(?:\.\d+)+|\([a-z\d]{1,3}\)|\d+\.)\s+"
)
_ABBREVIATION = re.compile(r" \([A-Z][A-Za-z-]{1,11}\)")
_LAST = re.compile(
    r"[^,]{20,}(, (?:which|and|compared with|including|an? (?:in|de)crease of) [^,;:]+)(?=[.]$)"
)
_TWO = re.compile(r"([^;,:]{15,}); ([^;,:]{15,})\.$")
_PRONOUN = re.compile(r"(?:It|He|She|They) ")
_SUBJECT = re.compile(
    r"((?:The |An? )?[A-Z]?[\w'-]+(?: [\w'-]+){0,4}?)"
    r" (?:is|are|was|were|must|shall|may|will|has|have) "
)
_IF = re.compile(r"((?:If|Where|When|Unless) [^,;:]{8,}), ([^,;:]{10,})\.$")
_ADVERBIAL = re.compile(r"((?:In|On|At|During|After|Before|Under) [^,;:]{3,40}), ([^,;:]{10,})\.$")
_NOT = re.compile(r"\b(do|does|did|is|are|was|were|has|have) not\b")
_PERCENT = re.compile(r"(\d)\s?%")
_WORDS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "ten": 10, "twelve": 12}
_SPELLED = re.compile(rf"\b({'|'.join(_WORDS)})(?= (?:business |working )?(?:days|months|years))")
_ITEM = re.compile(r"^\s*(?:[-*\u2022]|\([a-z\d]{1,3}\))\s+(\S[^\n]{10,})$", re.MULTILINE)
_ITEM_END = re.compile(r"[;,.]?\s*(?:\b(?:and|or))?\s*$")


@dataclass(frozen=True, slots=True)
class Told:
    """A sentence of a passage, with what stands around it.

    Attributes:
        text: The sentence, on one line.
        before: The sentence before it in the passage; empty where there is none.
        after: The sentence behind it.
        section: The number of its section; empty where none is known.
        kind: What its document is: policy, agreement, report.
    """

    text: str
    before: str = ""
    after: str = ""
    section: str = ""
    kind: str = "document"


@dataclass(frozen=True, slots=True)
class Edited:
    """What the model writes, and the words it quotes for it."""

    text: str
    quotes: Sequence[str]


def edits(told: Told) -> Iterator[tuple[str, Edited]]:
    """Each kind of edit that can be made to a sentence, and what comes of it."""
    for kind, edit in _EDITS.items():
        text = edit(told)
        if text and text != told.text:
            quotes = [told.text, *([told.after] if kind == "two sentences joined" else [])]
            yield kind, Edited(text, quotes)


def items(passage: str) -> Iterator[Edited]:
    """Each item of a list with what leads in to it."""
    found = list(_ITEM.finditer(passage))
    above = passage[: found[0].start()].strip() if found else ""
    lead = re.split(r"(?<=[.:])\s+(?=[A-Z])", above)[-1]
    if not lead.endswith(":") or len(found) < 2:
        return
    for item in found:
        text = _ITEM_END.sub("", item[1])
        if len(text) > 20:
            yield Edited(f"{lead.rstrip(': ')}: {text}.", [lead, item[1].strip()])


def _cut(pattern: re.Pattern[str], group: int = 0) -> Callable[[Told], str]:
    def edit(told: Told) -> str:
        found = pattern.search(told.text)
        if not found:
            return ""
        return _capital(told.text[: found.start(group)] + told.text[found.end(group) :])

    return edit


def _at_start(pattern: re.Pattern[str]) -> Callable[[Told], str]:
    def edit(told: Told) -> str:
        found = pattern.match(told.text)
        return _capital(told.text[found.end() :]) if found else ""

    return edit


def _made(pattern: re.Pattern[str], form: Callable[[re.Match[str]], str]) -> Callable[[Told], str]:
    def edit(told: Told) -> str:
        found = pattern.match(told.text)
        return form(found) if found else ""

    return edit


def _resolved(told: Told) -> str:
    """The subject of the sentence before, for the pronoun that stands for it."""
    found, subject = _PRONOUN.match(told.text), _SUBJECT.match(told.before)
    return f"{subject[1]} {told.text[found.end() :]}" if found and subject else ""


def _joined(told: Told) -> str:
    if not (told.text.endswith(".") and re.match(r"(?:The|A|An|No|Each|Any) ", told.after)):
        return ""
    return f"{told.text[:-1]}, and {_small(told.after)}"


def _bold(told: Told) -> str:
    first, _, rest = told.text.partition(" ")
    second, _, rest = rest.partition(" ")
    return f"**{first} {second}** {rest}"


def _small(text: str) -> str:
    """In the middle of a sentence; a name keeps its capital, and so does what may be one."""
    first = text.split(" ", 1)[0]
    is_little = first in {"The", "A", "An", "Any", "All", "No", "Each", "If", "Where", "When", "In"}
    return text[0].lower() + text[1:] if is_little else text


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


_EDITS: dict[str, Callable[[Told], str]] = {
    "number dropped": _at_start(_NUMBER),
    "connective dropped": _at_start(_CONNECTIVE),
    "abbreviation in brackets cut": _cut(_ABBREVIATION),
    "last part cut": _cut(_LAST, 1),
    "first of two clauses": _made(_TWO, lambda found: f"{found[1]}."),
    "second of two clauses": _made(_TWO, lambda found: f"{_capital(found[2])}."),
    "two clauses joined": _made(_TWO, lambda found: f"{found[1]}, and {found[2]}."),
    "two sentences joined": _joined,
    "pronoun resolved": _resolved,
    "condition put last": _made(_IF, lambda f: f"{_capital(f[2])} {_small(f[1])}."),
    "condition put last, with a comma": _made(_IF, lambda f: f"{_capital(f[2])}, {_small(f[1])}."),
    "adverbial put last": _made(_ADVERBIAL, lambda f: f"{_capital(f[2])} {_small(f[1])}."),
    "the document states that": lambda told: f"The {told.kind} states that {_small(told.text)}",
    "according to the document": lambda told: f"According to the {told.kind}, {_small(told.text)}",
    "the document states, quoted": lambda told: f'The {told.kind} states: "{told.text}"',
    "according to its section": lambda told: (
        f"According to Section {told.section}, {_small(_NUMBER.sub('', told.text, count=1))}"
        if told.section
        else ""
    ),
    "in bold": _bold,
    "as an item of a list": lambda told: f"- {told.text}",
    "contracted": lambda told: _NOT.sub(r"\1n't", told.text, count=1),
    "percent in words": lambda told: _PERCENT.sub(r"\1 percent", told.text),
    "number in figures": lambda told: _SPELLED.sub(lambda w: str(_WORDS[w[1]]), told.text),
}
