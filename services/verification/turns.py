"""Words that turn or bind what stands beside them, by language.

A language's words count only in a sentence of that language: "se" is "if" in Italian and "itself"
in Spanish, "mai" is "never" in Italian and "May" in French.
"""

# ruff: noqa: RUF001 - the words of other scripts are meant

import re
from dataclasses import dataclass
from functools import lru_cache

from services.verification.phrases import any_of, compiled, whole


@dataclass(frozen=True, slots=True)
class Turns:
    """Each is a list of phrases for `phrases.any_of`.

    Attributes:
        negations: What says that something is not so.
        rejections: What says that somebody else says so.
        exceptions: What takes something out.
        conditions: What lets something hold only sometimes.
        nothing: Phrases that hold one of these words and turn nothing.
    """

    negations: str
    rejections: str
    exceptions: str
    conditions: str
    nothing: str = ""


TURNS = {
    "en": Turns(
        r"""not | no | never | neither | nor | none | nobody | nothing | without | cannot
        \w+n['’]t | hardly | scarcely | barely | rarely | seldom""",
        r"""(?:fail(?:s|ed|ing)?|failure) to | refus(?:e|es|ed|ing) to
        den(?:y|ies|ied|ying)(?: that)? | prohibit\w* | forbid\w* | forbade | bann?ed | false
        untrue | incorrect | doubt\w* | unlikely | impossible | instead of | rather than
        (?:reject|disput|refut|contest|disprov)(?:s|e|es|ed|ing) (?:the|any|this|that|an?)
        contrary to | alleged(?:ly)? | purported(?:ly)? | reputedly
        (?:alleg|claim|contend|argu|assert|speculat|suspect)(?:s|e|es|ed|ing)? that""",
        r"""unless | except(?:ing|ed)?(?: for| that| where| when| if| as| to)? | excluding
        save(?: for| that| where| as| to| in) | notwithstanding | other than | but for | apart from
        with the exception of""",
        r"""only (?:if|when|where|after|with|upon|once|to the extent|insofar|in so far|on|by) | if
        (?:always |further )?provided,?(?: however,?| always,?| further,?)? that | provided(?=,)
        (?<=,\s)provided | providing that | on (?:the )?condition that | in the event (?:that|of)
        in case(?: of)? | subject to | as long as | so long as | contingent (?:up)?on
        conditional (?:up)?on | assuming(?: that)? | to the extent | insofar as | in so far as
        (?:with|upon|on|at) the (?:consent|approval|permission|instructions?|request) of
        (?:with|upon) (?:[\w'’-]+ ){0,5}?(?:prior|written) (?:written )?(?:consent|approval)""",
        r"""not (?:only|just|merely|least) | no\.\s?\d | no doubt | not exceeding
        (?:no|not) (?:later|more|less|fewer|earlier|longer|greater|higher|lower) than
        without (?:prejudice|limitation|limiting|delay|undue delay) | whether or not
        even if | as if | if (?:any|applicable|appropriate)(?=[,;.)])""",
    ),
    "de": Turns(
        r"""nicht | kein\w{0,2} | nie | niemals | ohne | weder | nichts
        keinesfalls | keineswegs""",
        r"""bestreite\w* | bestritt\w* | leugne\w* | verneint\w* | unwahr | falsch | unzutreffend
        unrichtig | untersagt | verboten""",
        r"""es sei denn | außer | ausgenommen | mit Ausnahme | abgesehen von | vorbehaltlich
        ausschließlich""",
        r"""wenn | falls | sofern | soweit | vorausgesetzt | unter der (?:Bedingung|Voraussetzung)
        nur (?:wenn|mit|nach|bei) | im Falle? | solange""",
        r"""nicht nur | nicht (?:weniger|später|länger|früher) als | auch wenn | selbst wenn""",
    ),
    "fr": Turns(
        r"""ne | n['’](?=\w) | pas | jamais | aucune? | sans | ni | non(?![-‐‑]) | nul(?:le)?
        rien""",
        r"""ni(?:e|er|ait|ent|é)(?: que)? | conteste\w* | réfut\w+ | dément\w* | faux | fausse
        inexacte? | interdi\w+""",
        r"""sauf(?: si| que)? | excepté | hormis | à moins (?:que|de) | à l['’]exception
        à l['’]exclusion | nonobstant""",
        r"""à (?:la )?condition (?:que|de) | si | s['’]ils? | pourvu que | sous réserve | en cas de
        dans la mesure où | seulement si | uniquement""",
        r"non seulement | sans préjudice | sans délai | même si",
    ),
    "es": Turns(
        r"""no | nunca | jamás | ningun[oa]s? | ningún | sin | ni | nada | nadie | tampoco""",
        r"""nieg\w+ | negó | negaron | negar | falso | incierto | prohib\w+ | prohíb\w+
        desmint\w+ | desmient\w+""",
        r"""salvo(?: que| si)? | excepto | a menos que | (?:con|a) excepción de | exceptuando""",
        r"""si | siempre que | siempre y cuando | a condición de | en caso de | con tal de
        sujet[oa] a | s[óo]lo si | únicamente | en la medida""",
        r"no s[óo]lo | sin perjuicio | sin demora | no (?:más|menos) de | aun si",
    ),
    "it": Turns(
        r"""non(?![-‐‑]) | mai | senza | né | nessun\w* | niente | nulla | neanche""",
        r"""neg(?:a|ano|ato|ava|ò|are) | smenti\w+ | falso | viet\w+""",
        r"""salvo(?: che)? | eccetto | tranne | fatta eccezione | a meno che | ad eccezione
        ad esclusione | con l['’]eccezione""",
        r"""se | qualora | purché | a condizione che | in caso di | soltanto se | solo se
        subordinat\w+ a\w* | nella misura in cui""",
        r"non solo | non (?:più|meno) di | non oltre | anche se | senza (?:pregiudizio|indugio)",
    ),
    "pt": Turns(
        r"""não | nunca | jamais | nenhum\w* | sem | nem | nada | ninguém""",
        r"""neg(?:a|ou|am|aram|ado) | falso | proib\w+ | vedad\w+ | desment\w+""",
        r"""salvo(?: se)? | exceto | a menos que | (?:com|à) exceção | ressalvad\w+""",
        r"""(?<=,\s)se | (?-i:Se) | caso | desde que | sob (?:a )?condição | contanto que
        sujeit[oa] a | em caso de | somente se | apenas se""",
        r"não só | não apenas | sem prejuízo | não (?:mais|menos) de",
    ),
    "nl": Turns(
        r"""niet | geen | nooit | zonder | noch | niemand | niets""",
        r"""ontken\w* | betwist\w* | onjuist | verboden""",
        r"""tenzij | behalve | uitgezonderd | behoudens | met uitzondering""",
        r"""indien | mits | (?<=,\s)als | (?-i:Als) | op voorwaarde | alleen (?:als|indien|met)
        in geval van | voor zover""",
        r"niet alleen | niet (?:meer|minder|later) dan | onverminderd",
    ),
    "sv": Turns(
        r"""inte | ej | aldrig | ingen | inget | inga | utan | varken | icke""",
        r"""förnek\w* | bestr[ei]d\w* | förbjud\w* | förbjöd""",
        r"""utom | såvida inte | med undantag | förutom""",
        r"""(?<=,\s)om | (?-i:Om) | förutsatt att | under förutsättning | ifall | endast om
        i den mån""",
        r"inte bara | inte endast | inte (?:mer|mindre) än",
    ),
    "da": Turns(
        r"""ikke | ej | aldrig? | ingen | intet | ut?den | uten | hverken | verken""",
        r"""benægt\w* | benekt\w* | nekt\w* | bestrid\w* | forbud\w*""",
        r"""medmindre | med mindre | unntatt | undtagen | bortset fra
        med (?:unntak|undtagelse)""",
        r"""hvis | dersom | såfremt | forudsat | forutsatt | (?:kun|bare) hvis | på betingelse""",
        r"ikke (?:kun|bare) | ikke (?:mere|mer|mindre) end?",
    ),
    "pl": Turns(
        r"""nie | nigdy | bez | ani | żad\w+""",
        r"""zaprzecz\w+ | nieprawd\w* | zakaz\w*""",
        r"""chyba że | z wyjątkiem | oprócz | o ile nie | z zastrzeżeniem | z wyłączeniem""",
        r"""jeżeli | jeśli | pod warunkiem | o ile | w przypadku | tylko (?:jeśli|gdy|za)""",
        r"nie tylko | nie (?:więcej|mniej|później) niż",
    ),
    "cs": Turns(
        r"""není | nejsou | nesm\w+ | nemá | nebude | nelze | nemůže | nikdy | bez
        ani | žádn\w+""",
        r"""popřel\w* | popír\w* | zakáz\w+""",
        r"""ledaže | s výjimkou | kromě | vyjma""",
        r"""pokud | jestliže | za podmínky | v případě | jen (?:když|pokud)""",
        r"nejen",
    ),
    "ro": Turns(
        r"""nu | niciodată | fără | nici | niciun\w* | nicio""",
        r"""neg(?:ă|at|a) | interzi\w+ | fals""",
        r"""cu excepția | exceptând | decât dacă""",
        r"""dacă | cu condiția | în cazul | sub rezerva | numai dacă""",
        r"nu numai | nu doar",
    ),
    "tr": Turns(
        r"""değil\w* | asla | hiçbir | olmadan | yok\w* | ne
        \w+(?:maz|mez|mazlar|mezler|mamış|memiş|madı|medi|mayacak|meyecek)\w*""",
        r"""redd\w+ | inkâr | yasak\w*""",
        r"""hariç | dışında | müddetçe | sürece""",
        r"""eğer | halinde | hâlinde | şartıyla | koşuluyla | takdirde | kaydıyla""",
    ),
    "fi": Turns("ei | eivät | ilman", "kiist\\w+", "paitsi | ellei", "jos | mikäli | edellyttäen"),
    "hu": Turns("nem | nincs | soha | nélkül | sem | ne", "tagad\\w*", "kivéve", "ha | amennyiben"),
    # Russian, Ukrainian, Bulgarian, Serbian.
    "cyrillic": Turns(
        r"""не | ни | нет | без | никогда | нельзя | ничего | никто | никак\w+ | ні | ніколи
        немає | жодн\w+ | няма | нема | нити | никой | нищо""",
        r"""отриц\w+ | отрич\w+ | опроверг\w+ | запереч\w+ | неверно | неправда | невірно | ложн\w+
        запрещ\w+ | заборон\w+ | забран\w+ | пориче | порекао | негира\w* | отказ\w+ся""",
        r"""кроме | за исключением | если (?:только )?не | исключая | окрім | крім | за винятком
        освен | с изключение | осим | изузев | за изузетком""",
        r"""если | при условии | в случае | только (?:если|при|с|после|когда) | при наличии | якщо
        за умови | у разі | лише (?:якщо|за|з) | ако | при условие | в случай | само ако
        под условом | уколико | в той мере""",
        r"""не только | не лише | не тільки | не само | не (?:более|менее|позднее|позже|ранее) чем?
        не (?:более|менее|позднее|позже|ранее|больше|меньше)""",
    ),
    "greek": Turns(
        r"""δεν | δε | μη | μην | όχι | χωρίς | ούτε | κανείς | κανέν\w+ | καμία | ποτέ | ουδέποτε
        ουδείς | ουδεμία | άνευ | μήτε""",
        r"""αρνήθηκ\w+ | αρνείται | αρνούνται | αρνούμενο\w* | διαψεύ\w+ | ψευδ\w+ | απαγορεύ\w+
        αναληθ\w+""",
        r"""εκτός | πλην | εξαιρουμέν\w+ | με εξαίρεση | εξαιρέσει | παρά μόνο""",
        r"""εάν | αν | εφόσον | υπό την (?:προϋπόθεση|αίρεση|επιφύλαξη) | υπό τον όρο
        με την (?:προϋπόθεση|επιφύλαξη) | σε περίπτωση | μόνο (?:εάν|αν|με|όταν|κατόπιν|εφόσον)
        στον βαθμό""",
        r"όχι μόνο | ακόμη και αν",
    ),
    # Both languages join "and", "so" and the like to the word that follows.
    "arabic": Turns(
        r"""[وف]?(?:لا|لم|لن|ليس|ليست|ليسوا|غير|بدون|دون|بلا) | [ولب]{0,2}عدم | [وب]?أل?لا
        [وب]?ألّا""",
        r"""[وف]?(?:نفى|نفت|نفوا|نفي|ينفي|تنفي|أنكر|أنكرت|ينكر|تنكر|إنكار|رفض|رفضت|يرفض)
        [وف]?(?:يحظر|محظور|يمنع|ممنوع) | كاذب\w*""",
        r"""[وف]?(?:إلا|باستثناء|عدا|سوى) | ما عدا | ما لم | فيما عدا""",
        r"""[وف]?(?:إذا|لو|بشرط|شريطة|متى|طالما|رهنا) | شرط أن | في حالة? | ما دام | في حال
        فقط (?:إذا|عند|بعد)""",
        r"لا سيما | لا [يت](?:قل|زيد|تجاوز) | ليس فقط | حتى لو",
    ),
    "hebrew": Turns(
        r"""(?:ו|ש|כש|וש|ה)?(?:לא|אין|אינו|אינה|אינם|אינן|איננו|איננה|ללא|בלי|בלתי|מבלי)
        אל (?=ת) | מעולם | לבל""",
        r"""(?:ו|ש)?(?:הכחיש\w*|מכחיש\w*|הכחישה|כפר|כפרה|שלל|שללה) | שקר | שגוי\w* | אסור\w*
        נאסר\w*""",
        r"""(?:ו|ש)?(?:אלא|למעט|זולת|להוציא) | פרט ל\w* | חוץ מ\w*""",
        r"""(?:ו|ש)?(?:אם|ובלבד|בלבד ש\w*|בתנאי|בכפוף|במקרה) | כל עוד | רק אם | בהינתן
        ובלבד\w* | ככל ש\w*""",
        r"לא רק | לא יאוחר | לא פחות | לא יותר | אם כי | גם אם",
    ),
    # Hindi, Marathi, Nepali.
    "devanagari": Turns(
        r"""नहीं | नहि | न | मत | बिना | नाही | नाहीत | नको | नये | छैन | होइन | हुँदैन""",
        r"""इनकार | इन्कार | खंडन | नकार | नकारा | झूठ | असत्य | गलत | निषिद्ध | वर्जित""",
        r"""सिवाय | छोड़कर | के अलावा | अपवाद | जब तक | वगळता | बाहेक | अन्यथा""",
        r"""यदि | अगर | बशर्ते | शर्त | तभी | के अधीन | जर | भने | की दशा में | की स्थिति में""",
        r"न केवल | न सिर्फ",
    ),
}

# Written without spaces, or, as Korean, with endings for words: found wherever they stand.
NEGATIONS_EAST_ASIAN = {
    "chinese": "不|没|沒|未|无|無|非|勿|别|別|莫|毋|禁止|严禁|嚴禁|否认|否認|拒绝|拒絕|驳斥|虚假",
    "japanese": "な[いくかけ]|ません|ませぬ|ず(?:に|、)|ざる|禁止|禁じ|否認|否定|虚偽",
    "korean": "않|아니|못하|못한|못했|없|말아야|금지|부인|거부|거짓",
}
BINDINGS_EAST_ASIAN = {
    "chinese": "除非|除外|以外|除了?|例外|如果|倘若|假如|若|如(?=[^下上实期同何])|只要|只有|仅当"
    "|僅當|仅在|情况下|情況下|情形下|前提|条件|條件|为限|為限",
    "japanese": "場合|限り|を除|但し|ただし|もし|ときは|れば|ならば|条件",
    "korean": "경우|제외|는 한|[으하다라되오르]면|조건|외에는|단, |다만",
}
NOTHING_EAST_ASIAN = {
    # "Not only", "real estate", "regardless", "not less than", "future", "very" and their like.
    "chinese": "不仅|不僅|不但|不只|不断|不斷|不同|不动产|不動產|"
    "[不未](?:少|低|高|多|超|晚|迟|遲|早)[于於过過]|未来|未來|非常|非洲|无论|無論|无形资产|没收|沒收|若干|例如|别人|别墅|区别|分别|级别|特别|特別|個別|个别"
    "|莫斯科|无锡|除名|扣除|解除|免除|消除|清除|排除|删除|付款条件|贷款条件|工作条件",
    # "Must" is made of two negations.
    "japanese": "なければなら(?:ない|ず)|なければなりません|なくてはなら(?:ない|ず)"
    "|ねばなら(?:ない|ず)|だけで(?:は)?なく|少なく|労働条件|取引条件",
    "korean": "뿐만 아니라|뿐 아니라|근로조건|거래조건",
}

# Words that hold their negation: what is left out of a quote may hold none of them either.
NEGATED_WORD = compiled(
    r"""
    non[-‐‑]\w+ | un(?!der|til|io|it|iq|iv|animous)[a-z]{4,}
    (?:in|im|ir|il|dis)(?:valid|eligib|sufficien|accura|complete|correct|adequate|legal|possib)\w*
    (?:in|im|ir|il|dis)(?:appropr|applic|effectiv|admissib|proper|relevan|qualif|allow|approv)\w*
    """
)

NEGATION = compiled("\n".join(turns.negations for turns in TURNS.values()))


@lru_cache(maxsize=200)
def turning(languages: frozenset[str]) -> re.Pattern[str]:
    """Any word of these languages that turns or binds."""
    return _pattern(languages, "negations", "rejections", "exceptions", "conditions")


@lru_cache(maxsize=200)
def binding(languages: frozenset[str]) -> re.Pattern[str]:
    """An exception or a condition."""
    return _pattern(languages, "exceptions", "conditions")


@lru_cache(maxsize=200)
def negating(languages: frozenset[str]) -> re.Pattern[str]:
    return _pattern(languages, "negations")


@lru_cache(maxsize=200)
def turning_nothing(languages: frozenset[str]) -> re.Pattern[str]:
    return _pattern(languages, "nothing")


def _pattern(languages: frozenset[str], *kinds: str) -> re.Pattern[str]:
    """Spaced words whole, and those of East Asia wherever they stand; blank for no language."""
    known = sorted(languages & TURNS.keys())
    spaced = "\n".join(getattr(TURNS[name], kind) for name in known for kind in kinds).strip()
    patterns = [whole(any_of(spaced))] if spaced else []
    tables = {
        "negations": NEGATIONS_EAST_ASIAN,
        "conditions": BINDINGS_EAST_ASIAN,
        "nothing": NOTHING_EAST_ASIAN,
    }
    for kind in kinds:
        table = tables.get(kind, {})
        patterns += [table[name] for name in sorted(languages & table.keys())]
    return re.compile("|".join(patterns) or r"(?!)", re.IGNORECASE)
