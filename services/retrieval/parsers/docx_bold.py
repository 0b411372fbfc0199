"""Whether the words of a DOCX table are bold: by themselves, their styles or that of the table."""

from collections.abc import Mapping
from xml.etree.ElementTree import Element

from services.retrieval.parsers.docx_properties import W, is_on, value
from services.retrieval.parsers.docx_styles import NO_STYLE, Style

# In the number by which older files say how a table looks.
_FIRST_ROW = 0x20


def has_bold_header(table: Element, styles: Mapping[str, Style]) -> bool:
    """Whether a table's style makes its first row bold, and the table lets it."""
    properties = table.find(f"{W}tblPr")
    look = None if properties is None else properties.find(f"{W}tblLook")
    if look is None or not styles.get(value(properties, "tblStyle"), NO_STYLE).bold_header:
        return False
    if said := look.get(f"{W}firstRow"):
        return said in {"1", "true", "on"}
    return bool(int(look.get(f"{W}val", "0"), 16) & _FIRST_ROW)


def is_bold(cell: Element, styles: Mapping[str, Style], *, in_bold_row: bool) -> bool:
    """Whether all words of a cell are bold; of a row that its table's style makes bold, or not."""
    return all(
        _is_bold(run.find(f"{W}rPr"), paragraph.find(f"{W}pPr"), styles, in_bold_row=in_bold_row)
        for paragraph in cell.iter(f"{W}p")
        for run in paragraph.iter(f"{W}r")
        if any((text.text or "").strip() for text in run.iter(f"{W}t"))
    )


def _is_bold(
    run: Element | None,
    paragraph: Element | None,
    styles: Mapping[str, Style],
    *,
    in_bold_row: bool,
) -> bool:
    if run is not None and run.find(f"{W}b") is not None:
        return is_on(run, "b")
    around = styles.get(value(paragraph, "pStyle"), NO_STYLE).bold
    # A style for words that are to stand out makes them plain where those around them are bold.
    return in_bold_row or around != styles.get(value(run, "rStyle"), NO_STYLE).bold
