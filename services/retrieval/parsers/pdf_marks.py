"""Figures of a PDF set above the line: marks of notes and powers, no digits of a number."""

import re

import pypdfium2.raw as pdfium

from services.retrieval.parsers.characters import superscript

_FIGURE = re.compile(r"(?<![\w.,])(?:10[-\u2013\u2212]\d{1,2}|\d[\d.,]*\d)(?![\w.,])")
_LONE_MARK = re.compile(r"(?<!\S)\d{1,2}(?!\S)")
_SMALLER = 0.85


def with_raised_marks(raw: object, text: str, first: int) -> str:
    """The text; a mark or power set above a figure's end is no digit of it: "1,234²", "10⁻⁶".

    Nor is one a figure that stands apart from the word before it.
    """
    for figure in _FIGURE.finditer(text):
        start, end = first + figure.start(), first + figure.end()
        bottom, top = _height(raw, start)
        raised = end
        while raised > start and _is_raised(_height(raw, raised - 1), bottom, top):
            raised -= 1
        if start < raised < end:
            mark = superscript(text[raised - first : end - first])
            text = text[: raised - first] + mark + text[end - first :]
    for lone in _LONE_MARK.finditer(text):
        beside = lone.start() - 2 if lone.start() > 1 else lone.end() + 1
        if beside < len(text) and not text[beside].isspace():
            bottom, top = _height(raw, first + beside)
            if _is_raised(_height(raw, first + lone.start()), bottom, top):
                text = text[: lone.start()] + superscript(lone.group()) + text[lone.end() :]
    return text


def _height(raw: object, index: int) -> tuple[float, float]:
    box = pdfium.FS_RECTF()
    pdfium.FPDFText_GetLooseCharBox(raw, index, box)
    return box.bottom, box.top


def _is_raised(edges: tuple[float, float], bottom: float, top: float) -> bool:
    height = top - bottom
    return edges[1] - edges[0] < _SMALLER * height and edges[0] - bottom > (1 - _SMALLER) * height
