"""Numbers of sections in one form, however they are printed: "Article 48(1)", "SEC_4.2", "§ 5"."""

import re

from services.retrieval.folding import folded

# What may stand before a section's number.
LABEL = (
    r"sections?|secs\.|sec\.?|articles?|arts\.|art\.?|clauses?|cl|rules?|items?|paragraphs?|para\.?"
    r"|guidance|§§?|artikel|abschnitt|artículos?|articol[oi]|(?:[وفبك]?ال|لل)?ماد[ةه]"
)
_LABELLED = re.compile(rf"(?:{LABEL})[\s\u00a0_]*(?=[0-9])")
_STEP = re.compile(r"[0-9]+[a-z]?|[a-z]+")


def section_keys(section_id: str) -> tuple[str, ...]:
    """The keys under which a section is found: its own, then those of the sections it is in.

    "14.2.3.Guidance.10" is found by itself, and as a part of 14.2.3, of 14.2 and of 14.
    """
    steps = _STEP.findall(_LABELLED.sub("", folded(section_id).strip(), count=1))
    return tuple(".".join(steps[:count]) for count in range(len(steps), 0, -1))
