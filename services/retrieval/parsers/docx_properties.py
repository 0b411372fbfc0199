"""How the parts of a DOCX file say their properties."""

from collections.abc import Iterable
from xml.etree.ElementTree import Element

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"

_OFF = {"0", "false", "off"}


def value(element: Element | None, child: str) -> str:
    """The value of a property; empty when it is not set."""
    found = None if element is None else element.find(f"{W}{child}")
    return "" if found is None else found.get(f"{W}val", "")


def is_on(properties: Element | None, name: str) -> bool:
    """Whether a property that has only two values is set."""
    return is_on_first([properties], name)


def is_on_first(places: Iterable[Element | None], name: str) -> bool:
    """Whether such a property is set by the first of several that says it."""
    said = (place.find(f"{W}{name}") for place in places if place is not None)
    found = next((element for element in said if element is not None), None)
    return found is not None and found.get(f"{W}val", "true") not in _OFF
