"""What a model is told: rules from a reviewed file, everything else framed as data."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from string import Template

from services.generation.drafter import Objection, Task, Turn

_OPENING = re.compile(r"<(?=<)")
_ZERO_WIDTH_SPACE = "\u200b"


@dataclass(frozen=True, slots=True)
class Request:
    """The two messages of a request, and the passage that each source id in them stands for."""

    system: str
    user: str
    passage_ids: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Prompt:
    """A version of the rules. The file's name is the version that every answer records."""

    version: str
    rules: Template

    def resolve(self, question: str, history: Sequence[Turn], boundary: str) -> Request:
        """The messages that ask for a question which stands alone."""
        frames = [
            *(_frame(f"turn_{index}", boundary, _turn(turn)) for index, turn in enumerate(history)),
            _frame("question", boundary, question),
        ]
        told = "\n\n".join([*frames, "Reword the question so that it stands alone."])
        return Request(self.rules.substitute(boundary=boundary), told, {})

    def request(self, task: Task, boundary: str) -> Request:
        """The messages for one task.

        Args:
            task: What is asked, from what.
            boundary: Marks where data begins and ends; drawn at random for each request, so that no
                document can have foreseen it.
        """
        sources = {f"src_{index}": passage for index, passage in enumerate(task.passages)}
        frames = [
            *(
                _frame(
                    name,
                    boundary,
                    passage.text,
                    file=passage.source_name,
                    under=" / ".join(passage.heading_path),
                )
                for name, passage in sources.items()
            ),
            *(
                _frame(f"turn_{index}", boundary, _turn(turn))
                for index, turn in enumerate(task.history)
            ),
            *(
                _frame(f"kept_{index}", boundary, statement.text)
                for index, statement in enumerate(task.kept)
            ),
            *(
                _frame(
                    f"objection_{index}",
                    boundary,
                    "\n".join(_objection(objection)),
                    attempt=str(objection.attempt or ""),
                )
                for index, objection in enumerate(task.objections)
            ),
            _frame("question", boundary, task.question),
        ]
        asked = "Draft the answer to the question from the sources."
        if task.kept:
            asked += " Draft only what is missing beside the kept statements."
        if task.objections:
            asked += (
                " Earlier statements were rejected: correct them as the objections say,"
                " or leave them out."
            )
        return Request(
            self.rules.substitute(boundary=boundary),
            "\n\n".join([*frames, asked]),
            {name: passage.id for name, passage in sources.items()},
        )


def load(version: str) -> Prompt:
    """The prompt `prompts/VERSION.md`."""
    file = resources.files(__package__) / "prompts" / f"{version}.md"
    return Prompt(version, Template(file.read_text("utf-8")))


def _frame(name: str, boundary: str, content: str, **labels: str) -> str:
    said = "".join(f' {key}="{_label(value)}"' for key, value in labels.items() if value)
    return f"<<{name} {boundary}{said}>>\n{_escape(content)}\n<<end {name} {boundary}>>"


def _escape(content: str) -> str:
    """Content in which no marker can begin; verification does not see zero-width spaces."""
    return _OPENING.sub(f"<{_ZERO_WIDTH_SPACE}", content)


def _label(value: str) -> str:
    return " ".join(value.replace('"', "'").replace("<", "(").replace(">", ")").split())


def _turn(turn: Turn) -> str:
    return f"Question: {turn.question}\nAnswer: {turn.answer}"


def _objection(objection: Objection) -> Iterator[str]:
    yield f"Rejected statement: {objection.statement.text}"
    for citation in objection.statement.citations:
        yield f"Its quote: {citation.quote}"
    for fault in objection.faults:
        yield f"{fault.code}: {fault.message}"
        if fault.closest_text:
            yield f"Closest words in the source: {fault.closest_text}"
