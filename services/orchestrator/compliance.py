"""Whether something complies: only where both the facts and the rules are cited."""

from collections.abc import Iterable, Mapping, Sequence

from verity.v1 import core_pb2 as core
from verity.v1 import grounding_service_pb2 as grounding

Gap = grounding.ComplianceGap

# The corpora that a passage is from, by its id.
Corpora = Mapping[str, frozenset[int]]

_DECIDED = (core.COMPLIANCE_COMPLIANT, core.COMPLIANCE_NON_COMPLIANT)
# Types of documents that say what must be, by language, as a type is written: small letters, no
# accents. Any other type that is stated says what is the case; a document without a type says
# neither.
_RULE_TYPES = {
    "en": "act code directive guideline law manual policy procedure regulation rule"
    " rulebook standard statute acts codes directives guidelines laws manuals policies"
    " procedures regulations rules rulebooks standards statutes",
    "de": "anweisung arbeitsanweisung dienstanweisung gesetz gesetzbuch handbuch leitlinie"
    " leitlinien norm regel regeln regelwerk richtlinie richtlinien"
    " verfahrensanweisung verordnung vorschrift vorschriften",
    "fr": "consigne consignes decret directive ligne-directrice lignes-directrices loi lois"
    " manuel norme normes politique politiques procedure procedures regle regles"
    " reglement reglementation reglements",
    "es": "codigo directiva directrices directriz ley leyes manual norma normas normativa"
    " politica politicas procedimiento procedimientos regla reglas reglamento"
    " reglamentos",
    "it": "codice direttiva direttive legge leggi linea-guida linee-guida manuale norma"
    " norme normativa politica politiche procedura procedure regola regolamento"
    " regolamenti regole",
    "pt": "codigo diretiva diretivas diretriz diretrizes lei leis manual norma normas"
    " normativa politica politicas procedimento procedimentos regra regras regulamento"
    " regulamentos",
    "nl": "beleid beleidsregel beleidsregels gedragscode handboek norm procedure procedures"
    " regel regelgeving regels reglement richtlijn richtlijnen verordening voorschrift"
    " voorschriften wet wetboek wetten",
    "pl": "dyrektywa kodeks norma podrecznik polityka procedura procedury przepis przepisy"
    " regulamin regulaminy rozporzadzenie standard ustawa wytyczna wytyczne zasada"
    " zasady",
}
RULE_TYPES = frozenset(" ".join(_RULE_TYPES.values()).split())
_LACKING = {
    Gap.CORPUS_FACTS: "No statement of the answer cites what is the case.",
    Gap.CORPUS_RULES: "No statement of the answer cites a rule that applies.",
    Gap.CORPUS_JUDGEMENT: "The judgement rests on a draft of which a part could not be verified.",
}
_NO_JUDGEMENT = "The facts and the rules that are cited do not decide it."


def by_type(passages: Iterable[core.Passage]) -> dict[str, frozenset[int]]:
    """What each passage speaks of, by the type of its document."""
    return {
        passage.id: frozenset({Gap.CORPUS_RULES if kind in RULE_TYPES else Gap.CORPUS_FACTS})
        if (kind := passage.document_type.strip().casefold())
        else frozenset()
        for passage in passages
    }


def judged(
    judgement: core.Compliance,
    said: Sequence[core.VerifiedStatement],
    corpora: Corpora,
    *,
    whole: bool,
) -> tuple[core.Compliance, list[Gap]]:
    """What may be said of compliance, and what is lacking where that is UNKNOWN.

    Args:
        judgement: The drafter's.
        said: The answer.
        corpora: Where its passages are from.
        whole: Nothing of what the judgement rests on was dropped.
    """
    if judgement == core.COMPLIANCE_UNSPECIFIED:
        return judgement, []
    cited = {citation.passage_id for statement in said for citation in statement.citations}
    covered = frozenset().union(*(corpora.get(id_, frozenset()) for id_ in cited))
    lacking = [one for one in (Gap.CORPUS_FACTS, Gap.CORPUS_RULES) if one not in covered]
    gaps = [Gap(corpus=one, message=_LACKING[one]) for one in lacking]
    if not whole:
        gaps.append(Gap(corpus=Gap.CORPUS_JUDGEMENT, message=_LACKING[Gap.CORPUS_JUDGEMENT]))
    elif judgement not in _DECIDED and not gaps:
        gaps.append(Gap(corpus=Gap.CORPUS_JUDGEMENT, message=_NO_JUDGEMENT))
    return (core.COMPLIANCE_UNKNOWN if gaps else judgement), gaps
