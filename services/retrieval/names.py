"""Which words of a query name a document: "3M's FY2022 10-K" is 3M_2022_10K.pdf.

Files are named for whose they are and of what year, which their passages rarely repeat.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from services.retrieval.folding import folded

_PIECE = re.compile(r"[^\W_]+")
_YEAR = re.compile(r"[a-z]*((?:19|20)\d\d)")
_MIN_DIGITS = len("2022")
_SUFFIX = re.compile(r"\.[a-z0-9]{1,5}$")


def name_terms(source_name: str) -> list[str]:
    """What a document is named by: the pieces of its file's name, each once."""
    pieces = _pieces(_SUFFIX.sub("", _plain(source_name)))
    return list(dict.fromkeys(filter(_says_something, pieces)))


def terms_that_may_name(query: str) -> list[str]:
    """The query's words, and each two neighbouring ones as one, as file names write them."""
    pieces = list(_pieces(_plain(query)))
    joined = (one + other for one, other in pairwise(pieces))
    return list(dict.fromkeys(filter(_says_something, [*pieces, *joined])))


def _pieces(plain: str) -> Iterator[str]:
    for match in _PIECE.finditer(plain):
        yield match[0]
        # "FY2022" and "2023Q2" are of a year.
        if (year := _YEAR.match(match[0])) and year[1] != match[0]:
            yield year[1]


def _says_something(term: str) -> bool:
    return len(term) > 1 and not (term.isdigit() and len(term) < _MIN_DIGITS)


def _plain(text: str) -> str:
    # A genitive is no part of a name.
    return folded(text).replace("\u2019", "'").replace("'s ", " ").replace("'", "")
