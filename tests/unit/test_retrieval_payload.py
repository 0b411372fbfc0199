"""What callers say of a file cannot become a key by which the index is filtered."""

from hypothesis import given, settings
from hypothesis import strategies as st

from services.retrieval import region_codec
from services.retrieval.document import Box
from services.retrieval.index import FIELDS
from services.retrieval.passage import Metadata, Passage, Region
from services.retrieval.payload import from_passage, to_passage

WORDS = st.sampled_from([*FIELDS, "tenant=b", '"tenant": "b"', "a.tenant", "\x00"]) | st.text()


@settings(max_examples=50)
@given(
    source_name=WORDS,
    document_type=WORDS,
    tags=st.lists(WORDS, max_size=3),
    text=WORDS,
    headings=st.lists(WORDS, max_size=2),
)
def test_no_metadata_heading_or_text_adds_or_changes_a_key(
    source_name, document_type, tags, text, headings
):
    def passage(metadata, text, headings):
        return Passage(
            id="00000000-0000-4000-8000-000000000000",
            document_id="d",
            document_sha256="s",
            version=1,
            metadata=metadata,
            text=text,
            page_number=1,
            section_id="",
            heading_path=headings,
            start=0,
            end=len(text),
            regions=(),
        )

    written = passage(
        Metadata(source_name, document_type, 1, tags=tuple(tags)), text, tuple(headings)
    )
    plain = from_passage("a", passage(Metadata("n", "policy", 1), "x", ()))
    stored = from_passage("a", written)
    assert stored.keys() == plain.keys()
    for key in ("tenant", "kind", "document_id", "sha256", "authority", "to_day"):
        assert stored[key] == plain[key]
    assert to_passage(written.id, stored) == written


NUMBERS = st.integers(0, 2**32 - 1)
POINTS = st.floats(allow_nan=False)
BOXES = st.none() | st.builds(Box, POINTS, POINTS, POINTS, POINTS)


@given(st.lists(st.builds(Region, NUMBERS, NUMBERS, NUMBERS, BOXES), max_size=5))
def test_regions_come_back_as_they_were_written(regions):
    assert region_codec.decode(region_codec.encode(regions), {}) == tuple(regions)


def test_a_region_has_the_label_of_its_page():
    written = region_codec.encode([Region(0, 5, 7, None), Region(5, 9, 8, None)])
    labels = [region.page_label for region in region_codec.decode(written, {7: "vii"})]
    assert labels == ["vii", ""]
