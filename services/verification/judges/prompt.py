"""What a model is told that judges: rules from a reviewed file, everything else framed as data."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from string import Template

from services.verification.source import Cited

_OPENING = re.compile(r"<(?=<)")
_ZERO_WIDTH_SPACE = "\u200b"


@dataclass(frozen=True, slots=True)
class Prompt:
    """A version of the rules. The file's name is the version that every verdict records."""

    version: str
    rules: Template

    def system(self, boundary: str) -> str:
        return self.rules.substitute(boundary=boundary)

    def user(self, statement: str, cited: Sequence[Cited], boundary: str) -> str:
        """One statement and the sentences it cites, whole.

        Args:
            statement: What is to be judged.
            cited: The words it rests on.
            boundary: Marks where data begins and ends; drawn at random for each request, so that no
                document can have foreseen it.
        """
        sentences = {one.around.key: one.around.text for one in cited}
        return "\n\n".join(
            (
                _frame("source", boundary, "\n".join(sentences.values())),
                _frame("statement", boundary, statement),
                "Does the statement follow from the source?",
            )
        )


def load(version: str) -> Prompt:
    """The prompt `prompts/VERSION.md`."""
    file = resources.files(__package__) / "prompts" / f"{version}.md"
    return Prompt(version, Template(file.read_text("utf-8")))


def _frame(name: str, boundary: str, content: str) -> str:
    return f"<<{name} {boundary}>>\n{_escape(content)}\n<<end {name} {boundary}>>"


def _escape(content: str) -> str:
    """Content in which no marker can begin, and which can be sent at all."""
    whole = content.encode("utf-8", "replace").decode()  # A lone surrogate is no text.
    return _OPENING.sub(f"<{_ZERO_WIDTH_SPACE}", whole)
