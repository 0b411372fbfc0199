"""The force that a text gives to its verbs: must, may, should.

In English, with the commonest verbs of German, French and Spanish.
"""

import re
from enum import StrEnum

from services.verification.phrases import compiled


class Modality(StrEnum):
    """What a clause makes of its verb."""

    OBLIGATION = "an obligation"
    PERMISSION = "a permission"
    PROHIBITION = "a prohibition"
    EXEMPTION = "an exemption"
    ADVICE = "advice"
    POSSIBILITY = "a possibility"


_BE = "(?:is|are|was|were|be|been|being)"
# In this order: what one cue has taken is no longer there for the next. "may" leaves open which of
# two it is; two forces agree when they have one in common.
CUES: tuple[tuple[frozenset[Modality], re.Pattern[str]], ...] = tuple(
    (frozenset(modalities), compiled(cue))
    for modalities, cue in (
        (
            {Modality.EXEMPTION},
            r"""
            (?:not|\w+n['’]t|never) (?:be )?(?:required|obliged|obligated|necessary|mandatory)
            needs? not | needn['’]t | (?:not|\w+n['’]t) (?:have|need) to | not (?:require|need)
            no (?:obligation|requirement|need) | exempt\w* | optional | without having to
            """,  # noqa: RUF001 - as it is printed - typographic apostrophes are meant
        ),
        (
            {Modality.PROHIBITION},
            r"""
            (?:must|shall|may|can|could) (?:not|never) | (?:must|may|ca|could)n['’]t | cannot
            (?:not|\w+n['’]t|never) (?:be )?(?:permitted|allowed|entitled|authori[sz]ed)
            prohibit\w* | forb[iaoe]d\w* | bann?ed | not free to
            (?:no(?! longer| later| more)|neither|nobody|none)(?: \w+){0,6}? (?:may|shall|can)
            (?:has|have) no right to | (?:darf|dürfen) nicht | ne (?:peut|peuvent)
            no (?:puede|pueden)
            """,  # noqa: RUF001 - as it is printed
        ),
        (
            {Modality.OBLIGATION},
            rf"""
            must | shall | requir\w+ | (?:has|have|had) to | needs? to
            oblig(?:e|es|ed|ing|ation|ations) | obligated | mandatory | compulsory | bound to
            {_BE} to be
            (?:has|have) a duty to
            muss | müssen | doit | doivent | debe | deben
            """,
        ),
        (
            {Modality.PERMISSION},
            rf"""
            permi(?:t|ts|tting|ssion|ssions|ssible) | allows?
            {_BE} (?:\w+ )?(?:permitted|allowed|authori[sz]ed) | entitled? | entitle(?:s|ment)
            (?:right|option|power|discretion) to | free to | at liberty to | open to
            (?:can|may) (?:choose|elect|opt) to | discretion
            darf | dürfen | peut | peuvent | puede | pueden
            """,
        ),
        (
            {Modality.PERMISSION, Modality.POSSIBILITY},
            "(?-i:may) | (?-i:May)(?= (?:be|not)\\b) | can | kann | können",
        ),
        (
            {Modality.ADVICE},
            "should | ought to | recommend\\w* | advis(?:e|es|ed|able) | encourag\\w+ | sollte\\w*",
        ),
        (
            {Modality.POSSIBILITY},
            "might | could | possib(?:le|ly|ility) | potential\\w* | likely | perhaps",
        ),
    )
)
# What a bound is called says that it must be kept.
_BOUND = compiled(
    "minimum | maximum | limit | cap | ceiling | floor | quorum | deadline | at (?:least|most)"
)


def modalities(text: str) -> frozenset[Modality]:
    """The forces that a text speaks of; more than one where it may be read as either."""
    found: set[Modality] = set()
    for forces, cue in CUES:
        if cue.search(text):
            found |= forces
            text = cue.sub(" ", text)
    return frozenset(found)


def is_bound(text: str) -> bool:
    """Whether a text names a bound, which obliges without a "must"."""
    return _BOUND.search(text) is not None
