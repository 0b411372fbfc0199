"""A spreadsheet's numbers as its cells show them, where the format is one of the usual kinds."""

import re
from datetime import datetime, timedelta
from math import isfinite

# The formats that files name by number alone, in English.
BUILT_IN = {
    1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00",
    # What these look like depends on the reader's country: dates are written as ISO has them.
    14: "yyyy-mm-dd", 22: "yyyy-mm-dd hh:mm",
    15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM",
    20: "h:mm", 21: "h:mm:ss", 37: "#,##0;(#,##0)", 38: "#,##0;(#,##0)",
    39: "#,##0.00;(#,##0.00)", 40: "#,##0.00;(#,##0.00)", 41: "#,##0;(#,##0);-",
    42: "$#,##0;($#,##0);-", 43: "#,##0.00;(#,##0.00);-", 44: "$#,##0.00;($#,##0.00);-",
    45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0",
}  # fmt: skip

_PART = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|_.|\*.|\[\$(?P<currency>[^\]-]*)[^\]]*\]'
    r"|(?P<elapsed>\[[hms]+\])|\[[^\]]*\]"
    r"|(?P<date>AM/PM|A/P|[yY]+|[mM]+|[dD]+|[hH]+|[sS]+(?:\.0+)?)"
    r"|(?P<digits>[#0?](?:[#0?,]*[#0?])?,*(?:\.[#0?]*)?,*(?:E[+-]0+)?|\.[#0?]+)"
    r"|(?P<other>.)",
    re.DOTALL,
)
_PLAIN = {"", "General", "GENERAL", "general", "@"}
_SECTION_END = re.compile(r'"[^"]*"|\\.|_.|\*.|\[[^\]]*\]|(?P<end>;)', re.DOTALL)
_CONDITION = re.compile(r"\[[<>=]")
_FRACTION = re.compile(r"[#0?]\s*/\s*[#0-9?]")
# Digits that words part, with decimals at the end at most.
_PLACES = re.compile(r"(?:[#0?]+ )+[#0?]+(?:\.[#0?]*)?")
_WORDS = {"mmm": "%b", "mmmm": "%B", "mmmmm": "%b", "ddd": "%a", "dddd": "%A"}
# Beyond this, floats skip whole numbers.
_EXACT = 1e15
_MOST_DAYS = 2_958_465


def displayed(number: float, code: str, *, since_1904: bool = False) -> str:
    """The number in a format such as "#,##0.00" or "d mmm yyyy"; plain in one that is unusual."""
    if not isfinite(number) or code in _PLAIN or _CONDITION.search(code) or _FRACTION.search(code):
        return plain(number)
    sections = _sections(code)
    section, to_show = sections[0], number
    if number < 0 and len(sections) > 1:
        section, to_show = sections[1], -number
    elif number == 0 and len(sections) > 2:  # noqa: PLR2004 - the third is for zero
        section = sections[2]
    parts = list(_PART.finditer(section))
    patterns = [part["digits"] for part in parts if part["digits"]]
    if "general" in section.lower() or (
        len(patterns) > 1 and not _PLACES.fullmatch(" ".join(patterns))
    ):
        return plain(number)
    if any(part["date"] or part["elapsed"] for part in parts):
        return _as_date(to_show, parts, since_1904=since_1904)
    return _as_number(to_show, parts, patterns)


def is_date(code: str) -> bool:
    """Whether a format shows numbers as dates or times."""
    parts = _PART.finditer("" if code in _PLAIN else _sections(code)[0])
    return any(part["date"] or part["elapsed"] for part in parts)


def plain(number: float) -> str:
    """A number as it is shown without a format: eleven digits at most, if it is no whole number."""
    is_whole = abs(number) < _EXACT and number == int(number)
    return f"{int(number)}" if is_whole else f"{number:.11g}"


def _sections(code: str) -> list[str]:
    """The formats for positive and negative numbers, zero and text."""
    ends = [match.start() for match in _SECTION_END.finditer(code) if match["end"]]
    starts = [0, *(end + 1 for end in ends)]
    return [code[start:end] for start, end in zip(starts, [*ends, len(code)], strict=True)]


def _as_number(number: float, parts: list[re.Match[str]], patterns: list[str]) -> str:
    number *= 100 ** sum(part["other"] == "%" for part in parts)
    digits = _digits(abs(number), "".join(patterns)) if patterns else ""
    shares = iter(_shared(digits, patterns))
    words = [next(shares) if part["digits"] else _literal(part) for part in parts]
    is_nothing = patterns and not any(digit in "123456789" for digit in digits)
    sign = "-" if number < 0 and not is_nothing else ""
    return (sign + "".join(words)).strip()


def _shared(digits: str, patterns: list[str]) -> list[str]:
    """The digits by the places that words part, as in "000-00-0000"; the first has the rest."""
    whole, point, decimals = digits.partition(".")
    shares = [point + decimals]
    for pattern in patterns[:0:-1]:
        left = max(0, len(whole) - len(pattern.partition(".")[0]))
        shares[0] = whole[left:] + shares[0]
        shares.insert(0, "")
        whole = whole[:left]
    shares[0] = whole + shares[0]
    return shares


def _digits(number: float, pattern: str) -> str:
    whole, _, decimals = pattern.partition(".")
    scaled = whole.rstrip(",") + decimals.rstrip(",")
    number /= 1000 ** (len(whole) + len(decimals) - len(scaled))
    grouped = "," if "," in whole.rstrip(",") else ""
    decimals = decimals.rstrip(",")
    if "E" in pattern:
        return f"{number:.{len(decimals.partition('E')[0])}E}"
    # Halves go up, as in a spreadsheet, though 1.005 is a little less as a float.
    places = len(decimals)
    rounded = round(number + 10 ** -(places + 9), places)
    least = whole.count("0")
    width = least + (max(0, least - 1) // 3 if grouped else 0) + (places + 1 if places else 0)
    written = f"{rounded:0{width}{grouped}.{places}f}"
    optional = len(decimals) - len(decimals.rstrip("#"))
    if optional:
        head, _, tail = written.partition(".")
        tail = tail[: places - optional] + tail[places - optional :].rstrip("0")
        written = f"{head}.{tail}" if tail else head
    if "0" not in whole and written.startswith("0"):
        written = written[1:]
    return written


def _as_date(number: float, parts: list[re.Match[str]], *, since_1904: bool) -> str:
    if not 0 <= number <= _MOST_DAYS:
        return plain(number)
    # There was no 29 February 1900, but spreadsheets count it.
    first = datetime(1904, 1, 1) if since_1904 else datetime(1899, 12, 30)  # noqa: DTZ001 - a date on paper has no zone
    moment = first + timedelta(seconds=round(number * 86_400))
    tokens = [(part["date"] or part["elapsed"] or "").lower() for part in parts]
    half = any(token in {"am/pm", "a/p"} for token in tokens)
    shown = []
    for index, (part, token) in enumerate(zip(parts, tokens, strict=True)):
        if not token:
            shown.append(_literal(part) if not part["digits"] else "")
        elif token.startswith("m") and _are_minutes(tokens, index):
            shown.append(f"{moment.minute:0{min(len(token), 2)}d}")
        else:
            shown.append(_moment(token, moment, number, half=half))
    return "".join(shown).strip()


def _are_minutes(tokens: list[str], index: int) -> bool:
    """Whether an "m" stands after hours or before seconds."""
    before = next((token for token in tokens[index - 1 :: -1] if token), "") if index else ""
    after = next((token for token in tokens[index + 1 :] if token), "")
    return before.strip("[]").startswith("h") or after.startswith("s")


def _moment(token: str, moment: datetime, number: float, *, half: bool) -> str:
    if token in _WORDS:
        return moment.strftime(_WORDS[token])[: 1 if len(token) == 5 else None]  # noqa: PLR2004 - mmmmm is a letter
    if token.startswith("["):
        return str(round(number * 86_400) // {"h": 3600, "m": 60, "s": 1}[token[1]])
    if token.startswith("a"):
        return moment.strftime("%p")[: 2 if token == "am/pm" else 1]  # noqa: S105 - no password
    if token.startswith("y"):
        return f"{moment.year:04d}" if len(token) > 2 else f"{moment.year % 100:02d}"  # noqa: PLR2004 - yy or yyyy
    hours = (moment.hour - 1) % 12 + 1 if half else moment.hour
    figure = {"m": moment.month, "d": moment.day, "h": hours, "s": moment.second}[token[0]]
    return f"{figure:0{min(len(token.partition('.')[0]), 2)}d}"


def _literal(part: re.Match[str]) -> str:
    return part["quoted"] or part["escaped"] or part["currency"] or part["other"] or ""
