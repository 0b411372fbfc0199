"""Which characters may stand in a document's text."""

import re

# Stands for what is printed or written but is no character: a control code, a lone surrogate, a
# glyph without a meaning. It must not vanish, or "1?4" would be quoted as "14".
UNREADABLE = "\N{REPLACEMENT CHARACTER}"

_KEPT = {ord("\t"), ord("\n"), ord("\f")}
NO_CHARACTERS = frozenset(
    {*range(0x20), *range(0x7F, 0xA0), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF} - _KEPT
)
# For str.translate; keeps every offset.
MADE_READABLE = dict.fromkeys(NO_CHARACTERS, UNREADABLE)

_RAISED = str.maketrans(
    "0123456789", "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"
)
# Of a power or a charge; not the dash of "1-3", nor that of "A-", which is no figure.
_MINUS = re.compile(r"(?<!\w)[-\u2011\u2013\u2212](?=\d)|(?<=\d)[-\u2011\u2013\u2212](?!\w)")


def superscript(text: str) -> str:
    """What is set above the line: the mark of a note must not become a figure's last digit."""
    return _MINUS.sub("\u207b", text).translate(_RAISED)
