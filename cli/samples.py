"""The sample corpus and the three questions that show what Verity does with it."""

from pathlib import Path

from cli import manifest
from cli.errors import CliError
from cli.upload import File

# Beside the code in a checkout; a wheel does not carry it.
CORPUS = Path(__file__).parents[1] / "samples" / "corpus.yaml"
_ESCALATION = (
    "The corporate applicant has a UBO with 30% equity, but their proof of funds is not notarized. "
    "What is the compliance action?"
)
QUESTIONS = (
    _ESCALATION,
    "What was TechCorp's Q3 2024 revenue and year-over-year growth rate?",
    "What is the penalty for late filing of form 8832?",
)


def files(corpus: Path = CORPUS) -> list[File]:
    """The documents of the corpus with what is said of each."""
    if not corpus.is_file():
        raise CliError(
            f"The sample corpus {corpus} cannot be read: No such file or directory.",
            hint="It comes with a checkout of the repository.",
        )
    return manifest.read(corpus)
