"""Another wording of a question to search for: its content words."""

import re

# What a question is asked with, and says nothing about.
_IDLE = frozenset(
    {
        "a", "about", "am", "an", "and", "any", "are", "as", "at", "be", "been", "being", "by",
        "can", "could", "did", "do", "does", "done", "else", "for", "from", "give", "had", "has",
        "have", "he", "her", "his", "how", "i", "if", "in", "into", "is", "it", "its", "list",
        "may", "me", "might", "my", "of", "on", "one", "or", "our", "please", "say", "says",
        "shall", "she", "should", "so", "some", "state", "tell", "than", "that", "the", "their",
        "them", "then", "there", "these", "they", "this", "those", "to", "under", "us", "was",
        "we", "were", "what", "when", "where", "whether", "which", "who", "whom", "whose", "why",
        "will", "with", "would", "you", "your",
    }
)  # fmt: skip
_WORD = re.compile(r"[^\W_]+(?:[-.,'’/&][^\W_]+)*%?")  # noqa: RUF001 - both apostrophes


def rewritten(question: str) -> str:
    """The content words in their order, each once; the question itself where there are none."""
    words = dict.fromkeys(word for word in _WORD.findall(question) if word.casefold() not in _IDLE)
    return " ".join(words) or question
