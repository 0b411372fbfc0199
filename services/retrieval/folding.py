"""Text as it is compared: in lower case, of one width, its digits ASCII, without soft hyphens."""

import re
import unicodedata

# Scripts that put no space between words, and Korean, which glues particles to them.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\U00020000-\U000323af"
)
_OTHER_DIGIT = re.compile(r"(?![0-9])\d")
# A word broken at the end of a line, as columns of print have it.
LINE_HYPHEN = r"[-\u2010][^\S\n]*\n[^\S\n]*"


def folded(text: str) -> str:
    """Comparable with other folded texts, and of another length than the text."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKC", text).casefold().replace("\N{SOFT HYPHEN}", "")
    return with_ascii_digits(plain)


def with_ascii_digits(text: str) -> str:
    """The same with every decimal digit as 0 to 9, whatever script it is of."""
    return _OTHER_DIGIT.sub(lambda match: str(unicodedata.decimal(match[0])), text)
