"""What stands beside a passage in its section."""

from services.retrieval.document import Chunk
from services.retrieval.surroundings import beside


def parts(*sections):
    return [Chunk(n, n + 1, 1, number, headings) for n, (number, headings) in enumerate(sections)]


def test_parts_are_beside_each_other_where_they_follow_in_one_section():
    one, other = ("1", ("Scope",)), ("2", ("Scope",))
    assert beside(parts(one, one, one, other, one)) == [(1,), (0, 2), (1,), (), ()]


def test_sections_of_one_number_under_other_headings_are_others():
    assert beside(parts(("1", ("Scope",)), ("1", ("Annex",)))) == [(), ()]


def test_a_document_without_headings_is_one_section():
    assert beside(parts(("", ()), ("", ()))) == [(1,), (0,)]
    assert beside([]) == []
