"""`verity check` against a verification service on a real channel."""

import pytest
from verity.v1 import core_pb2 as core
from verity.v1 import verification_service_pb2 as pb
from verity.v1.verification_service_pb2_grpc import VerificationServiceServicer

from tests.cli_command import served, verity


class FakeVerification(VerificationServiceServicer):
    """Gives the whole text the verdict it was made with."""

    def __init__(self, verdict: core.Verdict, *, needs_check: bool = True) -> None:
        self.verdict, self.needs_check = verdict, needs_check
        self.asked: list[pb.CheckGroundingRequest] = []

    async def CheckGrounding(self, request, context):
        self.asked.append(request)
        statement = core.VerifiedStatement(text=request.answer, verdict=self.verdict)
        claim = pb.CheckedClaim(statement=statement, needs_check=self.needs_check)
        return pb.CheckGroundingResponse(claims=[claim], verifier="fake/1")


@pytest.fixture
def files(tmp_path):
    (tmp_path / "answer.txt").write_text("Es gilt für alle.", "utf-8")
    (tmp_path / "a.txt").write_text("The fee is 5 dollars. It is due on Monday.")
    (tmp_path / "b.md").write_text("Second.")
    (tmp_path / "scan.pdf").write_bytes(b"%PDF-1.7 \xff\xfe")
    return tmp_path


CHECK = ("check", "--answer", "answer.txt", "--source", "a.txt", "--source", "b.md")


async def test_a_supported_text_is_exit_code_0(files):
    fake = FakeVerification(core.VERDICT_SUPPORTED)
    async with served("VerificationService", fake) as address:
        done = await verity(*CHECK, "--json", "--address", address, cwd=files)
    assert done.code == 0
    assert done.json["claims"][0]["verdict"] == "SUPPORTED"
    assert done.json["verifier"] == "fake/1"
    (request,) = fake.asked
    assert request.answer == "Es gilt für alle."
    assert [(fact.source_name, fact.text) for fact in request.facts] == [
        ("a.txt", "The fee is 5 dollars. It is due on Monday."),
        ("b.md", "Second."),
    ]


@pytest.mark.parametrize("verdict", [core.VERDICT_UNSUPPORTED, core.VERDICT_UNCHECKED])
async def test_any_other_verdict_is_exit_code_3(files, verdict):
    async with served("VerificationService", FakeVerification(verdict)) as address:
        done = await verity(*CHECK, "--address", address, cwd=files)
    assert done.code == 3
    assert "Es gilt für alle." in done.stdout


async def test_a_sentence_that_states_nothing_needs_no_support(files):
    async with served("VerificationService", FakeVerification(0, needs_check=False)) as address:
        done = await verity(*CHECK, "--address", address, cwd=files)
    assert done.code == 0
    assert "states nothing: Es gilt für alle." in done.stdout


async def test_the_text_may_come_from_standard_input(files):
    fake = FakeVerification(core.VERDICT_SUPPORTED)
    async with served("VerificationService", fake) as address:
        await verity(
            "check", "--answer", "-", "--source", "a.txt", cwd=files, stdin="So it is.",
            VERITY_VERIFICATION_ADDRESS=address,
        )  # fmt: skip
    assert fake.asked[0].answer == "So it is."


async def test_a_source_that_is_no_text_is_named(files):
    done = await verity("check", "--answer", "answer.txt", "--source", "scan.pdf", cwd=files)
    assert done.code == 1
    assert "scan.pdf is not text in UTF-8." in done.stderr


async def test_a_file_that_is_not_there_is_named(files):
    done = await verity("check", "--answer", "gone", "--source", "a.txt", "--json", cwd=files)
    assert done.code == 1
    assert done.json["error"]["message"] == "gone cannot be read: No such file or directory."


async def test_a_given_address_where_nobody_listens_is_an_error_and_not_replaced(files):
    done = await verity(*CHECK, "--address", "127.0.0.1:1", cwd=files)
    assert done.code == 1
    assert "Nothing answers for VerificationService" in done.stderr


async def test_without_a_system_a_verifier_is_started_for_the_one_call(files):
    (files / "answer.txt").write_text("The fee is 5 dollars.")
    done = await verity("check", "--answer", "answer.txt", "--source", "a.txt", "--json", cwd=files)
    assert done.code == 0, done.json
    assert done.json["claims"][0]["citations"][0]["source_name"] == "a.txt"
    assert not (files / "var").exists()
