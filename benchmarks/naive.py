"""A naive pipeline: retrieve, one prompt, trust the citations, and ask the same model YES or NO.

The model is played. Its draft is the first of the script. As the verifier it is shown the statement
and the first 600 characters of what was retrieved, as many such pipelines cut it, and says YES when
it finds most of the statement's words there: what models that are asked so tend to go by. What it
says NO to is dropped; where nothing is left, or the model finds no answer, there is none.
"""

import re

from benchmarks.drafts import Row

SHOWN_CHARS = 600
YES = 0.5
_WORD = re.compile(r"\w+")


def answered(row: Row) -> list[str]:
    """The statements that are released."""
    shown = "\n".join(passage.text for passage in row.passages)[:SHOWN_CHARS]
    return [said.text for said in row.drafts[0] if said.citations and _says_yes(said.text, shown)]


def _says_yes(statement: str, shown: str) -> bool:
    said, there = _words(statement), _words(shown)
    return bool(said) and len(said & there) >= YES * len(said)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))
