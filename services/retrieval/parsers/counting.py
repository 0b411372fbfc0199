"""Numbers as lists and notes print them."""

_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l")),
    *((40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
_MOST_ROMAN = 4000


def roman(number: int) -> str:
    """A number in small Roman figures; in Arabic ones where there are none for it."""
    if not 0 < number < _MOST_ROMAN:
        return str(number)
    figures = ""
    for worth, figure in _ROMAN:
        figures += figure * (number // worth)
        number %= worth
    return figures
