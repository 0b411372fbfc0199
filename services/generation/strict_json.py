"""JSON read strictly, whole or as it comes: no key twice, no endless depth, nothing around it."""

import json
import re
from collections.abc import Iterator
from typing import Any

from services.generation.drafter import Failure, NoDraft

MAX_CHARS = 1_000_000
MAX_DEPTH = 8
_BRACKETS = re.compile(r'["{}\[\]]')
_IN_STRING = re.compile(r'["\\]')
_PAIRS = {"{": "}", "[": "]"}
_LONGEST_KEY = 64


def loads(text: str) -> Any:
    """The value that `text` is.

    Raises:
        NoDraft: It is none, or one that could be read in two ways.
    """
    scanner = Elements("")
    for _ in scanner.feed(text):
        pass  # Without a key there are no elements; this bounds the depth, which json does not.
    try:
        value = json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
        text.encode()  # Half a surrogate pair cannot be sent on.
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise NoDraft(Failure.WRONG_SHAPE) from None
    except (ValueError, RecursionError):  # Such as a number of too many digits.
        raise NoDraft(Failure.NOT_JSON) from None
    return value


class Elements:
    """Finds the objects in one array of an object while its text arrives in pieces.

    Args:
        key: The array's key in the outermost object.
    """

    def __init__(self, key: str) -> None:
        self._key = key
        self._open: list[str] = []
        self._in_string = self._escaped = self._ended = False
        self._string = ""
        self._element: list[str] | None = None
        self._is_wanted = False
        self._pieces: list[str] = []
        self._chars = 0

    @property
    def text(self) -> str:
        """All that has arrived."""
        return "".join(self._pieces)

    def feed(self, piece: str) -> Iterator[str]:
        """The texts of the elements that end in this piece.

        Raises:
            NoDraft: What has arrived can be no beginning of an object.
        """
        self._pieces.append(piece)
        self._chars += len(piece)
        if self._chars > MAX_CHARS:
            raise NoDraft(Failure.TOO_LARGE)
        start = at = 0  # Of the element in this piece; of the scan.
        while at < len(piece):
            if self._in_string:
                at = self._scan_string(piece, at)
                continue
            found = self._next(piece, at)
            if not found:
                break
            at = found.end()
            if found[0] == '"':
                self._begin_string()
            elif found[0] in _PAIRS:
                start = found.start() if self._push(found[0]) else start
            elif self._pop(found[0]):
                yield "".join([*(self._element or ()), piece[start:at]])
                self._element = None
        if self._element is not None:
            self._element.append(piece[start:])

    def _next(self, piece: str, at: int) -> re.Match[str] | None:
        """What comes next that is not part of a number, a word or the space between."""
        found = _BRACKETS.search(piece, at)
        if not self._open and piece[at : found.start() if found else len(piece)].strip():
            raise NoDraft(Failure.NOT_JSON)
        return found

    def _begin_string(self) -> None:
        if not self._open:
            raise NoDraft(Failure.NOT_JSON)
        self._in_string, self._string = True, ""

    def _scan_string(self, piece: str, at: int) -> int:
        if self._escaped:
            self._escaped = False
            return at + 1
        found = _IN_STRING.search(piece, at)
        end = found.start() if found else len(piece)
        if len(self._open) == 1 and len(self._string) < _LONGEST_KEY:
            self._string += piece[at:end]
        if not found:
            return len(piece)
        if found[0] == "\\":
            self._escaped = True
        else:
            self._in_string = False
        return found.end()

    def _push(self, bracket: str) -> bool:
        """Opens a bracket; True where an element begins with it."""
        if self._ended:
            raise NoDraft(Failure.NOT_JSON)
        if not self._open and bracket == "[":
            raise NoDraft(Failure.WRONG_SHAPE)
        if len(self._open) == 1:
            self._is_wanted = bracket == "[" and bool(self._key) and self._string == self._key
        begins = self._is_wanted and bracket == "{" and self._open == ["{", "["]
        self._open.append(bracket)
        if len(self._open) > MAX_DEPTH:
            raise NoDraft(Failure.WRONG_SHAPE)
        if begins:
            self._element = []
        return begins

    def _pop(self, bracket: str) -> bool:
        """Closes a bracket; True where an element ends with it."""
        if not self._open or _PAIRS[self._open.pop()] != bracket:
            raise NoDraft(Failure.NOT_JSON)
        self._ended = not self._open
        return self._element is not None and self._open == ["{", "["]


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise NoDraft(Failure.WRONG_SHAPE)
    return found


def _no_constant(name: str) -> None:
    raise ValueError(name)  # NaN and Infinity are no JSON.
