"""What is filled into the form fields of a PDF page, which are no part of its printed text."""

import ctypes
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pypdfium2
import pypdfium2.raw as pdfium

from services.retrieval.document import Box
from services.retrieval.parsers.characters import MADE_READABLE
from services.retrieval.parsers.pdf_frame import in_row
from services.retrieval.parsers.pdf_page import PrintedLine, PrintedPage

_UNSEEN = pdfium.FPDF_ANNOT_FLAG_HIDDEN | pdfium.FPDF_ANNOT_FLAG_NOVIEW
_PASSWORD = 1 << 13
_WORDS = {
    pdfium.FPDF_FORMFIELD_TEXTFIELD,
    pdfium.FPDF_FORMFIELD_COMBOBOX,
    pdfium.FPDF_FORMFIELD_LISTBOX,
}
_TICKS = {pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON}
_TICKED, _BLANK = "\u2612", "\u2610"


def filled(page: pypdfium2.PdfPage, printed: PrintedPage) -> PrintedPage:
    """The page with the values of its fields, each a line of its own beside its label.

    A box to tick is written as ticked or not. Fields that nobody sees, and passwords, are left out.
    """
    if page.formenv is None:
        return printed
    lines = list(printed.lines)
    for field in sorted(_fields(page, printed), key=lambda line: (line.box.top, line.box.left)):
        lines.insert(_place(lines, field.box), field)
    return replace(printed, lines=tuple(lines))


def _fields(page: pypdfium2.PdfPage, printed: PrintedPage) -> Iterator[PrintedLine]:
    for index in range(pdfium.FPDFPage_GetAnnotCount(page)):
        annotation = pdfium.FPDFPage_GetAnnot(page, index)
        if not annotation:
            continue
        try:
            words = _value(page.formenv, annotation)
            edges = pdfium.FS_RECTF()
            if words and pdfium.FPDFAnnot_GetRect(annotation, edges):
                box = printed.frame.displayed([(edges.left, edges.bottom, edges.right, edges.top)])
                if box is not None:
                    yield PrintedLine(words, first=-1, box=box, size=0.0, bold=False, gap=0.0)
        finally:
            pdfium.FPDFPage_CloseAnnot(annotation)


def _value(form: pypdfium2.PdfFormEnv, annotation: object) -> str:
    if pdfium.FPDFAnnot_GetFlags(annotation) & _UNSEEN:
        return ""
    kind = pdfium.FPDFAnnot_GetFormFieldType(form, annotation)
    if kind in _TICKS:
        return _TICKED if pdfium.FPDFAnnot_IsChecked(form, annotation) else _BLANK
    is_password = pdfium.FPDFAnnot_GetFormFieldFlags(form, annotation) & _PASSWORD
    if kind not in _WORDS or (kind == pdfium.FPDF_FORMFIELD_TEXTFIELD and is_password):
        return ""
    length = pdfium.FPDFAnnot_GetFormFieldValue(form, annotation, None, 0)
    units = (ctypes.c_ushort * (length // 2))()
    pdfium.FPDFAnnot_GetFormFieldValue(form, annotation, units, length)
    words = bytes(units).decode("utf-16-le", errors="replace").rstrip("\0")
    return " ".join(words.split()).translate(MADE_READABLE)


def _place(lines: Sequence[PrintedLine], box: Box) -> int:
    """Where in the order of a page's lines a field belongs: after or before its label."""
    beside = [index for index, line in enumerate(lines) if in_row(line.box, box)]
    before = [index for index in beside if lines[index].box.left <= box.left]
    if before:
        return max(before, key=lambda index: (lines[index].box.left, index)) + 1
    if beside:
        return min(beside, key=lambda index: lines[index].box.left)
    over = [
        index
        for index, line in enumerate(lines)
        if line.box.top < box.top and line.box.left < box.right and box.left < line.box.right
    ]
    if over:
        return max(over, key=lambda index: (lines[index].box.bottom, index)) + 1
    below = (index for index, line in enumerate(lines) if line.box.top >= box.top)
    return min(below, key=lambda index: lines[index].box.top, default=len(lines))
