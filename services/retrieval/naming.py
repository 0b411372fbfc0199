"""What a file may be called: a name that shows what it is, and is no path."""

import unicodedata

from services.chassis.errors import InvalidInput, Violation

# Persian, Indic scripts and emoji need these between letters.
_JOINERS = {"\N{ZERO WIDTH NON-JOINER}", "\N{ZERO WIDTH JOINER}"}
# Controls; formats, among them all that turn the direction of text; surrogates; line breaks.
_UNSHOWN = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def check(field: str, name: str) -> None:
    """Raises InvalidInput for a name that is a path or is not shown as it is."""
    wrong = ""
    if not name.strip():
        wrong = "must not be blank"
    elif name.strip() in {".", ".."}:
        wrong = "must not be a folder's name"
    elif any(unicodedata.category(c) in _UNSHOWN and c not in _JOINERS for c in name):
        wrong = "must have no control, format or line-breaking characters"
    if wrong:
        raise InvalidInput("This is no name for a file.", violations=(Violation(field, wrong),))
