"""What is struck out in Markdown: "~~5~~6%" says 6%."""

import re
from collections.abc import Iterable, Iterator, Sequence

MARK = re.compile(
    r"(?<![~\\])(?P<tildes>~~)(?!~)|<(?P<end>/?)(?P<tag>del|s|strike)\b[^<>]{0,200}>"
    r"|(?P<code>`+)",
    re.IGNORECASE,
)
_CELL = re.compile(r"(?:\\.|[^|\n\\])+")
_BLOCKS = {"paragraph_open", "heading_open", "html_block"}


def left_out(text: str, blocks: Iterable[tuple[str, int, int]]) -> str:
    """The text without what is struck out by tildes or a tag; in code they are what they are.

    Args:
        text: All of it.
        blocks: Its blocks in order, each as markdown-it names it, with its start and end.
    """
    kept: list[str] = []
    done = 0
    for kind, block_start, block_end in blocks:
        for start, end in _spans_in(text, kind, block_start, block_end):
            kept.append(text[done:start])
            done = end
    return "".join([*kept, text[done:]])


def _spans_in(text: str, kind: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    if kind == "table_open":
        for cell in _CELL.finditer(text, start, end):
            yield from _spans(text, *cell.span())
    elif kind in _BLOCKS:
        yield from _spans(text, start, end, has_tildes=kind != "html_block")


def _spans(
    text: str, start: int, end: int, *, has_tildes: bool = True
) -> Iterator[tuple[int, int]]:
    opened: dict[str, int] = {}
    for mark in _outside_code(list(MARK.finditer(text, start, end))):
        if mark["tildes"]:
            opens = has_tildes and not text[mark.end() : mark.end() + 1].isspace()
            closes = not text[mark.start() - 1 : mark.start()].isspace()
        else:
            opens, closes = not mark["end"], bool(mark["end"])
        kind = mark["tildes"] or mark["tag"].lower()
        if closes and kind in opened:
            yield opened[kind], mark.end()
            opened.clear()
        elif opens:
            opened[kind] = mark.start()


def _outside_code(marks: Sequence[re.Match[str]]) -> Iterator[re.Match[str]]:
    """Marks but for those between two rows of as many backticks."""
    last = {mark["code"]: number for number, mark in enumerate(marks)}
    code = ""
    for number, mark in enumerate(marks):
        if code:
            code = "" if mark["code"] == code else code
        elif not mark["code"]:
            yield mark
        elif last[mark["code"]] > number:
            code = mark["code"]
