"""The words of a DOCX paragraph, and what it brings along: text boxes and notes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from services.retrieval.parsers.characters import UNREADABLE, superscript
from services.retrieval.parsers.counting import roman
from services.retrieval.parsers.docx_numbering import BULLET
from services.retrieval.parsers.docx_properties import W, is_on, value

_CHOICE = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"

# Changes are read as accepted: what was inserted is there, what was deleted or moved away is not.
GONE = {f"{W}{name}" for name in ("del", "moveFrom", "pPr", "rPr", "rt", "delText", "instrText")}
# Hidden, or struck out by hand: "5" struck out before "6%" must not be read as "56%".
_UNSAID = ("vanish", "strike", "dstrike")
_WRITTEN = {
    "tab": "\t",
    "br": "\n",
    "cr": "\n",
    "noBreakHyphen": "\N{NON-BREAKING HYPHEN}",
    "softHyphen": "\N{SOFT HYPHEN}",
}
_MATH_SIGNS = {f"{_MATH}num": ("(", ")"), f"{_MATH}den": ("/(", ")"), f"{_MATH}deg": ("\u221a", "")}
# Boxes to tick, and a bullet, in Wingdings and Symbol.
_SYMBOLS = {
    0x6F: "\u2610",
    0xA8: "\u2610",
    0xFD: "\u2612",
    0xFE: "\u2611",
    0xFC: "\u2713",
    0xB7: BULLET,
}


@dataclass(slots=True)
class Run:
    """The words of a paragraph, and what it brings along."""

    words: list[str] = field(default_factory=list)
    boxes: list[Element] = field(default_factory=list)
    notes: list[tuple[str, Element]] = field(default_factory=list)
    # Fields that are open; what stands before "separate" is their code.
    fields: list[str] = field(default_factory=list)


class Gatherer:
    """Gathers the words of paragraphs, and numbers the notes that they refer to.

    Args:
        notes: By kind and id.
    """

    def __init__(self, notes: Mapping[tuple[str, str], Element]) -> None:
        self._notes = notes
        self._counts = {"footnote": 0, "endnote": 0}

    def gathered(self, element: Element, run: Run) -> str:
        """The words of an element; what is beside them goes to `run`."""
        start = len(run.words)
        self._gather(element, run, raised=False)
        words = "".join(run.words[start:])
        del run.words[start:]
        return words

    def _gather(self, element: Element, run: Run, *, raised: bool) -> None:
        for child in element:
            if child.tag in GONE:
                continue
            if child.tag in {f"{W}t", f"{_MATH}t"}:
                if "begin" not in run.fields:
                    text = child.text or ""
                    run.words.append(superscript(text) if raised else text)
            elif child.tag == f"{W}r":
                properties = child.find(f"{W}rPr")
                if not any(is_on(properties, name) for name in _UNSAID):
                    above = raised or value(properties, "vertAlign") == "superscript"
                    self._gather(child, run, raised=above)
            elif not self._take(child, run):
                before, after = _MATH_SIGNS.get(child.tag, ("", ""))
                run.words.append(before)
                self._gather(_newest(child), run, raised=raised or child.tag == f"{_MATH}sup")
                run.words.append(after)

    def _take(self, element: Element, run: Run) -> bool:
        """Whether an element is one that holds no words of the paragraph itself."""
        match element.tag.removeprefix(W):
            case "txbxContent":
                run.boxes.append(element)
            case "fldChar":
                _mark_field(run.fields, element.get(f"{W}fldCharType", ""))
            case "footnoteReference" | "endnoteReference":
                self._refer(element, run)
            case "sym":
                run.words.append(_symbol(element.get(f"{W}char", "")))
            case name if name in _WRITTEN:
                run.words.append(_WRITTEN[name])
            case _:
                return False
        return True

    def _refer(self, reference: Element, run: Run) -> None:
        kind = reference.tag.removeprefix(W).removesuffix("Reference")
        note = self._notes.get((kind, reference.get(f"{W}id", "")))
        if note is not None:
            self._counts[kind] += 1
            number = self._counts[kind]
            mark = f"[{number}]" if kind == "footnote" else f"[{roman(number)}]"
            run.words.append(mark)
            run.notes.append((mark, note))


def notes_of(root: Element | None, kind: str) -> dict[tuple[str, str], Element]:
    """Notes by id, without the lines that part them from the text."""
    if root is None:
        return {}
    return {
        (kind, note.get(f"{W}id", "")): note
        for note in root.iter(f"{W}{kind}")
        if note.get(f"{W}type", "normal") == "normal"
    }


def _newest(element: Element) -> Element:
    """Of what is there twice, for programs of different age, the newer; else the element."""
    if element.tag != f"{_CHOICE}AlternateContent":
        return element
    newer = element.find(f"{_CHOICE}Choice")
    return element if newer is None else newer


def _mark_field(fields: list[str], mark: str) -> None:
    if mark == "begin":
        fields.append(mark)
    elif fields:
        fields.pop()
        if mark == "separate":
            fields.append(mark)


def _symbol(code: str) -> str:
    """A character of a symbol font; few of them are known."""
    return _SYMBOLS.get(int(code or "0", 16) & 0xFF, UNREADABLE)
