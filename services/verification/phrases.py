"""Lists of words and phrases, written for readers, and their patterns."""

import re

# Python's \w leaves out the vowel signs of Devanagari, so that \b would find an edge inside a word.
_MARKS = "\u0900-\u0903\u093a-\u094f"


def listed(words: str) -> list[str]:
    """The words of a list with blanks between."""
    return words.split()


def any_of(phrases: str) -> str:
    """The pattern of a list: phrases with " | " or a line end between; each may be a pattern."""
    parts = (part.strip() for line in phrases.splitlines() for part in line.split(" | "))
    return "(?:" + "|".join(part for part in parts if part) + ")"


def whole(pattern: str) -> str:
    """The pattern, but not inside a word."""
    return rf"(?<![\w{_MARKS}]){pattern}(?![\w{_MARKS}])"


def compiled(phrases: str) -> re.Pattern[str]:
    """A list of phrases, each a whole word or several, in any letter case."""
    return re.compile(whole(any_of(phrases)), re.IGNORECASE)
