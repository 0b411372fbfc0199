"""Office files: a zip archive of XML parts, opened without trusting what it says of its size."""

import io
import posixpath
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from services.chassis.errors import InvalidInput

# Read as what they are without their macros, which nothing here would run: refused all the same,
# for the words that a macro writes are not in the file.
WITH_MACROS = "application/vnd.ms-office.macroEnabled"

_MAX_PARTS = 10_000
_MAX_BYTES = 256 * 2**20
_MAX_RATIO = 200
# Below this size a ratio says nothing: an empty sheet is all the same letters.
_SMALL = 2**20
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
_ENCRYPTED = 0x1

_RELATIONSHIP = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"
_OVERRIDE = "{http://schemas.openxmlformats.org/package/2006/content-types}Override"
# Files of the strict kind say the same under other names.
_STRICT = (
    (
        b"http://purl.oclc.org/ooxml/wordprocessingml/main",
        b"http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    ),
    (
        b"http://purl.oclc.org/ooxml/spreadsheetml/main",
        b"http://schemas.openxmlformats.org/spreadsheetml/2006/main",
    ),
    (
        b"http://purl.oclc.org/ooxml/presentationml/main",
        b"http://schemas.openxmlformats.org/presentationml/2006/main",
    ),
    (
        b"http://purl.oclc.org/ooxml/drawingml/main",
        b"http://schemas.openxmlformats.org/drawingml/2006/main",
    ),
    (
        b"http://purl.oclc.org/ooxml/officeDocument/",
        b"http://schemas.openxmlformats.org/officeDocument/2006/",
    ),
)


@dataclass(frozen=True, slots=True)
class Relationship:
    """What a part refers to; `kind` is the last word of its type, such as "header"."""

    id: str
    kind: str
    part: str


class Package:
    """The parts of an office file; at most so many of their bytes are read."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._names = frozenset(archive.namelist())
        self._left = _MAX_BYTES

    def __contains__(self, part: str) -> bool:
        return part in self._names

    @property
    def main(self) -> Relationship | None:
        """The part that holds the document; None in an archive that is no office file."""
        return next((r for r in self.relationships("") if r.kind == "officeDocument"), None)

    @property
    def main_type(self) -> str:
        """The media type of that part; empty when there is none."""
        if not self.main or "[Content_Types].xml" not in self:
            return ""
        for override in self.xml("[Content_Types].xml").iter(_OVERRIDE):
            if override.get("PartName", "").lstrip("/") == self.main.part:
                return override.get("ContentType", "")
        return ""

    @property
    def has_macros(self) -> bool:
        """Whether it brings a program along."""
        return "macroenabled" in self.main_type.lower() or any(
            name.lower().endswith("vbaproject.bin") for name in self._names
        )

    def read(self, part: str) -> bytes:
        """A part's bytes."""
        info = self._archive.getinfo(part)
        if info.flag_bits & _ENCRYPTED:
            raise InvalidInput(
                "The file is encrypted; save it without its password and send it again.",
                reason="ENCRYPTED_FILE",
            )
        if info.compress_type not in _METHODS:
            raise damaged("it is packed in a way that office files are not")
        # The archive yields no more than the size it states, whatever else it holds.
        self._left -= info.file_size
        ratio = info.file_size / max(info.compress_size, 1)
        if self._left < 0 or (ratio > _MAX_RATIO and info.file_size > _SMALL):
            raise InvalidInput(
                "The file unpacks to far more than a document; split it.", reason="TOO_LARGE"
            )
        return self._archive.read(info)

    def xml(self, part: str) -> ET.Element:
        """A part as a tree."""
        # Expat fetches nothing and bounds what entities expand to.
        return ET.fromstring(self._usual(part))  # noqa: S314

    def elements(self, part: str) -> Iterator[ET.Element]:
        """A part's elements as each ends; the caller empties those that it needs no more."""
        events = ET.iterparse(io.BytesIO(self._usual(part)))  # noqa: S314 - as above
        return (element for _, element in events)

    def _usual(self, part: str) -> bytes:
        data = self.read(part)
        for strict, usual in _STRICT:
            data = data.replace(strict, usual)
        return data

    def relationships(self, part: str) -> list[Relationship]:
        """What a part refers to inside the package; "" is the package itself."""
        folder, name = posixpath.split(part)
        path = posixpath.join(folder, "_rels", f"{name}.rels")
        if path not in self:
            return []
        return [
            Relationship(
                id=element.get("Id", ""),
                kind=element.get("Type", "").rpartition("/")[2],
                part=posixpath.normpath(
                    posixpath.join("/", folder, element.get("Target", ""))
                ).lstrip("/"),
            )
            for element in self.xml(path).iter(_RELATIONSHIP)
            if element.get("TargetMode") != "External"
        ]


@contextmanager
def opened(data: bytes) -> Iterator[Package]:
    """The office file in these bytes; whatever is wrong with it is InvalidInput."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if len(archive.namelist()) > _MAX_PARTS:
                raise InvalidInput(
                    f"The file has more than {_MAX_PARTS} parts; split it.", reason="TOO_LARGE"
                )
            yield Package(archive)
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise damaged("its archive cannot be read") from error
    except (ET.ParseError, LookupError, ValueError, ArithmeticError) as error:
        raise damaged("a part of it is missing or malformed") from error


def damaged(what: str) -> InvalidInput:
    """The refusal of a file that cannot be read."""
    return InvalidInput(
        f"The file is damaged: {what}. Open it, save it anew and send it again.",
        reason="DAMAGED_FILE",
    )
