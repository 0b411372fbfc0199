"""Names and acronyms of a statement that its source does not know."""

from collections.abc import Iterator, Sequence

from services.verification.words import STOPWORDS, Word, words

MIN_ACRONYM = 2
MAX_ACRONYM = 6


def missing(statement: str, sources: Sequence[str]) -> Iterator[Word]:
    """The capitalized words of a statement, but for the one that only opens it, that no source has.

    An acronym stands for the words whose initials it is made of, and they for it.
    """
    ours = words(statement)
    theirs = [words(source) for source in sources]
    known = {word.stem for source in theirs for word in source}
    initials = {i for source in theirs for i in _initials(source)}
    spelt_out = {w.text for source in theirs for w in source if _is_acronym(w)}
    expanded = {
        word.span for run in _runs(ours) if _initial_letters(run) in spelt_out for word in run
    }
    for index, word in enumerate(ours):
        if word.stem in known or word.span in expanded or not _is_name(statement, ours, index):
            continue
        if not (_is_acronym(word) and word.text.rstrip("s") in initials):
            yield word


def _is_name(text: str, ours: Sequence[Word], index: int) -> bool:
    word = ours[index]
    if (
        not word.text[0].isupper()
        or word.text.lower() in STOPWORDS
        or any(c.isdigit() for c in word.text)
    ):
        return False
    opens = index == 0 or text[ours[index - 1].span.end : word.span.start].strip(
        " \n\"“”'‘’()"
    ) in {".", ":", "!", "?", "*", "-"}
    if not opens or _is_acronym(word):
        return True
    following = ours[index + 1] if index + 1 < len(ours) else None
    return (
        following is not None
        and following.text[0].isupper()
        and following.text.lower() not in STOPWORDS
        and not _is_acronym(following)
    )


def _is_acronym(word: Word) -> bool:
    return word.text.rstrip("s").isupper() and MIN_ACRONYM <= len(word.text) <= MAX_ACRONYM


def _initials(source: Sequence[Word]) -> Iterator[str]:
    letters = "".join(word.text[0] for word in source).upper()
    for length in range(MIN_ACRONYM, MAX_ACRONYM + 1):
        for start in range(len(letters) - length + 1):
            yield letters[start : start + length]


def _runs(ours: Sequence[Word]) -> Iterator[list[Word]]:
    """Runs of capitalized words."""
    run: list[Word] = []
    for word in ours:
        if word.text[0].isupper():
            run.append(word)
        else:
            yield run
            run = []
    yield run


def _initial_letters(run: Sequence[Word]) -> str:
    return "".join(word.text[0] for word in run if word.text.lower() not in STOPWORDS)
