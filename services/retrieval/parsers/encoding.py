"""Bytes to text, in a defined way, or the finding that they are none."""

import codecs
import re
from email.message import Message
from typing import NamedTuple

import charset_normalizer

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
# Python has codecs that are no encodings of text, such as unicode_escape.
_ENCODING = re.compile(r"(?:utf|iso|cp|koi|shift|euc|gb|big5|hz|johab|mac|tis|ascii|kz)[\w-]*")
# What is declared, and what is meant: https://encoding.spec.whatwg.org/#names-and-labels
_MEANT = {
    "ascii": "cp1252",
    "utf-16": "utf-16-le",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
}
# Scripts of their own: their letters tell them apart, which those of Polish and French do not.
_OTHER_SCRIPTS = [
    *("cp1251", "koi8_r", "cp1253", "cp1255", "cp1256", "cp874"),
    *("cp932", "euc_jp", "gb18030", "big5", "cp949"),
]
# How text in Japanese of seven bits begins; nothing else does.
_JAPANESE = re.compile(rb"\x1b\$[@B]")
# Two letters of Polish that would be signs in Windows-1252, where none stands within a word; and
# those by which its two encodings differ.
_LETTER = rb"[A-Za-z\xc0-\xff]"
_POLISH = re.compile(rb"(?<=%b)[\xb3\xbf](?=%b)" % (_LETTER, _LETTER))
_OF_POLISH = {"cp1250": b"\xb9\x9c\x9f", "iso8859_2": b"\xb1\xb6\xbc"}
_FEW_LETTERS = 2
_SAMPLE_BYTES = 64 * 1024
_ASCII_LETTERS = re.compile(rb"[A-Za-z]")
_HIGH = re.compile(rb"[\x80-\xff]")
_UTF_16_SHARE = 0.4
_FEW_NULS = 4

_LINE_END = re.compile("\r\n?")
# Text may hold a few stray control codes, an old printer's or a log's; binary data holds many.
_CHARACTERS_PER_CONTROL = 1000


class Written(NamedTuple):
    """Text, and the encoding it was in where that could be declared otherwise; else empty."""

    text: str
    charset: str


def read(data: bytes, declared: str = "") -> Written | None:
    """The text in these bytes, None when they are binary.

    A byte order mark decides, else the encoding that is declared and known. Without either they
    are UTF-16 or ISO-2022-JP if they look it, else UTF-8. Where they are not valid as that, and
    most letters are beyond ASCII, they are in the encoding of another script that fits best; where
    letters of Polish stand within words, in one of Polish; else in Windows-1252. What has no
    meaning in a declared encoding becomes U+FFFD. Binary is what holds a NUL or more than one
    control code in a thousand characters. Line ends become line feeds, control codes U+FFFD;
    form feeds stay.
    """
    written, charset = _decoded(data, declared)
    written = _LINE_END.sub("\n", written)
    controls = sum(written.count(chr(code)) for code in NO_CHARACTERS)
    if "\0" in written or controls * _CHARACTERS_PER_CONTROL > len(written):
        return None
    return Written(written.translate(MADE_READABLE), charset)


def decode(data: bytes, declared: str = "") -> str | None:
    """The text alone."""
    written = read(data, declared)
    return written.text if written else None


def text(data: bytes, declared: str = "") -> str:
    """The same of bytes that are known to be text, with any number of control codes."""
    return _LINE_END.sub("\n", _decoded(data, declared).text).translate(MADE_READABLE)


def declared_in(content_type: str) -> str:
    """The encoding that a media type says, as Python names it; empty when it is none."""
    message = Message()
    message["Content-Type"] = content_type
    return _known(str(message.get_content_charset() or ""))


def _decoded(data: bytes, declared: str) -> Written:
    for mark, name in _MARKS:
        if data.startswith(mark):
            try:
                return Written(data[len(mark) :].decode(name), "")
            except UnicodeDecodeError as error:
                raise InvalidInput(
                    f"The text is marked as {name.upper()} and is not valid as that; save it anew "
                    "and send it again.",
                    reason="DAMAGED_FILE",
                ) from error
    name = _known(declared) or _utf_16(data) or _seven_bit(data)
    if not name:
        try:
            return Written(data.decode("utf-8"), "" if data.isascii() else "utf-8")
        except UnicodeDecodeError:
            name = _other_script(data) or _polish(data) or "cp1252"
    # Five bytes have no meaning in Windows-1252.
    written = data.decode(name, errors="replace")
    return Written(written, "" if data.isascii() else codecs.lookup(name).name)


def _known(declared: str) -> str:
    """Python's name of a declared encoding; empty when it is none that is known."""
    try:
        name = codecs.lookup(declared).name if declared else ""
    except (LookupError, ValueError):
        return ""
    return _MEANT.get(name, name) if _ENCODING.fullmatch(name) else ""


def _utf_16(data: bytes) -> str:
    """Which UTF-16 it is without its mark: every other byte of what is mostly ASCII is a NUL."""
    sample = data[:_SAMPLE_BYTES]
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    many = max(_FEW_NULS, _UTF_16_SHARE * len(sample) / 2)
    if len(data) % 2 == 0 and max(even, odd) > many and not min(even, odd):
        return "utf-16-le" if odd else "utf-16-be"
    return ""


def _seven_bit(data: bytes) -> str:
    return "iso2022_jp" if data.isascii() and _JAPANESE.search(data) else ""


def _other_script(data: bytes) -> str:
    """An encoding of another script than the Latin, when that is what most letters are."""
    sample = data[:_SAMPLE_BYTES]
    if len(_HIGH.findall(sample)) <= len(_ASCII_LETTERS.findall(sample)):
        return ""
    best = charset_normalizer.from_bytes(sample, cp_isolation=_OTHER_SCRIPTS).best()
    return best.encoding if best else ""


def _polish(data: bytes) -> str:
    sample = data[:_SAMPLE_BYTES]
    if len(_POLISH.findall(sample)) < _FEW_LETTERS:
        return ""
    return max(_OF_POLISH, key=lambda name: sum(map(sample.count, _OF_POLISH[name])))
