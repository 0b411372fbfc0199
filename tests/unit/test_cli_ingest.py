"""Which files are meant by what the user typed."""

from pathlib import Path

import pytest
from verity.v1 import core_pb2 as core
from verity.v1 import retrieval_service_pb2 as pb

from cli import manifest, samples
from cli.errors import CliError
from cli.files import described, expand, left_out
from cli.ingest import Outcome, _left_out


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name in ("b.pdf", "a.MD", "sub/c.txt", "image.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names(*paths: str) -> list[str]:
    return [str(path) for path in expand(paths)]


def test_a_folder_gives_its_documents_at_any_depth_in_order(folder):
    assert names(".") == ["a.MD", "b.pdf", "sub/c.txt"]


def test_a_file_that_is_named_is_taken_whatever_it_is_called(folder):
    assert names("image.png") == ["image.png"]


def test_a_pattern_the_shell_left_alone_is_matched(folder):
    assert names("*.pdf", str(folder / "sub" / "*")) == ["b.pdf", str(folder / "sub" / "c.txt")]


def test_a_pattern_that_nothing_matches_is_kept_to_fail_by_its_name(folder):
    assert names("b.pdf", "typo/*.pdf") == ["b.pdf", "typo/*.pdf"]


def test_what_is_hidden_or_beside_an_open_document_is_not_sent(folder):
    for name in (".git/x.md", ".a.txt", "._b.pdf", "~$b.docx", "__MACOSX/b.pdf", "Thumbs.db"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("x")
    assert names(".") == ["a.MD", "b.pdf", "sub/c.txt"]
    assert names("*.pdf", "*.docx") == ["b.pdf", "*.docx"]
    assert names(".a.txt", ".*.txt", ".git") == [".a.txt", ".git/x.md"]
    sent = described(expand(["."]), pb.IngestMetadata())
    assert left_out(["."], sent) == [Path("image.png")]


def test_what_is_left_out_of_a_folder_is_counted_by_what_it_ends_in(folder):
    for name in ("x.rtf", "sub/y.RTF", "z.csv", "LICENSE"):
        (folder / name).write_text("x")
    (folder / "corpus.yaml").write_text("documents: [{file: z.csv}]")
    others = left_out([".", "sub"], described(expand(["."]), pb.IngestMetadata()))
    assert [line.plain for line in _left_out(others)] == [
        "- left out, of kinds that are not read in folders: 2 .rtf, 1 without an ending, 1 .png"
    ]
    assert list(_left_out([])) == []


def test_a_name_with_brackets_is_a_file_before_it_is_a_pattern(folder):
    Path("report[1].md").write_text("x")
    assert names("report[1].md") == ["report[1].md"]


def test_each_file_is_taken_once(folder):
    assert names("b.pdf", "*.pdf", "b.pdf") == ["b.pdf"]


def test_a_file_that_is_not_there_is_kept_to_fail_by_its_name(folder):
    assert names("missing.pdf", "b.pdf") == ["missing.pdf", "b.pdf"]


def test_a_line_says_how_many_pages_could_not_be_read():
    document = core.Document(source_name="scan.pdf", version=1, page_count=60, passage_count=9)
    end = pb.IngestDocumentResponse.Result(outcome="OUTCOME_CREATED", document=document)
    assert Outcome(Path("scan.pdf"), end).line().plain == (
        "✓ scan.pdf created, version 1, 60 pages, 9 passages"
    )
    document.pages_without_text.extend(range(17, 61))
    end = pb.IngestDocumentResponse.Result(outcome="OUTCOME_CREATED", document=document)
    assert Outcome(Path("scan.pdf"), end).line().plain == (
        "✓ scan.pdf created, version 1, 60 pages, 9 passages, 44 pages without text"
    )


def test_the_sample_corpus_is_read_with_what_is_said_of_each_document():
    files = {file.path.name: file.metadata for file in samples.files()}
    policy = files["Global_AML_Policy_2026.pdf"]
    assert policy.document_type == "policy"
    assert policy.authority == 3
    assert policy.effective_from == "2026-01-01"
    assert policy.effective_to == ""
    assert "aml" in policy.tags
    assert all(file.path.is_file() for file in samples.files())


def test_a_missing_sample_corpus_is_an_error_that_names_it(tmp_path):
    with pytest.raises(CliError, match=r"corpus\.yaml cannot be read: No such file"):
        samples.files(tmp_path / "corpus.yaml")


def test_a_manifest_speaks_for_its_files_and_the_command_line_for_the_others(folder):
    (folder / "corpus.yaml").write_text("documents: [{file: b.pdf, type: law}]")
    files = described(expand(["."]), pb.IngestMetadata(document_type="note", tags=["x"]))
    said = {str(f.path): (f.metadata.document_type, list(f.metadata.tags)) for f in files}
    assert said == {"a.MD": ("note", ["x"]), "b.pdf": ("law", ["x"]), "sub/c.txt": ("note", ["x"])}


def test_a_manifest_that_is_named_brings_its_own_files_only(folder):
    (folder / "corpus.yaml").write_text("documents: [{file: sub/c.txt, tags: []}]")
    (file,) = described(expand(["corpus.yaml"]), pb.IngestMetadata(tags=["x"]))
    assert (str(file.path), list(file.metadata.tags)) == ("sub/c.txt", [])


def test_a_manifest_may_give_a_document_another_name_than_its_files(folder):
    (folder / "corpus.yaml").write_text("documents: [{file: sub/c.txt, source_name: c 2024.txt}]")
    files = described(expand(["."]), pb.IngestMetadata())
    assert sorted(file.name for file in files) == ["a.MD", "b.pdf", "c 2024.txt"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "has no list of documents"),
        ("documents: {}", "has no list of documents"),
        ("documents: [{type: law}]", "names no file in entry 1"),
        ("documents: [a.md]", "names no file in entry 1"),
        ("documents: [{file: ../../etc/passwd}]", "outside its folder"),
        ("documents: [{file: /etc/passwd}]", "outside its folder"),
        ("documents: [{file: a, authorty: HIGH}]", "what is not known here: authorty"),
        ("documents: [{file: a, authority: TOP}]", "an authority that is none: TOP"),
        ("documents: [{file: a, tags: x}]", "tags that are no list"),
        ("documents: [", "is no YAML"),
        ("!!python/object/apply:os.system [ls]", "is no YAML"),
    ],
)
def test_a_manifest_that_is_wrong_is_an_error_that_says_where(tmp_path, text, words):
    path = tmp_path / "corpus.yaml"
    path.write_text(text)
    with pytest.raises(CliError) as caught:
        manifest.read(path)
    assert words in str(caught.value)
