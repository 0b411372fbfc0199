"""Files that cannot be documents: each a typed error, and nothing is half-ingested."""

import io

import pytest
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas


def pdf(*lines, encrypt=None):
    buffer = io.BytesIO()
    canvas = Canvas(buffer, encrypt=encrypt)
    for number, line in enumerate(lines):
        canvas.drawString(72, 720 - 20 * number, line)
    canvas.showPage()
    canvas.save()
    return buffer.getvalue()


BAD = {
    "notes.pdf": (b"Just words, whatever the name says.\n", "TYPE_MISMATCH"),
    "empty.pdf": (b"", "EMPTY_FILE"),
    "secret.pdf": (pdf("Hidden.", encrypt=StandardEncryption("key")), "ENCRYPTED_FILE"),
    "torn.pdf": (pdf("Torn apart.")[:300], "DAMAGED_FILE"),
    "blank.pdf": (pdf(), "NO_TEXT"),
    "picture.png": (b"\x89PNG\r\n\x1a\n" + bytes(64), "UNSUPPORTED_TYPE"),
}


def documents(system):
    return system.run("documents", "list")[1]


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_cannot_be_read_is_refused_by_reason_and_leaves_nothing(system, tmp_path, name):
    content, reason = BAD[name]
    path = tmp_path / name
    path.write_bytes(content)
    before = documents(system)

    code, result = system.run("ingest", str(path))

    assert code == 1
    assert result["files"][0]["error"]["code"] == "INVALID_ARGUMENT"
    assert result["files"][0]["error"]["reason"] == reason
    assert documents(system) == before


def test_a_file_over_the_limit_is_refused_before_it_is_read_to_its_end(system, tmp_path):
    path = tmp_path / "huge.txt"
    with path.open("wb") as file:
        file.truncate(65 * 2**20)
    before = documents(system)

    code, result = system.run("ingest", str(path))

    assert code == 1
    assert result["files"][0]["error"]["reason"] == "TOO_LARGE"
    assert documents(system) == before


def test_a_file_is_ingested_once_found_by_a_question_and_gone_when_it_is_deleted(system, tmp_path):
    path = tmp_path / "Retention_Rule.md"
    path.write_text(
        "# Retention rule\n\n## 7.3 Quarantine of zebra ledgers\n\n"
        "Zebra ledgers must be quarantined for 4,211 days after closure.\n"
    )
    question = "For how many days must zebra ledgers be quarantined?"

    created = system.run("ingest", str(path))[1]["files"][0]
    again = system.run("ingest", str(path))[1]["files"][0]
    answer = system.run("ask", question)[1]
    deleted = system.run("documents", "delete", created["document"]["document_id"])
    silent = system.run("ask", question)[1]

    assert (created["outcome"], again["outcome"]) == ("CREATED", "UNCHANGED")
    assert again["document"]["document_id"] == created["document"]["document_id"]
    assert "4,211 days" in answer["answer"]
    assert answer["statements"][0]["citations"][0]["section_id"] == "7.3"
    assert deleted[0] == 0
    assert silent["status"] == "ABSTAINED"
