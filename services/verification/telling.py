"""Who says, believes, wants or is told something, which does not make it so; by language."""

# ruff: noqa: RUF001 - typographic apostrophes are meant

import re
from functools import lru_cache

from services.verification.phrases import any_of, whole
from services.verification.turns import negating

_TELLING = {
    "en": r"""
    say | says | said | state | states | stated | tell | tells | told | answer | answers | reply
    respond | write | output | print | repeat | confirm | claim\w* | alleg\w+ | argu\w+
    announce\w* | believ\w+ | think\w* | thought | suppos\w+ | assum\w+ | expect\w*
    hop(?:e|es|ed|ing) | fear\w* | suspect\w* | consider\w* | propos\w+ | recommend\w*
    suggest\w* | request\w* | ask | asks | asked | demand\w* | reject\w* | refus\w+
    den(?:y|ies|ied) | doubt\w* | plan | plans | planned | intend\w* | want\w* | wish\w* | mark
    treat | pretend | ignore | disregard | forget | fail\w* | attempt\w* | according to
    in the (?:opinion|view|words|eyes|judgement) of | rumou?r\w*
    in (?:his|her|its|their|my|our|[\w’' -]{1,40}['’]s?) (?:own )?(?:opinion|view|words|eyes)
    point of view | as [\w’' ]{1,40} sees? it | purported\w*
    """,
    "de": r"""
    sag\w+ | erkl[äa]r\w+ | behaupt\w+ | mein(?:t|te|en|ten) | glaub\w+ | denk\w+ | dachte\w*
    erwart\w+ | hoff\w+ | befürcht\w+ | vermut\w+ | nimmt an | annimmt | angenommen
    angeblich\w* | mutmaßlich\w* | vorgeschlag\w+ | schlägt | vorschlägt | empfiehlt
    empfehl\w+ | empfohlen\w* | verlang\w+ | forder\w+ | bestätig\w+ | antwort\w+ | schreib\w+
    schrieb\w* | teilt\w* | mitgeteilt | abgelehnt\w* | lehnt\w* | bezweifel\w+ | zweifel\w+
    plan(?:t|te|en|ten) | geplant\w* | beabsichtig\w+ | wünsch\w+ | bitte\w* | gebeten | bat
    laut | zufolge | so (?:der|die|das|eine?|Herr|Frau)
    nach (?:Angaben?|Ansicht|Meinung|Auskunft|Aussagen?) | ignorier\w+ | soll(?:en|te|ten)?
    """,
    "fr": r"""
    di(?:t|re|sent|sait|saient|tes|s) | dis(?:ant|e) | affirm\w+ | déclar\w+ | prétend\w*
    soutien\w+ | soutenu\w* | soutenait | croi\w+ | pens\w+ | suppos\w+ | estim\w+ | esp[éè]r\w+
    crain\w+ | soupçonn\w+ | propos\w+ | recommand\w+ | sugg[éè]r\w+ | demand\w+ | exig\w+
    rejet\w+ | refus\w+ | dout\w+ | répond\w* | écri\w+ | confirm\w+ | annonc\w+ | prévoi\w+
    souhait\w+ | veu(?:t|lent) | selon | d['’]après | aux dires | de l['’]avis | à en croire
    ignor\w+
    """,
    "es": r"""
    dic(?:e|en|ho|iendo) | dij(?:o|eron) | decir | diga\w* | afirm\w+ | declar\w+ | aleg\w+
    sostien\w+ | sostuv\w+ | cre(?:e|en|ía|ían|yó|er) | piens\w+ | pens\w+ | supon\w+
    supuest\w+ | presunt\w+ | espera\w* | tem(?:e|en|ía) | sospech\w+ | propon\w+ | propuest\w+
    propuso | recomiend\w+ | recomend\w+ | sugier\w+ | pid(?:e|en|ió) | solicit\w+ | exig\w+
    rechaz\w+ | dud\w+ | respond\w+ | escrib\w+ | confirm\w+ | anunci\w+ | prev[eé]\w*
    quier\w+ | dese\w+ | según | a juicio del? | en opinión del? | en palabras de | ignor\w+
    """,
    "it": r"""
    dic(?:e|ono|eva|evano) | disse(?:ro)? | detto | dire | afferm\w+ | dichiar\w+ | sostien\w+
    sosten\w+ | cred(?:e|ono|eva|evano|ere) | pens\w+ | suppon\w+ | presunt\w+ | asserit\w+
    ritien\w+ | riten\w+ | sper\w+ | tem(?:e|ono|eva) | sospett\w+ | propon\w+ | propost\w+
    raccomand\w+ | sugger\w+ | chied\w+ | chiest\w+ | esig\w+ | respin\w+ | rifiut\w+ | dubit\w+
    rispond\w+ | scriv\w+ | conferm\w+ | annunci\w+ | prev(?:ede|edono|isto) | vuole | vogliono
    desider\w+ | (?<!il )(?<!nel )(?<!del )(?<!al )secondo | a detta | a parere | a giudizio
    stando a\w* | ignor\w+
    """,
    "pt": r"""
    diz(?:em|er|ia|iam)? | disse(?:ram)? | dito | afirm\w+ | declar\w+ | aleg\w+ | sustent\w+
    acredit\w+ | pens\w+ | sup[õo]\w+ | suposta?\w* | presum\w+ | espera\w* | tem(?:e|em|ia)
    receia\w* | suspeit\w+ | prop[õo]\w+ | propost\w+ | recomend\w+ | suger\w+
    ped(?:e|em|iu|iram|ido) | solicit\w+ | exig\w+ | rejeit\w+ | recus\w+ | duvid\w+
    respond\w+ | escrev\w+ | confirm\w+ | anunci\w+ | prev(?:ê|eem|ista?) | quer | querem
    desej\w+ | (?<!o )segundo | na opinião | no entender | nas palavras
    de acordo com o (?:cliente|requerente) | ignor\w+
    """,
    "nl": r"""
    zeg(?:t|gen)? | zei(?:den)? | gezegd | verklaar\w* | verklaard\w* | beweer\w* | beweerd\w*
    stel(?:t|len|de) | gelo(?:of|oft|ven|ofde) | den(?:k|kt|ken) | dacht\w* | meen(?:t|de)?
    menen | vermoed\w* | veronderstel\w* | verwacht\w* | hoop(?:t|te)? | hopen | vrees\w*
    vrezen | voorgesteld\w* | aanbev\w+ | vraagt | vroeg | vragen | eis(?:t|en|te) | verwerp\w*
    verworpen | weiger\w* | betwijfel\w* | antwoord\w* | schrijf\w* | schreef | bevestig\w*
    kondig\w+ | van plan | wil | willen | wens\w* | volgens | aldus
    naar (?:mening|oordeel|zeggen) | vermeend\w* | negeer\w*
    """,
    "pl": r"""
    mówi\w* | powiedzia\w+ | twierdz\w+ | oświadcz\w+ | uważa\w* | sądz[iąe]\w* | myśl\w+
    wierz[yą]\w* | przypuszcza\w* | zakłada\w* | spodziewa\w* | oczekuj\w+ | obawia\w*
    podejrzewa\w* | proponuj\w+ | zaproponowa\w+ | zaleca\w* | sugeruj\w+ | żąda\w* | prosi\w*
    odrzuci\w+ | odrzuca\w* | odmawia\w* | wątpi\w* | odpowi\w+ | pisz\w+ | napisa\w+
    potwierdz\w+ | ogłosi\w+ | planuj\w+ | zamierza\w* | chc[eą]\w* | rzekom\w+ | domniema\w+
    według | zdaniem | w opinii | w ocenie | ignoruj\w*
    """,
}
# Whose words they would be: '"text": "', "Assistant:". A document's own sentence has no speaker.
_SPEAKER = re.compile(
    r"\b(?:system|user|human|assistant|model|ai|verifier|verdict|answer|output|response|statements?"
    r"|text)\W{0,3}:",
    re.IGNORECASE,
)
# At the edge of an insertion they tell, or doubt: ", the analyst maintains," or "(unaudited)".
_INSERTED = any_of(
    r"""
    assert(?:s|ed) | contend(?:s|ed) | maintain(?:s|ed) | insist(?:s|ed) | report(?:s|ed)
    warn(?:s|ed) | note[sd] | add(?:s|ed) | writes | wrote | explain(?:s|ed) | declare[sd]
    admit(?:s|ted) | estimate[sd] | predict(?:s|ed) | conclude[sd] | acknowledge[sd]
    remark(?:s|ed) | comment(?:s|ed) | observe[sd] | reportedly | apparently | presumably
    seemingly | it seems | per the | per an? | it appears | unaudited | unverified | unconfirmed
    provisional(?:ly)? | preliminary | disputed | contested
    (?:own )?(?:statement|account|words|version) | so (?:it is|they|he|she)
    """
)
_EDGE = re.compile(
    rf"\A\W*{whole(_INSERTED)}|{whole(_INSERTED)}\W*\Z",
    re.IGNORECASE,
)
# What begins a clause that says another thing, of which it alone tells; "and so they say" does not.
_AND = {
    "en": "and | while | whereas",
    "de": "und | während",
    "fr": "et | tandis que",
    "es": "y | mientras",
    "it": "e | ed | mentre",
    "pt": "e | enquanto",
    "nl": "en | terwijl",
    "pl": "i | oraz | natomiast",
}
_CONCEDES = re.compile(
    r"\A\W*(?:(?:though|although|albeit|even if|if|yet|wenn auch|bien que|aunque|embora"
    r"|zij het)\b)?",
    re.IGNORECASE,
)
_SET_APART = re.compile(r"[,;:](?=\s)|[.!?](?=\s+[A-Z])|[()\u2013\u2014]")
_NOT_AND = r"(?!\s+(?:so|wie|comme|opinión|palabras|come|como|zo|tak|jak)\b)"


def tells(text: str, spoken: frozenset[str]) -> bool:
    """Whether somebody says, thinks, wants or is told something in a text of these languages."""
    return _pattern(spoken).search(text) is not None or _SPEAKER.search(text) is not None


def is_attribution(left: str, spoken: frozenset[str]) -> bool:
    """Whether words that are left out say or doubt, behind a comma or in brackets, what is not.

    Args:
        left: From where they are set apart; "and the company expects growth" says another thing.
        spoken: The languages of the sentence.
    """
    begins = 0
    for edge in [*_SET_APART.finditer(left), None]:
        stretch = left[begins : edge.start() if edge else len(left)]
        if _new_clause(spoken).match(stretch):
            return False
        if tells(stretch, spoken) or _EDGE.search(stretch) or _takes_back(stretch, spoken):
            return True
        begins = edge.end() if edge else begins
    return False


def _takes_back(stretch: str, spoken: frozenset[str]) -> bool:
    """Whether it begins with a negation: "not in full", "though never signed"."""
    bare = _CONCEDES.sub("", stretch).lstrip()
    return negating(spoken).match(bare) is not None


@lru_cache(maxsize=200)
def _pattern(spoken: frozenset[str]) -> re.Pattern[str]:
    # English is always among them: an order to a model is, in whatever document it stands.
    known = sorted(spoken & _TELLING.keys() | {"en"})
    return re.compile(whole(any_of("\n".join(_TELLING[name] for name in known))), re.IGNORECASE)


@lru_cache(maxsize=200)
def _new_clause(spoken: frozenset[str]) -> re.Pattern[str]:
    joins = any_of("\n".join(_AND[name] for name in sorted(spoken & _AND.keys())) or "and")
    return re.compile(rf"\s*{whole(joins)}{_NOT_AND}", re.IGNORECASE)
