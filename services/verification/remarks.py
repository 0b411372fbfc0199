"""What a writer says of the text itself rather than of the world, which no source can carry."""

import re

from services.verification.phrases import any_of

_SOURCES = (
    r"(?:the |your |these |those )?(?:provided |given |available |supplied |above |attached )*"
    r"(?:documents?|sources?|texts?|passages?|context|information|facts|materials?)"
    r"(?: (?:provided|given|available|supplied|above))?"
)
_MORE = r"(?: anything| any)? (?:more|else|further)(?: information| details?)?"
_REMARK = re.compile(
    any_of(
        rf"""
        (?:based on|according to) {_SOURCES},? here(?:'s| is| are)\b[^.:]{{0,60}}
        {_SOURCES} do(?:es)? not (?:say|mention|contain|state|provide){_MORE}
        (?:i|we) (?:could|can|did) ?not find{_MORE}(?: in {_SOURCES})?
        as an ai(?: language)?(?: model| assistant)?, i (?:cannot|can't|do not) give [\w ]{{3,40}}
        (?:please )?consult (?:a|an|your) [\w ]{{3,40}}
        this is not (?:legal|financial|tax|medical|investment) advice
        """
    ),
    re.IGNORECASE,
)
_LEAD = re.compile(
    rf"\s*(?:based on|according to|as (?:stated|mentioned|described) in|per|from) {_SOURCES},\s+",
    re.IGNORECASE,
)
# A line in bold of a few words and no figure; a longer one may say something.
_BOLD_HEADING = re.compile(r"(?:\*\*|__)(?:[^\W\d_]+[ -]?){1,4}(?:\*\*|__):?")


def is_remark(sentence: str) -> bool:
    """Whether all of a sentence is about the text: how it came to be, or a heading in it."""
    bare = sentence.strip()
    return bool(_REMARK.fullmatch(bare.rstrip(" .!")) or _BOLD_HEADING.fullmatch(bare))


def without_lead(sentence: str) -> str:
    """The sentence with blanks for an opening such as "According to the documents,"."""
    found = _LEAD.match(sentence)
    return " " * found.end() + sentence[found.end() :] if found else sentence
