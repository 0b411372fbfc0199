"""The number that is printed on a page, which need not be the one it has in the file."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

_MIN_PAGES = 3
_FEW_PAGES = 2
_LABEL = re.compile(r"(?:\b[A-Z]{1,2}-)?(?<!\d)\d{1,4}(?!\d)")
_ROMAN = re.compile(
    r"\W*(?=\w)(?P<label>c{0,3}(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})"
    r"|C{0,3}(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3}))\W*"
)
_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


def printed(furniture: Iterable[tuple[int, str]], page_count: int) -> dict[int, str]:
    """By page, the number in its running lines that counts along with the pages.

    It does on three pages, or on both of two.

    Args:
        furniture: Running headers and footers, each with the number of its page in the file.
        page_count: How many pages the file has.
    """
    found: defaultdict[int, list[tuple[str, int]]] = defaultdict(list)
    pages_by_lead: Counter[int] = Counter()
    for page, line in furniture:
        found[page] += ((label, value - page) for label, value in _numbers(line))
    for numbers in found.values():
        pages_by_lead.update({lead for _, lead in numbers})
    fewest = _FEW_PAGES if page_count == _FEW_PAGES else _MIN_PAGES
    labels = {}
    for page, numbers in found.items():
        label, lead = max(numbers, key=lambda number: pages_by_lead[number[1]], default=("", 0))
        if pages_by_lead[lead] >= fewest:
            labels[page] = label
    return labels


def roman(line: str) -> int:
    """The value of a line that is a Roman number and nothing else; 0 when it is none."""
    match = _ROMAN.fullmatch(line)
    if match is None:
        return 0
    values = [_ROMAN_VALUES[letter] for letter in match["label"].lower()]
    return sum(
        -value if value < following else value
        for value, following in zip(values, [*values[1:], 0], strict=True)
    )


def _numbers(line: str) -> Iterator[tuple[str, int]]:
    for match in _LABEL.finditer(line):
        yield match.group(), int(match.group().rpartition("-")[2])
    if (numeral := _ROMAN.fullmatch(line)) and (value := roman(line)):
        yield numeral["label"], value
