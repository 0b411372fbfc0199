"""Which languages a text may be in, as far as its little words and its script tell."""

# ruff: noqa: RUF001 - the words of other scripts are meant

import re
from collections import Counter
from functools import lru_cache

# The words that stand in almost every sentence of a language and rarely in one of another.
LITTLE_WORDS = {
    "en": "the of and to in is are that for shall be by with as or on any this which may must from"
    " not has was were it if an at no all each",
    "de": "der die das und ist nicht den dem des ein eine einer mit für auf von zu wird im sich"
    " oder bei zum zur durch nach kann darf muss werden sind wenn sofern kein keine",
    "fr": "le la les des et est une un du dans qui que par pour au aux sur ne pas il elle ce se ou"
    " peut doit sont avec sans si sauf",
    "es": "el la los las de y que en por del se una un con para al no es su o podrá deberá será"
    " sin si salvo",
    "it": "il lo la di che e del della dei per una un non è con i gli le si al nel alla da o può"
    " deve se salvo",
    "pt": "o a os as de que e do da em um uma não para com no na dos das é ao ou pode deve por se"
    " sem salvo",
    "nl": "de het een en van is dat op te voor met niet zijn door aan of kan mag moet wordt worden"
    " tenzij indien geen",
    "sv": "och att det som en är av för den på inte med till ett eller kan ska skall får om har",
    "da": "og at det som en er af for den på ikke med til et eller kan skal må hvis har av",
    "pl": "i w na z że się do nie jest o od za przez oraz lub może musi jeżeli chyba dla po",
    "cs": "a v na se že je do z o s nebo může musí není pokud pro k od po",
    "ro": "și de la în cu nu este pe din că sau poate trebuie dacă un o pentru",
    "tr": "ve bir bu ile için olarak veya da de değil her",
    "fi": "ja on ei että se tai voi jos ovat sen",
    "hu": "a az és hogy nem egy is vagy ha",
}
_LANGUAGES_OF: dict[str, list[str]] = {}
for _language, _words in LITTLE_WORDS.items():
    for _word in _words.split():
        _LANGUAGES_OF.setdefault(_word, []).append(_language)

# Those of the other scripts; the script itself tells the language.
LITTLE_WORDS_ELSEWHERE = {
    "cyrillic": "и в во на с со по о об от до за из к ко у для при что как это а но или же ли бы не"
    " ни то так его её их он она оно они і та з із зі у від до про що як це або та й е са да се от"
    " за по на при със което който није је су од у и да се са по или",
    "greek": "ο η το οι τα του της των τον την στο στη στον στην στα στις στους και ή με για από σε"
    " να θα που ότι ως κατά προς είναι αν ένα μια ένας δεν μη αυτό αυτή",
    "arabic": "من في على إلى عن مع أو و أن إن ما هو هي هذا هذه ذلك التي الذي كل قد كان بين ثم لا لم"
    " أي حتى عند بعد قبل",
    "hebrew": "של את על עם אל או גם כל זה זו הוא היא הם הן כי אם מן בין לפי לא אין אשר ש ב ל מ ה ו",
    "devanagari": "का की के को में से पर और या है हैं था थे थी कि यह वह इस उस ने भी तो ही एक न"
    " नहीं हो द्वारा लिए तथा व एवं आणि चे ची च हे आहे र को ले मा छ",
    "korean": "및 또는 그 이 저 등 수 것",
    "east asian": "的 了 和 与 與 及 或 在 是 之 于 於 等 其 此 而 且 为 為 以 将 將 不 の は が"
    " を に で と も や へ か な た る し て れ",
}
_LATIN_WORD = re.compile(r"[a-zà-žșț]+")
# Other scripts tell the language, or a family whose little words do not collide.
_SCRIPTS = {
    "cyrillic": re.compile("[\u0400-\u04ff]"),
    "greek": re.compile("[\u0370-\u03ff]"),
    "arabic": re.compile("[\u0600-\u06ff]"),
    "hebrew": re.compile("[\u0590-\u05ff]"),
    "devanagari": re.compile("[\u0900-\u097f]"),
    "korean": re.compile("[\uac00-\ud7a3]"),
    "japanese": re.compile("[\u3041-\u30ff]"),
    "chinese": re.compile("[\u3400-\u9fff]"),
}
_HAN = {"japanese", "chinese"}


@lru_cache(maxsize=2_000)
def languages(text: str) -> frozenset[str]:
    """The languages a text is most likely in; every one written in Latin where nothing tells."""
    found = {name for name, script in _SCRIPTS.items() if script.search(text)}
    if found >= _HAN:
        found.remove("chinese")
    latin = _LATIN_WORD.findall(text.lower())
    if not latin:
        return frozenset(found)
    hits = Counter(language for word in latin for language in _LANGUAGES_OF.get(word, ()))
    most = max(hits.values(), default=0)
    if most:
        found |= {language for language, count in hits.items() if count == most}
    elif not found:
        found |= LITTLE_WORDS.keys()
    return frozenset(found)
