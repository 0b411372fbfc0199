"""`verity doctor` beside real services, a real Redis and a real directory of an index."""

import asyncio
import time
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from email.utils import formatdate

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from verity.v1 import grounding_service_pb2_grpc as grounding
from verity.v1 import retrieval_service_pb2_grpc as retrieval
from verity.v1 import verification_service_pb2_grpc as verification

from cli import surroundings
from cli.checks.finding import Level, exit_code
from cli.examination import Doctor
from services.retrieval.onnx import OnnxEmbedder
from services.retrieval.qdrant_edge import open_edge_index
from tests.cli_command import served, verity
from tests.stores import Store

CANARY = "canary-2718"
SERVICERS = {
    "orchestrator": ("GroundingService", grounding.GroundingServiceServicer),
    "retrieval": ("RetrievalService", retrieval.RetrievalServiceServicer),
    "verification": ("VerificationService", verification.VerificationServiceServicer),
}


@pytest.fixture
def store(tmp_path):
    directory = tmp_path / "redis"
    directory.mkdir()
    with Store(directory) as running:
        yield running


@asynccontextmanager
async def services():
    """Where the services answer, as settings."""
    async with AsyncExitStack() as stack:
        found = {}
        for name, (full, servicer) in SERVICERS.items():
            address = await stack.enter_async_context(served(full, servicer()))
            found[f"VERITY_{name.upper()}_TARGET"] = address
        # Whether it serves is all that is asked of it.
        found["VERITY_GENERATION_TARGET"] = found["VERITY_VERIFICATION_TARGET"]
        yield found


@asynccontextmanager
async def gateway(*, ahead=0.0):
    """A gateway that is ready and whose clock is so many seconds ahead."""

    async def answer(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        date = formatdate(time.time() + ahead, usegmt=True)
        head = (
            f"HTTP/1.1 200 OK\r\nDate: {date}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{{}}"
        )
        writer.write(head.encode())
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def indexed(directory):
    async with open_edge_index(
        directory / "index", model=OnnxEmbedder.model, dimensions=OnnxEmbedder.dimensions
    ) as index:
        await index.prepare()


def expired(now):
    """The three files of TLS, of a certificate that is its own CA."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "verity")])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=9))
        .not_valid_after(now - timedelta(days=3))
        .sign(key, hashes.SHA256())
        .public_bytes(serialization.Encoding.PEM)
    )
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return {"certificate": certificate, "key": private, "ca": certificate}


@pytest.fixture
def examined(tmp_path, store, monkeypatch):
    """What the doctor says of a system that is well but for what is said here."""

    async def examine(*, ahead=0.0, **environment):
        async with services() as targets, gateway(ahead=ahead) as address:
            usual = {"VERITY_REDIS_URL": store.url, "VERITY_DATA_DIR": str(tmp_path / "data")}
            for name, value in {**usual, **targets, **environment}.items():
                monkeypatch.setenv(name, value)
            told = surroundings.all_told(tmp_path)
            findings = await Doctor(told, {}, address, 5.0).look()
        assert CANARY not in str(findings)
        return findings

    return examine


def bad(findings):
    """What it calls broken; each with its mend."""
    found = [one for one in findings if one.level is Level.FAILURE]
    assert all(one.mend for one in found)
    return {one.check: one for one in found}


async def test_a_system_that_is_well_has_nothing_to_mend(tmp_path, examined):
    await indexed(tmp_path / "data")
    done = await examined()
    assert bad(done) == {}
    said = {one.check: one for one in done}
    for check in ("index", "redis policy", "redis version", "versions", "gateway", "clock"):
        assert said[check].level is Level.OK
    assert "clocks agree" in said["clock"].says


async def test_a_redis_that_evicts_is_named_with_the_mend(tmp_path, store, examined):
    await indexed(tmp_path / "data")
    with store.client() as client:
        client.config_set("maxmemory-policy", "allkeys-lru")
    done = await examined()
    assert exit_code(done) == 2
    assert set(bad(done)) == {"redis policy"}
    assert "noeviction" in bad(done)["redis policy"].mend


async def test_a_missing_index_is_named_with_the_mend(examined):
    done = await examined()
    assert set(bad(done)) == {"index"}
    assert "ingest" in bad(done)["index"].mend


async def test_a_clock_off_by_an_hour_is_named_with_the_mend(tmp_path, examined):
    await indexed(tmp_path / "data")
    done = await examined(ahead=3600.0)
    assert set(bad(done)) == {"clock of gateway"}
    assert "60 minutes ahead" in bad(done)["clock of gateway"].says
    assert "NTP" in bad(done)["clock of gateway"].mend


async def test_a_secret_that_cannot_be_read_is_named_and_none_is_printed(tmp_path):
    secrets = tmp_path / "secrets"
    (secrets / "VERITY_QDRANT_API_KEY").mkdir(parents=True)
    (secrets / "OPENAI_API_KEY").write_text(CANARY)
    done = await verity(
        "doctor", "--json", "--timeout", "1", cwd=tmp_path,
        VERITY_SECRETS_DIR=str(secrets), VERITY_PASWORD=CANARY,
        VERITY_REDIS_URL=f"redis://user:{CANARY}@127.0.0.1:1/0",
        OPENAI_BASE_URL=f"http://user:{CANARY}@127.0.0.1:1/v1", VERITY_MODEL="llama",
    )  # fmt: skip
    assert done.code == done.json["exit_code"] == 2
    assert CANARY not in done.stdout + done.stderr
    found = {(one["check"], one["level"]): one["says"] for one in done.json["findings"]}
    says = "VERITY_QDRANT_API_KEY: its file cannot be read"
    assert found["retrieval settings", "failure"].startswith(says)
    assert "VERITY_PASWORD is no setting" in found["settings", "warning"]


async def test_what_is_down_is_named_with_the_mend(tmp_path, examined):
    await indexed(tmp_path / "data")
    done = await examined(
        VERITY_REDIS_URL=f"redis://user:{CANARY}@127.0.0.1:1/0",
        VERITY_RETRIEVAL_TARGET="127.0.0.1:1",
        OPENAI_API_KEY=CANARY,
        VERITY_MODEL="llama",
        OPENAI_BASE_URL="http://127.0.0.1:1/v1",
    )
    assert set(bad(done)) == {"redis", "retrieval", "model"}
    assert "VERITY_REDIS_URL" in bad(done)["redis"].mend


async def test_an_expired_certificate_is_named_with_the_mend(tmp_path, examined):
    await indexed(tmp_path / "data")
    now = datetime.now(UTC)
    for name, content in expired(now).items():
        (tmp_path / name).write_bytes(content)
        (tmp_path / name).chmod(0o600)
    told = {
        f"VERITY_TLS_{name.upper()}": str(tmp_path / name) for name in ("certificate", "key", "ca")
    }
    (found,) = [one for one in await examined(**told) if "expired 3 days ago" in one.says]
    assert (found.check, found.level) == ("tls certificate", Level.FAILURE)
    assert found.mend.startswith("renew it")
