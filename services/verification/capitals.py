"""Whether two texts that differ in letter case only say the same."""

import re

from services.verification.words import Word, words

# All in capitals these are other words; with a capital those are.
_OTHER_IN_CAPITALS = frozenset({"us", "it", "who", "aids", "or", "in", "am", "pm", "un", "eu"})
_OTHER_WITH_CAPITAL = frozenset({"may", "march", "august", "polish", "turkey", "china"})
_AFTER_NUMBER = re.compile(r"\d\s?$")


def same_case(one: str, other: str) -> bool:
    """False where a capital tells two words apart: US from us, mW from MW, May from may.

    Args:
        one: A text.
        other: The same text but for the case of its letters.
    """
    if one == other:
        return True
    pairs = list(zip(words(one), words(other), strict=True))
    return all(a.text == b.text or _same(pairs, at, one) for at, (a, b) in enumerate(pairs))


def _same(pairs: list[tuple[Word, Word]], at: int, text: str) -> bool:
    a, b = (word.text for word in pairs[at])
    start = pairs[at][0].span.start
    if any(char.isdigit() for char in a) or _AFTER_NUMBER.search(text[max(0, start - 2) : start]):
        return False  # A unit, or a code.
    if not (_is_plain(a) and _is_plain(b)):
        return False
    if a.lower() in _OTHER_WITH_CAPITAL:
        return a.isupper() or b.isupper()
    if a.lower() in _OTHER_IN_CAPITALS and (_shouts(a) or _shouts(b)):
        # In a line of capitals, capitals say nothing.
        side = 0 if _shouts(a) else 1
        beside = [pair[side].text for pair in pairs[max(0, at - 1) : at + 2] if pair != pairs[at]]
        return bool(beside) and all(map(_shouts, beside))
    return True


def _is_plain(word: str) -> bool:
    """All small, all capitals, or one capital first: forms that a sentence or a heading gives."""
    return word == word.lower() or word == word.upper() or word[1:] == word[1:].lower()


def _shouts(word: str) -> bool:
    return len(word) > 1 and word.isupper()
