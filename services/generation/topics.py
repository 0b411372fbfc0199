"""Whether a text names a topic and asks for nothing in particular of it."""

import re

from services.generation.terms import KINDS_OF_ANSWER

# Words of which each question holds one, by language, and those that open a request.
_ASKING = {
    "en": "who whom whose what when where which why how know is are was were am do does did has"
    " have had can could will would shall should may might must",
    "de": "wer wen wem wessen was wann wo wohin woher wie warum weshalb wieso welche welcher"
    " welches welchen welchem wieviel",
    "fr": "qui que quoi quand où comment pourquoi quel quelle quels quelles combien",
    "es": "qué quién quiénes cuándo dónde cómo cuál cuáles cuánto cuánta cuántos cuántas",
    "it": "chi cosa quando dove perché quale quali quanto quanta quanti quante",
    "pt": "quem onde qual quais",
    "nl": "wie wat wanneer waar hoe waarom welk hoeveel",
    "pl": "kto co kiedy gdzie jak dlaczego który która które ile czy",
}
_REQUESTS = (
    "calculate|compare|define|describe|differentiate|discuss|explain|find|give|identify|list|name"
    "|outline|quote|show|state|summari[sz]e|tell"
)
# Of a script in which none of these words is written nothing can be told.
_ASKS = re.compile(
    rf"[?\u061f\uff1f]|\b(?:{'|'.join(' '.join(_ASKING.values()).split())})\b"
    rf"|^\W*(?:please )?(?:{_REQUESTS})\b"
    rf"|^\W*(?:(?:the|\d+) )?(?:{'|'.join(KINDS_OF_ANSWER)})\b"
    r"|[\u0370-\u1fff\u3040-\ud7ff]",
    re.IGNORECASE,
)


def is_topic(text: str) -> bool:
    """Whether it has neither a question's mark or words, nor a request, nor a thing that is wanted.

    "Fees of the custody agreement" is one; "percentage of the equity" says what is wanted.
    """
    return _ASKS.search(text) is None
