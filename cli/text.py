"""Untrusted text made safe to print: it can neither style nor steer a terminal."""

import unicodedata

from rich.text import Text

# Cc moves cursors and starts escape sequences, Cf holds the marks that reorder what is read, Cs
# cannot be encoded, Zl and Zp break lines where the terminal expects none.
_UNPRINTABLE = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def printable(text: str) -> str:
    """The text without anything a terminal would obey, line breaks included."""
    return "".join(c for c in text if unicodedata.category(c) not in _UNPRINTABLE)


def clean(text: str) -> str:
    """The text on one line, printable, each run of white space one space."""
    return " ".join(printable(" ".join(text.split())).split())


def plain(text: str, style: str = "") -> Text:
    """The cleaned text as rich prints it: square brackets are brackets, never markup."""
    return Text(clean(text), style)
