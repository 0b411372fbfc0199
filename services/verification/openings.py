"""What may open a statement, or a sentence, and says nothing of what follows.

A statement may name the document that it cites; a sentence, how it follows on the one before it.
"""

import re

from services.verification.phrases import any_of

_CONNECTIVES = any_of(
    r"""
    However | Nevertheless | Nonetheless | Therefore | Thus | Hence | Accordingly | Consequently
    As a result | For this reason | Moreover | Furthermore | In addition | Additionally | Besides
    Also | Likewise | Similarly | Indeed | In particular | Finally | Lastly
    Außerdem | Ferner | Zudem | Schließlich | Darüber hinaus | Des Weiteren
    Toutefois | Cependant | Néanmoins | En outre | De plus | Par conséquent | Enfin | En particulier
    Además | Asimismo | Por tanto | Por lo tanto | Por consiguiente | En consecuencia | Finalmente
    Tuttavia | Inoltre | Pertanto | Perciò | Di conseguenza | Infine | In particolare
    Contudo | Todavia | Além disso | Portanto | Consequentemente | Por conseguinte | Por fim
    Bovendien | Daarnaast | Voorts | Ten slotte | Tot slot
    Ponadto | Jednakże | Zatem | Wreszcie
    """
)
# The mark of a list's item, and a connective between it and a comma.
_IDLE = re.compile(
    rf"\s*(?:\(?(?:[a-z]|[ivx]{{1,4}}|\d{{1,2}})[.)]\s+)?(?:{_CONNECTIVES}\s?,)?", re.IGNORECASE
)
_NEUTRAL = frozenset({"document", "source", "text", "passage", "file", "excerpt"})
_KINDS = frozenset(
    {"policy", "agreement", "contract", "report", "manual", "handbook", "standard", "guideline"}
    | {"guidelines", "circular", "letter", "note", "schedule", "regulation", "directive", "act"}
    | {"code", "rules", "rulebook", "minutes", "transcript", "prospectus", "procedure"}
)
# A document with one of these in its name is not what the rest of its name says.
_NOT_YET = frozenset(
    {
        "draft",
        "proposal",
        "proposed",
        "comment",
        "comments",
        "summary",
        "review",
        "old",
        "withdrawn",
    }
    | {"superseded", "template", "specimen", "response", "reply", "objection", "on", "about", "re"}
)
_OPENING = re.compile(
    r"\s*(?:(?:according to|as (?:stated|set out|provided) in|under|per) (?P<named>[^,:;]{3,80}),"
    r"|(?P<telling>[^,:;]{3,80}?) (?:states|says|provides|specifies|stipulates|reads)"
    r"(?: that\b|:))\s",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"(?:(?:section|article|clause|rule) (?P<section>\d[\w.()]*)(?: of (?=the|this|our)|\Z))?"
    r"(?:(?:the|this|our) (?P<document>[^\W_][\w '&-]*))?",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"\W*(?:(?:section|article|clause|rule)\s+(?P<word>\d[\w.()]*)|(?P<bare>\d+(?:\.\d+)+))",
    re.IGNORECASE,
)


def idle(sentence: str) -> int:
    """Where a sentence begins behind the mark of an item and a connective with its comma."""
    found = _IDLE.match(sentence)
    return found.end() if found else 0


def label(sentence: str) -> str:
    """The number of a section that a sentence begins with; empty where it begins with none."""
    found = _LABEL.match(sentence)
    return (found["word"] or found["bare"]).rstrip(".") if found else ""


def attribution(statement: str, source_name: str, section: str) -> int:
    """Where a statement begins behind "According to the policy," or "Section 4.2 states that".

    0 where it has no such opening, or one that names something else than what it cites.

    Args:
        statement: What is stated.
        source_name: The name of the document that it cites.
        section: The number of the section in which the cited sentence stands; empty: none.
    """
    found = _OPENING.match(statement)
    named = _NAMED.fullmatch(found["named"] or found["telling"]) if found else None
    if not found or not named:
        return 0
    is_there = named["section"] in {None, section} and (
        not named["document"] or _is_named(named["document"], source_name)
    )
    return found.end() if is_there else 0


def _is_named(document: str, source_name: str) -> bool:
    """Whether that is how a document of this name would be called."""
    called = document.casefold().split()
    words = [word for word in called if not word.isdigit()]
    if words in [[one] for one in _NEUTRAL]:
        return len(words) == len(called)
    name = re.findall(r"[^\W_]+", source_name.rpartition(".")[0].casefold())
    kinds = [word for word in name if word in _KINDS]
    letters = [word for word in name if word.isalpha()]
    if len(kinds) != 1 or letters[-1:] != kinds or _NOT_YET & set(name):
        return False
    return words[-1:] == kinds and set(called) <= set(name)
