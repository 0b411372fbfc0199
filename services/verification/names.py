"""Names, acronyms and parties of a statement that its source does not know; English only."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from services.verification.roles import role
from services.verification.words import STOPWORDS, Word, stems, words

# In a longer text, which of its parties a statement replaces cannot be told.
MAX_WORDS = 200
MIN_ACRONYM = 2
MAX_ACRONYM = 6
_OPENERS = frozenset(".:!?*-\n")
# The stems of international non-proprietary names: medicines are named without a capital.
_MEDICINE = re.compile(
    r"\w{2,20}(?:gliptin|gliflozin|glutide|formin|statin|mab|nib|pril|sartan|olol|dipine|azole|cillin"
    r"|mycin|floxacin|cycline|vir|oxetine|azepam|azolam|profen|triptan|tidine|parin|xaban|setron"
    r"|lukast|semide|thiazide|barbital|caine|dronate|asone|olone|platin|taxel|rubicin)",
    re.IGNORECASE,
)
# They open a sentence without an article, as a name does, and name nobody.
_MASS = stems(
    """
    revenue income profit turnover interest staff growth trade debt cash output demand supply
    equity inflation unemployment management research evidence capital credit cost price access
    payment treatment surgery therapy data information software hardware equipment labour labor
    insurance compliance consent notice approval proof work production traffic water energy oil
    gas electricity food half everyone nobody anyone sales earnings net gross total overall
    headcount ebitda performance guidance risk liquidity leverage spending investment goodwill
    """
)
_VERBS = frozenset(
    {"is", "was", "are", "were", "has", "had", "must", "shall", "may", "will", "reported", "holds"}
)


def missing(statement: str, sources: Sequence[str]) -> Iterator[Word]:
    """The names in a statement that no source has.

    An acronym stands for the words whose initials it is made of, and they for it.
    """
    ours = words(statement)
    theirs = [word for source in sources for word in words(source)]
    known = {word.stem for word in theirs}
    initials = "".join(word.text[0] for word in theirs).upper()
    acronyms = {word.text for word in theirs if _is_acronym(word)}
    spelt_out = {w.span for run in _runs(ours) if _initials(run) in acronyms for w in run}
    unnamed = any(_is_mixed(w) and w.stem not in {o.stem for o in ours} for w in theirs)
    for index, word in enumerate(ours):
        if word.stem in known or word.span in spelt_out:
            continue
        if _is_acronym(word) and word.text.rstrip("s") in initials:
            continue
        if (
            _is_name(statement, ours, index)
            or (unnamed and _is_subject(ours, index))
            or _MEDICINE.fullmatch(word.text)
            or _is_other_opener(ours, theirs, index)
        ):
            yield word
    if len(theirs) <= MAX_WORDS:
        yield from _other_parties(ours, theirs)


def _other_parties(ours: Sequence[Word], theirs: Sequence[Word]) -> Iterator[Word]:
    """A party that the source does not know, where one that it knows is gone."""
    mine, known = ({role(word) for word in side} - {""} for side in (ours, theirs))
    if known - mine:
        yield from (word for word in ours if role(word) in mine - known)


def _is_other_opener(ours: Sequence[Word], theirs: Sequence[Word], index: int) -> bool:
    """Whether a word stands as a name before a verb before which the source has another name."""
    if index or len(ours) < len(("name", "verb")) or not _is_alone(ours[0]):
        return False
    verb = ours[1]
    return verb.text.islower() and any(
        following.stem == verb.stem and _is_alone(word) and word.stem not in {o.stem for o in ours}
        for word, following in pairwise(theirs)
    )


def _is_alone(word: Word) -> bool:
    """Whether a word with a capital can be a name of one word: no plural, no noun of a mass."""
    text = word.text
    return (
        _is_capitalized(word)
        and word.stem not in _MASS
        and (text.endswith(("'s", "’s")) or not text.endswith(("ing", "ion", "s", "ment", "ity")))  # noqa: RUF001 - as it is printed
        and not text.endswith("ly")
    )


def _is_name(text: str, ours: Sequence[Word], index: int) -> bool:
    word = ours[index]
    if not _is_capitalized(word):
        return False
    if not _opens(text, ours, index) or _is_acronym(word) or _is_mixed(word):
        return True
    following = ours[index + 1] if index + 1 < len(ours) else None
    if following is None or text[word.span.end : following.span.start] != " ":
        return False
    return _is_capitalized(following) and not _is_acronym(following)


def _is_subject(ours: Sequence[Word], index: int) -> bool:
    """Whether a word that opens a sentence reads as a name: one word, no article, then its verb."""
    return (
        index == 0
        and len(ours) > 1
        and _is_capitalized(ours[0])
        and (ours[1].text.lower() in _VERBS or ours[0].text.endswith(("'s", "’s")))  # noqa: RUF001 - as it is printed
        and not ours[0].text.endswith(("ing", "ion", "s", "ment", "ity"))
    )


def _opens(text: str, ours: Sequence[Word], index: int) -> bool:
    """Whether a word opens a sentence, where any word has a capital."""
    if index == 0:
        return True
    between = text[ours[index - 1].span.end : ours[index].span.start]
    return any(char in _OPENERS for char in between.replace(" - ", ""))


def _is_capitalized(word: Word) -> bool:
    return (
        word.text[0].isupper()
        and len(word.text) > 1
        and word.text.lower() not in STOPWORDS
        and not any(char.isdigit() for char in word.text)
    )


def _is_acronym(word: Word) -> bool:
    return word.text.rstrip("s").isupper() and MIN_ACRONYM <= len(word.text) <= MAX_ACRONYM


def _is_mixed(word: Word) -> bool:
    """A capital inside a word, as in TechCorp, which only a name has."""
    return any(c.isupper() for c in word.text[1:]) and any(c.islower() for c in word.text)


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


def _initials(run: Sequence[Word]) -> str:
    return "".join(word.text[0] for word in run if word.text.lower() not in STOPWORDS)
