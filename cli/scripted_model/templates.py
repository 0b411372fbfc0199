"""Placeholders of a scripted draft, filled from what the request shows.

`{src_0}` is a source's id, `{src_0 text}` its text, `{src_0 sentence 2}` a sentence of it;
`{sentence with "WORDS"}` and `{source with "WORDS"}` are the first sentence that holds the words
and the id of its source, `{source named "FILE"}` the id of a source by its file's name;
`{best sentence}` and `{best source}` answer the question best; `{closest}` and `{rejected}` are of
the first objection; `{question}` is the question. Each may be followed by
`| replace "a" "b"`, `| words 2-5` and `| lower`.
"""

import re
from collections.abc import Callable

from cli.scripted_model.shown import Shown

_PLACEHOLDER = re.compile(r'\{((?:"[^"]*"|[^{}"])+)\}')
_PART = re.compile(r'(?:"[^"]*"|[^|"])+')
_TEXT = re.compile(r"(src_\d+)(?: (?:(text)|sentence (\d+)))?")
_WITH = re.compile(r'(sentence|source) with "([^"]*)"')
_NAMED = re.compile(r'source named "([^"]*)"')
_REPLACE = re.compile(r'replace "([^"]*)" "([^"]*)"')
_WORDS = re.compile(r"words (\d+)-(\d+)")


class NotShown(Exception):
    """The request does not show what a placeholder stands for."""


def fill(template: str, shown: Shown) -> str:
    """The text with its placeholders filled.

    Raises:
        NotShown: One of them stands for nothing here.
        ValueError: One of them says nothing that is known.
    """
    return _PLACEHOLDER.sub(lambda found: _value(found[1], shown), template)


def _value(expression: str, shown: Shown) -> str:
    select, *filters = (part.strip() for part in _PART.findall(expression))
    value = _selected(select, shown)
    for one in filters:
        value = _filtered(one, value)
    return value


def _selected(select: str, shown: Shown) -> str:
    plain: dict[str, Callable[[], str]] = {
        "question": lambda: shown.question,
        "closest": lambda: shown.objections[0].closest,
        "rejected": lambda: shown.objections[0].rejected,
        "best sentence": lambda: _found(shown.best())[1],
        "best source": lambda: _found(shown.best())[0],
    }
    if select in plain:
        if select in {"closest", "rejected"} and not shown.objections:
            raise NotShown(select)
        return plain[select]()
    if match := _WITH.fullmatch(select):
        source, sentence = _found(shown.sentence_with(match[2]))
        return sentence if match[1] == "sentence" else source
    if match := _NAMED.fullmatch(select):
        named = (source.id for source in shown.sources if match[1] in source.file)
        return _some(next(named, ""), select)
    if match := _TEXT.fullmatch(select):
        return _of_source(match, shown)
    raise ValueError(f"{{{select}}} is no placeholder; see docs/models.md.")


def _of_source(match: re.Match[str], shown: Shown) -> str:
    sources = {source.id: source for source in shown.sources}
    if match[1] not in sources:
        raise NotShown(match[1])
    source = sources[match[1]]
    if match[2]:
        return source.text
    if not match[3]:
        return source.id
    number = int(match[3])
    if not 1 <= number <= len(source.sentences):
        raise NotShown(match[0])
    return source.sentences[number - 1]


def _filtered(one: str, value: str) -> str:
    if one == "lower":
        return value.lower()
    if match := _REPLACE.fullmatch(one):
        if match[1] not in value:
            raise NotShown(match[1])
        return value.replace(match[1], match[2])
    if match := _WORDS.fullmatch(one):
        words = list(re.finditer(r"\S+", value))[int(match[1]) - 1 : int(match[2])]
        return value[words[0].start() : words[-1].end()] if words else _some("", one)
    raise ValueError(f"| {one} is no filter; see docs/models.md.")


def _found(found: tuple[object, str] | None) -> tuple[str, str]:
    if found is None:
        raise NotShown("nothing answers")
    source, sentence = found
    return str(getattr(source, "id", "")), sentence


def _some(value: str, what: str) -> str:
    if not value:
        raise NotShown(what)
    return value
