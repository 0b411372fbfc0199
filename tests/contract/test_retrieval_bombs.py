"""Files made to harm whoever reads them: each is refused with a reason, and that is all."""

import io
import zipfile
import zlib

import pytest

from services.chassis.errors import InvalidInput
from services.retrieval.isolated_reader import IsolatedReader
from services.retrieval.isolation import Worker
from tests.office_files import a_docx, an_xlsx, zipped
from tests.retrieval_parts import everything, ingest, put_together, upload
from tests.retrieval_stores import edge, quick_directory

MIB = 2**20


def a_pdf(objects):
    """A PDF of these objects, the catalog first; readers find them without a table of places."""
    body = b"".join(b"%d 0 obj\n%s\nendobj\n" % (n, o) for n, o in enumerate(objects, 1))
    return b"%PDF-1.7\n" + body + b"trailer\n<</Root 1 0 R>>\n%%EOF"


def nested_filters():
    """A page whose content is 1 GiB of spaces, packed twice, in a few kilobytes."""
    inner = zlib.compressobj()
    packed = b"".join(inner.compress(b" " * MIB) for _ in range(1024)) + inner.flush()
    content = zlib.compress(packed)
    return a_pdf(
        [
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R>>",
            b"<</Length %d/Filter[/FlateDecode/FlateDecode]>>stream\n%s\nendstream"
            % (len(content), content),
        ]
    )


def a_million_pages():
    kids = b" ".join([b"3 0 R"] * 1_000_000)
    return a_pdf(
        [
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Kids[%s]/Count 1000000>>" % kids,
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>",
        ]
    )


def expanding_entities():
    declared = "".join(
        f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "word " * 20}">' for n in range(10)
    )
    names = {"word/document.xml": f"<!DOCTYPE x [{declared}]><x>&e9;</x>"}
    return with_parts(a_docx("<w:p/>"), names)


def with_parts(data, parts):
    """An archive with parts of it replaced or added."""
    archive = zipfile.ZipFile(io.BytesIO(data))
    return zipped({**{name: archive.read(name) for name in archive.namelist()}, **parts})


def understated():
    """A part of 50 MiB that is said to have 10 bytes."""
    data = bytearray(with_parts(a_docx("<w:p/>"), {"word/document.xml": b" " * 50 * MIB}))
    entry = data.rindex(b"word/document.xml") - 46
    data[entry + 24 : entry + 28] = (10).to_bytes(4, "little")
    return bytes(data)


BOMBS = {
    "nested-filters.pdf": (nested_filters, {"DAMAGED_FILE", "TOO_LARGE", "NO_TEXT"}),
    "a-million-pages.pdf": (a_million_pages, {"TOO_LARGE"}),
    "spaces.docx": (lambda: a_docx(" " * 100 * MIB), {"TOO_LARGE"}),
    "spaces.xlsx": (lambda: an_xlsx({"A": " " * 20 * MIB}), {"TOO_LARGE"}),
    "parts.docx": (
        lambda: with_parts(a_docx("<w:p/>"), {f"word/{n}.xml": "" for n in range(10_001)}),
        {"TOO_LARGE"},
    ),
    "understated.docx": (understated, {"DAMAGED_FILE"}),
    "entities.docx": (expanding_entities, {"DAMAGED_FILE"}),
    "within-its-size.txt": (lambda: "\u6f22\U0001f600 ".encode() * 6_000_000, {"TOO_LARGE"}),
    "endless.html": (lambda: b"<div>" * 200_000, {"DAMAGED_FILE"}),
}


@pytest.mark.parametrize("name", BOMBS)
async def test_a_bomb_is_refused_and_the_store_stays_as_it_was_and_the_next_file_is_read(name):
    build, reasons = BOMBS[name]
    data = build()

    async def chunks():
        for start in range(0, len(data), MIB):
            yield data[start : start + MIB]

    with quick_directory() as directory:
        async with (
            edge(directory) as index,
            Worker(memory_bytes=400 * MIB).running() as worker,
            put_together(
                index,
                directory,
                reader=IsolatedReader(worker, seconds=5, ocr_seconds=15),
                max_bytes=64 * MIB,
            ) as parts,
        ):
            await ingest(parts, "The limit is 25%.")
            before = await everything(parts)
            with pytest.raises(InvalidInput) as caught:
                async for _ in parts.ingestor.ingest("a", upload(name), chunks()):
                    pass
            assert caught.value.reason in reasons
            assert await everything(parts) == before
            assert await ingest(parts, "The limit is 10%.")
