"""Bytes to text, in a defined way, or the finding that they are none."""

import codecs
import re

from services.chassis.errors import InvalidInput
from services.retrieval.parsers.characters import MADE_READABLE, NO_CHARACTERS

_MARKS = (
    # UTF-32's little-endian mark begins with UTF-16's.
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LINE_END = re.compile("\r\n?")
# Text may hold a few stray control codes, an old printer's or a log's; binary data holds many.
_CHARACTERS_PER_CONTROL = 1000


def decode(data: bytes) -> str | None:
    """The text in these bytes, None when they are binary.

    A byte order mark decides; without one they are UTF-8, and where they are not valid as that,
    Windows-1252. Binary is what holds a NUL or more than one control code in a thousand
    characters. Line ends become line feeds, control codes U+FFFD; form feeds stay.
    """
    for mark, name in _MARKS:
        if data.startswith(mark):
            try:
                text = data[len(mark) :].decode(name)
            except UnicodeDecodeError as error:
                raise InvalidInput(
                    f"The text is marked as {name.upper()} and is not valid as that.",
                    reason="DAMAGED_FILE",
                ) from error
            break
    else:
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            # Five bytes have no meaning in it.
            text = data.decode("cp1252", errors="replace")
    text = _LINE_END.sub("\n", text)
    controls = sum(text.count(chr(code)) for code in NO_CHARACTERS)
    if "\0" in text or controls * _CHARACTERS_PER_CONTROL > len(text):
        return None
    return text.translate(MADE_READABLE)
