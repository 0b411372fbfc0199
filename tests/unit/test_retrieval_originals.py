"""The files of a document: whole or not at all, and never outside their place."""

import asyncio
import threading
import uuid
from contextlib import suppress

import pytest

from services.chassis.errors import NotFound, Unavailable
from services.retrieval.document import Box, Heading, Line, Page, ParsedDocument
from services.retrieval.originals import Originals
from services.retrieval.parsed import dump, load

ID = "0b2bb95c-5c0e-5a37-9d3b-5a4c2ad4e7f1"
OTHER = "1b2bb95c-5c0e-5a37-9d3b-5a4c2ad4e7f1"
PARSED = ParsedDocument(
    text="1 Über\n\U0001d54f \ud800 text\n",  # A lone surrogate, as broken fonts give.
    pages=(Page(1, 0, 7), Page(2, 7, 17)),
    lines=(Line(0, 7, 1, Box(72.25, 10, 300, 20)), Line(7, 17, 2, None)),
    headings=(Heading(0, 6, 1, "1", "Über"),),
    furniture=((0, 1),),
    content_type="application/pdf",
    has_page_images=True,
    paragraphs=(0, 7),
    tables=((7, 17),),
)


def files(directory):
    return {str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file()}


def test_a_parsed_document_is_the_same_after_json():
    assert load(dump(PARSED)) == PARSED


@pytest.mark.parametrize("tenant", ["a", "..", ".", "a/../../b", "/etc", "ä b", "a\x00b"])
async def test_a_version_comes_back_whatever_the_tenants_name_and_lies_in_one_folder(
    tmp_path, tenant
):
    directory = tmp_path / "originals"
    originals = Originals(directory)
    await originals.put(tenant, ID, "ab", b"bytes", PARSED)
    assert await originals.data(tenant, ID, "ab") == b"bytes"
    assert await originals.parsed(tenant, ID, "ab") == PARSED
    assert len(files(directory)) == len(files(tmp_path)) == 2
    assert len(list(directory.iterdir())) == 1


@pytest.fixture(params=["directory", "object store"])
def originals(request, tmp_path):
    if request.param == "directory":
        yield Originals(tmp_path)
    else:
        store = Originals(f"memory://{uuid.uuid4().hex}/originals")
        files = store._files
        yield store
        with suppress(FileNotFoundError):
            files.rm(store._root.split("/originals")[0], recursive=True)


async def test_tenants_and_documents_do_not_share_files(originals):
    for tenant in ("a", "b"):
        for id_ in (ID, OTHER):
            await originals.put(tenant, id_, "ab", f"{tenant}{id_}".encode(), PARSED)
    await originals.keep_only("a", ID, None)
    with pytest.raises(NotFound):
        await originals.data("a", ID, "ab")
    assert await originals.data("a", OTHER, "ab") == f"a{OTHER}".encode()
    assert await originals.data("b", ID, "ab") == f"b{ID}".encode()


async def test_only_the_version_named_is_kept(originals):
    for sha256 in ("one", "two", "three"):
        await originals.put("a", ID, sha256, sha256.encode(), PARSED)
    await originals.keep_only("a", ID, "two")
    assert await originals.data("a", ID, "two") == b"two"
    kept = originals._files.find(originals._root)
    assert {path.split("/")[-2] for path in kept} == {"two"}
    await originals.keep_only("a", OTHER, None)


async def test_a_write_that_fails_leaves_no_part_of_a_file(tmp_path, monkeypatch):
    originals = Originals(tmp_path)

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(Unavailable):
        await originals.put("a", ID, "ab", b"bytes", PARSED)
    assert files(tmp_path) == set()


@pytest.mark.parametrize("id_", ["..", "x", "", "../../etc"])
async def test_a_document_id_that_is_none_is_no_path(tmp_path, id_):
    with pytest.raises(ValueError, match="UUID"):
        await Originals(tmp_path).data("a", id_, "ab")


async def test_a_version_comes_back_from_an_object_store(originals):
    await originals.put("a/../b", ID, "ab", b"bytes", PARSED)
    assert await originals.data("a/../b", ID, "ab") == b"bytes"
    assert await originals.parsed("a/../b", ID, "ab") == PARSED
    for tenant, id_, sha256 in (("b", ID, "ab"), ("a/../b", OTHER, "ab"), ("a/../b", ID, "cd")):
        with pytest.raises(NotFound):
            await originals.data(tenant, id_, sha256)


class Refusing:
    """A store whose client fails in a way of its own, with words that are no caller's business."""

    def __getattr__(self, name):
        def fails(*args, **kwargs):
            raise RuntimeError("AccessDenied: s3://secret-bucket/key")

        return fails


async def test_a_store_that_refuses_is_unavailable_and_its_words_stay_inside(originals):
    originals._files = Refusing()
    for call in (
        originals.put("a", ID, "ab", b"bytes", PARSED),
        originals.data("a", ID, "ab"),
        originals.parsed("a", ID, "ab"),
        originals.keep_only("a", ID, "ab"),
        originals.keep_only("a", ID, None),
    ):
        with pytest.raises(Unavailable) as caught:
            await call
        assert "secret" not in str(caught.value)


async def test_a_store_that_does_not_answer_holds_up_its_own_caller_only():
    release = threading.Event()

    class Hanging:
        def cat_file(self, path):
            release.wait(10)
            return b""

    slow = Originals("memory://slow", seconds=0.05)
    slow._files = Hanging()
    turns = 0

    async def count():
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count())
    with pytest.raises(Unavailable):
        await slow.data("a", ID, "ab")
    release.set()
    counting.cancel()
    assert turns > 100


def test_a_place_that_nothing_here_reaches_is_refused_at_the_start():
    with pytest.raises(ValueError, match="Protocol not known"):
        Originals("nowhere://bucket")


async def test_a_store_that_can_be_written_to_is_not_missing_even_before_it_is_made(tmp_path):
    assert await Originals(tmp_path / "not" / "yet").missing() == ""
    assert await Originals("memory://somewhere").missing() == ""


async def test_a_directory_that_cannot_be_written_to_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr("os.access", lambda *_: False)
    assert "cannot be written to" in await Originals(tmp_path).missing()
