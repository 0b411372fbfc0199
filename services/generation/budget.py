"""What of a task fits a model's context: whole passages, the most relevant ones."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from services.generation.drafter import Objection, Passage, Statement, Task, Turn

# A token is at least this many bytes of UTF-8 in the common tokenizers, but for lists of odd words.
_BYTES_PER_TOKEN = 3
_FRAME_TOKENS = 60
# What history and objections may take of the context; the rest is for sources.
_HISTORY_SHARE = 8
_OBJECTIONS_SHARE = 4
_One = TypeVar("_One")


@dataclass(frozen=True, slots=True)
class Fitted:
    """A task that fits, and the ids of the passages that it lost, the least relevant first."""

    task: Task
    dropped: tuple[str, ...] = ()


def tokens(text: str) -> int:
    """About how many tokens a text has; rather too many than too few."""
    return math.ceil(len(text.encode(errors="replace")) / _BYTES_PER_TOKEN)


def fitted(task: Task, room: int) -> Fitted:
    """The task, made to fit.

    Args:
        task: What would be asked.
        room: Tokens for all of it.
    """
    history = _newest(task.history, room // _HISTORY_SHARE, _turn)
    objections = _newest(task.objections, room // _OBJECTIONS_SHARE, _objection)
    spent = _framed(task.question) + sum(map(_turn, history)) + sum(map(_objection, objections))
    spent += sum(map(_statement, task.kept))
    passages = list(_distinct(task.passages))
    by_relevance = sorted(passages, key=lambda passage: -passage.score)
    spent += sum(map(_passage, passages))
    dropped = []
    while by_relevance and spent > room:
        least = by_relevance.pop()
        spent -= _passage(least)
        dropped.append(least.id)
    left = tuple(passage for passage in passages if passage.id not in dropped)
    return Fitted(
        replace(task, passages=left, history=history, objections=objections), tuple(dropped)
    )


def _newest(items: Sequence[_One], room: int, size: Callable[[_One], int]) -> tuple[_One, ...]:
    """The last of them that fit, in their order."""
    kept: list[_One] = []
    for item in reversed(items):
        room -= size(item)
        if room < 0:
            break
        kept.append(item)
    return tuple(reversed(kept))


def _distinct(passages: Sequence[Passage]) -> Iterator[Passage]:
    known: set[str] = set()
    for passage in passages:
        if passage.id not in known:
            known.add(passage.id)
            yield passage


def _framed(*texts: str) -> int:
    return _FRAME_TOKENS + sum(map(tokens, texts))


def _passage(passage: Passage) -> int:
    return _framed(passage.text, passage.source_name, *passage.heading_path)


def _turn(turn: Turn) -> int:
    return _framed(turn.question, turn.answer)


def _statement(statement: Statement) -> int:
    return _framed(statement.text)


def _objection(objection: Objection) -> int:
    said = [objection.statement.text]
    said += [cited.quote for cited in objection.statement.citations]
    for fault in objection.faults:
        said += [fault.code, fault.message, fault.closest_text]
    return _framed(*said)
