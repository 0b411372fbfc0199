"""Which of the numbers that begin lines start sections: those that go on from each other."""

import re
from collections.abc import Iterable, Sequence
from itertools import islice, pairwise, takewhile

from services.retrieval.parsers import numbering, page_labels
from services.retrieval.parsers.numbering import Numbered

# A sentence goes on with the number of another section.
_REFERRING = re.compile(
    r"(?:[,(\u201c\u2018\"'\u2013\u2014-]|\b(?:and|as|at|by|for|from|in|into|of|on|or|our|per|see"
    r"|that|the|this|through|titled|entitled|to|under|with|within))\s*$"
)
_WORD = re.compile(r"[^\W\d_]{2}")
_AMOUNT = re.compile(r"\d+\.\d+")
_NAMED = re.compile(r"[A-Za-z]{3}")
# What a count begins with, one step further down.
_FIRST = re.compile(r"0?1|[aAiI]|[A-Za-z]{3,}")


def starts_section(
    numbered: Numbered,
    previous: Numbered | None,
    next_line: str = "",
    later: Iterable[Numbered | None] = (),
) -> bool:
    """Whether a number at the start of a paragraph, of plain type, starts a section.

    A word with punctuation or alone does ("Section 4.2:", "Article 48(1)"); without a word it does
    when it is two numbers deep or more and goes on from the section before, or when no section was
    counted before and the next number goes on from it: an amount does not. The text of a section
    may repeat the number of its title; that starts nothing.

    Args:
        numbered: What the paragraph begins with.
        previous: The number of the section before.
        next_line: The line below.
        later: What the paragraphs below begin with.
    """
    if previous is not None and numbered.section_id == previous.section_id:
        return False
    if numbered.kind != "bare":
        return numbered.marked or not numbered.title
    is_in_column = _is_like_amount(numbered) and not _WORD.search(next_line)
    is_sentence = numbered.title and not numbered.title[0].isupper()
    if numbered.depth == 1 or is_sentence or is_in_column:
        return False
    if _NAMED.search(numbered.section_id):
        return True
    if previous is None:
        return _begins_count(numbered, later)
    return _goes_on(numbered, previous)


def _begins_count(numbered: Numbered, later: Iterable[Numbered | None]) -> bool:
    """Whether a number is a document's first: "1.1 Scope", or one that the next goes on from."""
    if numbered.title and numbered.section_id.startswith("1."):
        return True
    # Two figures may be next to each other by chance.
    needed = 2 if _is_like_amount(numbered) else 1
    coming = (n for n in later if n and n.kind == "bare" and n.depth > 1)
    run = [numbered, *islice(coming, needed)]
    return len(run) > needed and all(follows(after, before) for before, after in pairwise(run))


def _goes_on(numbered: Numbered, previous: Numbered) -> bool:
    """Whether a number is of the chapter before or of the next; one like an amount must follow."""
    if _is_like_amount(numbered):
        return follows(numbered, previous)
    chapter, last = _steps(numbered)[0], _steps(previous)[0]
    return chapter == last or _is_next(chapter, last)


def _is_like_amount(numbered: Numbered) -> bool:
    return numbered.stands_alone and _AMOUNT.fullmatch(numbered.section_id) is not None


def follows(numbered: Numbered, previous: Numbered) -> bool:
    """Whether a number is the next after another: 4.3 or 5.1 after 4.2, or is below it.

    Where it could be an amount, only the first below: 4.1 below 4.
    """
    steps, before = _steps(numbered), _steps(previous)
    pairs = zip(steps, before, strict=False)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    if same < min(len(steps), len(before)):
        return _is_next(steps[same], before[same]) and _are_first(steps[same + 1 :])
    is_below = len(steps) > len(before)
    return is_below and (_are_first(steps[same:]) or not _AMOUNT.fullmatch(numbered.section_id))


def _is_next(step: str, before: str) -> bool:
    return step.isdecimal() and before.isdecimal() and int(step) == int(before) + 1


def _are_first(steps: Sequence[str]) -> bool:
    return all(map(_FIRST.fullmatch, steps))


def _steps(numbered: Numbered) -> list[str]:
    """The numbers of a number: "4" and "2" of "4.2", "4" of "Article IV"."""
    number = re.split(r"[ _]", numbered.section_id)[-1]
    value = page_labels.roman(number) if numbered.kind == "section" else 0
    return [str(value)] if value else re.findall(r"[0-9A-Za-z]+", number)


def parts_paragraph(numbered: Numbered, above: str, around: Iterable[Numbered | None]) -> bool:
    """Whether a line with a number begins a paragraph though no gap is above it.

    It does where a sentence ends above, or where a word and punctuation show a number to be no
    reference; but not in a table of contents, where titles stand one below the other.

    Args:
        numbered: What the line begins with.
        above: The line above.
        around: What the lines above and below, on the same page, begin with.
    """
    is_bare = numbered.kind == "bare"
    if numbered.depth == 1 if is_bare else numbered.title and not numbered.marked:
        return False
    in_contents = any((n.kind, n.depth) == (numbered.kind, numbered.depth) for n in around if n)
    if in_contents and numbering.is_titled(numbered, stands_out=True):
        return False
    is_heading = not is_bare and numbered.marked and numbered.title
    return ends_sentence(above) or bool(is_heading and not _REFERRING.search(above))


def ends_sentence(line: str) -> bool:
    """Whether a sentence or a clause ends with a line."""
    return line.rstrip()[-1:] in {*".!?:;"}


def levels(numbers: Sequence[Numbered]) -> list[int]:
    """The levels of a document's numbered headings, in order; 1 is outermost.

    Sections stand below chapters, these below parts, where there are any; what follows the title
    of an annex stands below the annex.
    """
    kinds = {numbered.kind for numbered in numbers}
    parts, chapters = int("part" in kinds), int("chapter" in kinds)
    above = {"part": 0, "chapter": parts, "annex": 0}
    found: list[int] = []
    annexes = 0
    for numbered in numbers:
        if numbered.kind == "annex":
            annexes = 1
            found.append(numbered.depth)
        else:
            found.append(above.get(numbered.kind, parts + chapters) + numbered.depth + annexes)
    return found
