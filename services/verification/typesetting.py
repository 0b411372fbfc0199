"""What of a text is set beside its words: reference marks, emphasis, spaces inside a figure.

Who copies a sentence leaves them out or sets them otherwise. A quote that does not stand in a text
as it is may therefore stand in it as it is read plainly. Nothing that could be a word or a figure
of the sentence is taken out: a raised digit is a mark behind a word, not behind a unit or a number.
"""

# ruff: noqa: RUF001 - look-alikes are what is told apart here

import re

# Takes the place of what is left out; it is nothing to who compares, and offsets stay.
_NOTHING = "\u2060"
_RAISED = "\u2070\u00b9\u00b2\u00b3\u2074-\u2079"
_SIGNS = "*†‡"
_LETTER = r"[^\W\d_]"
_BEHIND = r"(?=[\s.,;:)\]|]|\Z)"
_MARK = re.compile(
    rf"""
    (?:(?<={_LETTER}{{4}})|(?<={_LETTER}[.,;:)"”]))[{_RAISED}]{{1,4}}(?!\w)
  | (?<=[^\W_])[®™℠]
  | (?<=[\w%).,;:])[{_SIGNS}]{{1,3}}{_BEHIND}
  | (?<={_LETTER}{{3}})(?:\((?:\d{{1,2}}|[a-d])\))+{_BEHIND}
  | (?:(?<={_LETTER}{{2}})|(?<={_LETTER}[.,;)]))\s?\[\d{{1,3}}(?:\s?[,–-]\s?\d{{1,3}})*\]{_BEHIND}
    """,
    re.VERBOSE,
)
# A number behind one of these is its name, or its power.
_NUMBERED = re.compile(
    r"""(?:articles?|sections?|subsections?|rules?|clauses?|sub-?clauses?|paragraphs?|regulations?
    |parts?|items?|notes?|schedules?|annex|appendix|exhibits?|figures?|tables?|steps?|options?|class
    |types?|grades?|stages?|phases?|tiers?|levels?|category|groups?|artikel|absatz|satz|nummer
    |ziffer|(?:centi|milli|kilo)?met(?:er|re)s?|feet|foot|inch(?:es)?|miles?|yards?|seconds?)\s?\Z""",
    re.IGNORECASE | re.VERBOSE,
)
_LONGEST_NAME = 14
_MONEY = "$€£¥₹§"
_INNER_SPACE = re.compile(
    rf"""
    (?<=[{_MONEY}])\s{{1,3}}(?=[\d(.]) | (?<=\d)\s{{1,3}}(?=[%‰°])
  | (?<=\()\s{{1,3}}(?=[{_MONEY}]?\s?\d) | (?<=[\d%])\s{{1,3}}(?=\))
  | (?<=[<>≤≥])\s{{1,3}}(?=[-\d.]) | (?<=\w)\s{{1,3}}(?=[<>≤≥]\s{{0,3}}[-\d.])
    """,
    re.VERBOSE,
)
_EMPHASIS = re.compile(r"(?<![\w*])(\*{1,3}|__)(?=[^\s*])([^*\n]{1,400}?)(?<=[^\s*])\1(?![\w*])")
# A single mark where a word begins or ends; not an apostrophe, and not feet behind a number.
_SINGLE_QUOTE = re.compile(
    rf"(?<!\w)['‘’‚‛`´](?=\w)|(?:(?<={_LETTER})|(?<=[.,;:!?)%]))['‘’‛`´](?!\w)"
)
_ENTITY = re.compile("&(?:amp|lt|gt|quot|nbsp|#39|#160);")
_ENTITIES = {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'"}
_MICRO = str.maketrans("\u00b5", "\u03bc")
_OPENING, _CLOSING = "\"'“„‟‘‚«‹「『", "\"'”“’‘»›」』"
_IN_MARKS = re.compile(
    rf"[{_OPENING}]{{1,2}}(?=\S)(.*?)(?<=\S)[{_CLOSING}]{{1,2}}[.,;]?", re.DOTALL
)


def unmarked(text: str) -> str:
    """The text at the same offsets without reference marks and emphasis."""
    return _MARK.sub(_left_out, _EMPHASIS.sub(_bare, text))


def plain(text: str) -> str:
    """What is unmarked, at the same offsets, with figures and quotation marks set in one way."""
    text = _ENTITY.sub(
        lambda found: _ENTITIES.get(found[0], " ").ljust(len(found[0]), _NOTHING), text
    )
    text = _INNER_SPACE.sub(lambda found: _NOTHING * len(found[0]), text)
    return _SINGLE_QUOTE.sub('"', text).translate(_MICRO)


def copied(quote: str) -> str:
    """A quote as it is compared with what is plain: its own reference marks stay.

    Emphasis is the copyist's, and so are the quotation marks around the whole.
    """
    if inner := _IN_MARKS.fullmatch(quote):
        quote = inner[1]
    return plain(_EMPHASIS.sub(r"\2", quote))


def _left_out(mark: re.Match[str]) -> str:
    before = mark.string[max(0, mark.start() - _LONGEST_NAME) : mark.start()]
    if any(map(str.isalnum, mark[0])) and _NUMBERED.search(before):
        return mark[0]
    return _NOTHING * len(mark[0])


def _bare(emphasised: re.Match[str]) -> str:
    around = _NOTHING * len(emphasised[1])
    return f"{around}{emphasised[2]}{around}"
