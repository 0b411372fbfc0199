"""What `verity doctor` makes of what it sees: which thing is wrong, how bad it is, and the mend."""

from datetime import UTC, datetime, timedelta
from importlib import metadata
from ipaddress import ip_address

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from grpc_health.v1 import health_pb2

from cli.checks import certificates, clocks, index, machine, memory, model, policy, serving
from cli.checks.finding import Finding, Level, exit_code
from services.retrieval.index import FIELDS, SCHEMA_VERSION

NOW = datetime(2030, 6, 1, 12, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
ALIAS = f"verity-minilm-l6-int8-384-v{SCHEMA_VERSION}"
SERVING, NOT_SERVING = 1, 2


def key():
    return ec.generate_private_key(ec.SECP256R1())


def certificate(
    own,
    by,
    *,
    issuer="ca",
    subject="x",
    begins=NOW - 9 * DAY,
    ends=NOW + 90 * DAY,
    names=("retrieval", "10.0.0.1"),
):
    def name(text):
        return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])

    held = [x509.IPAddress(ip_address(n)) if n[0].isdigit() else x509.DNSName(n) for n in names]
    made = (
        x509.CertificateBuilder()
        .subject_name(name(subject))
        .issuer_name(name(issuer))
        .public_key(own.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begins)
        .not_valid_after(ends)
    )
    if held:
        made = made.add_extension(x509.SubjectAlternativeName(held), critical=False)
    return made.sign(by, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def pem(private):
    return private.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


OURS, CA, OTHER = key(), key(), key()
OUR_PEM = pem(OURS)
ROOT = certificate(CA, CA, subject="ca", ends=NOW + 900 * DAY)


def files(*, mode=0o600, own=OUR_PEM, ca=ROOT, **fields):
    return certificates.Files(certificate(OURS, CA, **fields), own, ca, mode)


@pytest.mark.parametrize(
    ("held", "names", "level", "says"),
    [
        (files(), ("retrieval",), "ok", "valid until"),
        (files(ends=NOW - 2 * HOUR), (), "failure", "expired 2 hours ago"),
        (files(ends=NOW - 3 * DAY), (), "failure", "expired 3 days ago"),
        (files(begins=NOW + 2 * HOUR), (), "failure", "not valid for another 2 hours"),
        (files(ends=NOW + 3 * DAY), (), "warning", "expires in 3 days"),
        (files(begins=NOW - HOUR, ends=NOW + 23 * HOUR), (), "ok", "valid until"),
        (files(), ("generation",), "failure", "is not for generation"),
        (files(), ("10.0.0.1",), "ok", "valid"),
        (files(names=("*.verity.svc",)), ("retrieval.verity.svc",), "ok", "valid"),
        (files(names=()), (), "failure", "no subject alternative name"),
        (files(mode=0o644), (), "warning", "mode 0644"),
        (files(mode=0o440), (), "ok", "valid"),
        (files(own=pem(OTHER)), (), "failure", "is not the key of"),
        (files(own=b"nonsense"), (), "failure", "no private key"),
        (files(ca=certificate(OTHER, OTHER, subject="ca")), (), "failure", "issued by none of"),
        (files(ca=b"nonsense"), (), "failure", "VERITY_TLS_CA holds no certificate"),
        (certificates.Files(b"nonsense", b"", b""), (), "failure", "holds no certificate in PEM"),
        (
            certificates.Files(None, b"", b""),
            (),
            "failure",
            "VERITY_TLS_CERTIFICATE cannot be read",
        ),
        (certificates.Files(b"", None, b""), (), "failure", "VERITY_TLS_KEY cannot be read"),
    ],
)
def test_a_certificate_that_cannot_be_used_is_told_with_the_mend(held, names, level, says):
    found = certificates.judge("retrieval", held, NOW, names)
    worst(found, level, says)


def worst(found, level, says):
    """The worst finding is of this level and says this; what is wrong has a mend."""
    hit = [one for one in found if says in one.says]
    assert hit, found
    assert hit[0].level == level
    assert exit_code(found) == {"ok": 0, "skipped": 0, "warning": 1, "failure": 2}[level]
    assert all(one.mend for one in found if one.level in ("warning", "failure"))
    assert all("\n" not in one.mend for one in found)


@pytest.mark.parametrize(
    ("offsets", "level", "check", "says"),
    [
        ({"redis": 0.2, "gateway": -0.4}, "ok", "clock", "3 clocks agree"),
        ({"redis": 3600.0}, "failure", "clock of this machine", "60 minutes behind redis"),
        ({"redis": -7200.0}, "failure", "clock of this machine", "2.0 hours ahead of redis"),
        ({"redis": 0.1, "retrieval": 3600.0}, "failure", "clock of retrieval", "60 minutes ahead"),
        ({"redis": 3600.0, "gateway": 3600.2}, "failure", "clock of this machine", "behind most"),
        ({"redis": 0.0, "gateway": 12.0}, "warning", "clock of gateway", "12 s ahead"),
        ({}, "skipped", "clock", "nothing answered"),
    ],
)
def test_the_clock_that_is_off_is_named(offsets, level, check, says):
    found = clocks.judge(offsets)
    worst(found, level, says)
    assert [one.check for one in found] == [check]


@pytest.mark.parametrize(
    ("date", "offset"),
    [
        ("Thu, 01 Jan 1970 00:16:40 GMT", 0.0),  # Cut off to the second: it may well be right.
        ("Thu, 01 Jan 1970 00:16:42 GMT", 0.0),
        ("Thu, 01 Jan 1970 01:16:40 GMT", 3599.5),
        ("Wed, 31 Dec 1969 23:16:40 GMT", -3600.5),
    ],
)
def test_a_date_tells_of_a_clock_no_more_than_its_seconds_do(date, offset):
    assert clocks.by_date(date, 1000.5, 1001.5) == offset


INFO = {"redis_version": "7.2.4", "aof_enabled": 1}


@pytest.mark.parametrize(
    ("info", "policy_", "level", "says"),
    [
        ({}, "noeviction", "ok", "Redis 7.2.4"),
        ({"valkey_version": "9.0.1"}, "noeviction", "ok", "Valkey 9.0.1"),
        ({}, "allkeys-lru", "failure", "maxmemory-policy is allkeys-lru"),
        ({}, "volatile-ttl", "failure", "maxmemory-policy is volatile-ttl"),
        ({}, "", "ok", "Redis"),
        ({"redis_version": "6.0.16"}, "noeviction", "failure", "older than 6.2"),
        ({"aof_enabled": 0}, "noeviction", "warning", "appendonly is off"),
        ({"aof_last_write_status": "err"}, "noeviction", "failure", "AOF could not be written"),
        ({"loading": 1}, "noeviction", "warning", "loading"),
        ({"maxmemory": 100, "used_memory": 95}, "noeviction", "warning", "95% of its maxmemory"),
        ({"role": "slave"}, "noeviction", "failure", "is a replica"),
    ],
)
def test_a_redis_that_would_lose_answers_is_told_with_the_mend(info, policy_, level, says):
    worst(memory.judge(memory.Known({**INFO, **info}, policy_)), level, says)


def server(**fields):
    usual = {
        "aliases": {ALIAS: f"{ALIAS}-2"},
        "collections": [f"{ALIAS}-1", f"{ALIAS}-2"],
        "fields": tuple(FIELDS),
    }
    return index.Found(**{**usual, **fields})


@pytest.mark.parametrize(
    ("found", "level", "says"),
    [
        (server(), "ok", f"names {ALIAS}-2"),
        (server(aliases={}, collections=[]), "failure", "holds no index"),
        (server(aliases={}), "failure", f"the alias {ALIAS} is missing"),
        (
            server(aliases={"verity-old-64-v2": "c"}, collections=["c"]),
            "failure",
            "another model's",
        ),
        (server(collections=[f"{ALIAS}-1"]), "failure", f"{ALIAS}-2, which is missing"),
        (server(refused="It was made for 64 dimensions."), "failure", "64 dimensions"),
        (server(fields=tuple(FIELDS)[1:]), "warning", "does not index tenant"),
        (server(status="red"), "failure", "is red"),
    ],
)
def test_an_index_on_a_server_that_is_missing_or_odd_is_told_with_the_mend(found, level, says):
    worst(index.judge(ALIAS, found), level, says)


def shard(directory, name, *, whole=True):
    (directory / name).mkdir(parents=True)
    (directory / name / "CURRENT").write_text("1")
    if whole:
        (directory / name / "1").mkdir()


@pytest.mark.parametrize(
    ("held", "wanted", "level", "says"),
    [
        ([ALIAS], ALIAS, "ok", "embedded"),
        ([], ALIAS, "failure", "holds no index"),
        (["verity-minilm-l6-int8-384-v1"], ALIAS, "failure", "another version's"),
        ([f"verity-st-abc-64-v{SCHEMA_VERSION}"], "verity-st-abc-", "ok", "embedded"),
        (["verity-st-abc-64-v1"], "verity-st-abc-", "failure", "another version's"),
    ],
)
def test_an_embedded_index_that_is_missing_or_of_another_version_is_told(
    tmp_path, held, wanted, level, says
):
    for name in held:
        shard(tmp_path, name)
    worst(index.embedded(tmp_path, wanted), level, says)


def test_an_embedded_index_whose_current_directory_is_missing_is_told(tmp_path):
    shard(tmp_path, ALIAS, whole=False)
    worst(index.embedded(tmp_path, ALIAS), "failure", "which is missing")


def reply(readiness=SERVING, **dependencies):
    statuses = {"readiness": readiness}
    statuses |= {f"dependency/{name}": status for name, status in dependencies.items()}
    return serving.Reply(statuses, "1.0")


@pytest.mark.parametrize(
    ("told", "level", "says"),
    [
        (reply(), "ok", "serves at"),
        (reply(memory=SERVING), "ok", "serves at"),
        (reply(memory=NOT_SERVING), "failure", "memory, which it cannot use"),
        (reply(NOT_SERVING), "failure", "NOT_SERVING"),
        (serving.Reply(error="no connection"), "failure", "no connection"),
    ],
)
def test_a_service_that_does_not_serve_or_misses_something_is_told(told, level, says):
    worst(serving.judge("orchestrator", "orchestrator:50051", told), level, says)


@pytest.mark.parametrize(
    ("told", "own", "level", "says"),
    [
        ({"a": "1.0", "b": "1.0"}, "1.0", "ok", "all are 1.0"),
        ({"a": "1.0", "b": "1.1", "c": "1.1"}, "1.1", "failure", "a 1.0; the others are 1.1"),
        ({"a": "1.0"}, "1.1", "warning", "this command is 1.1"),
    ],
)
def test_services_of_different_versions_are_told(told, own, level, says):
    replies = {name: serving.Reply(version=version) for name, version in told.items()}
    worst(serving.versions(replies, own), level, says)


@pytest.mark.parametrize(
    ("free", "held", "level"),
    [(50, 1, "ok"), (1.5, 0, "warning"), (50, 60, "warning"), (0.1, 0, "failure")],
)
def test_a_disk_that_fills_is_told(free, held, level):
    worst(machine.judge_room("/data", int(free * 2**30), int(held * 2**30)), level, "GiB")


REQUIRES = ["grpcio<2,>=1.85", "redis>=8; extra == 'orchestrator'", "typer; extra == 'cli'"]


@pytest.mark.parametrize(
    ("installed", "level", "says"),
    [
        ({"grpcio": "1.90.1", "redis": "8.0.1"}, "ok", "orchestrator are installed"),
        ({"grpcio": "1.90.1"}, "failure", "redis is not installed"),
        ({"grpcio": "1.90.1", "redis": "7.9"}, "failure", "redis 7.9 is installed"),
        ({"grpcio": "2.0", "redis": "8"}, "failure", "grpcio 2.0 is installed"),
    ],
)
def test_a_module_that_is_missing_or_of_another_version_is_told(installed, level, says):
    def version(name):
        if name not in installed:
            raise metadata.PackageNotFoundError(name)
        return installed[name]

    worst(machine.modules(["orchestrator"], REQUIRES, version), level, says)


def test_everything_that_this_project_asks_for_is_installed_here():
    worst(machine.modules(["retrieval", "orchestrator", "gateway"]), "ok", "are installed")


@pytest.mark.parametrize(
    ("status", "body", "level", "says"),
    [
        (200, b'{"data": [{"id": "llama"}]}', "ok", "has llama"),
        (200, b'{"data": [{"id": "other"}]}', "warning", "does not list llama"),
        (200, b"hello", "ok", "does not list its models"),
        (404, b"", "ok", "does not list its models"),
        (401, b"", "failure", "refuses the key"),
        (503, b"", "failure", "answers 503"),
        (0, b"", "failure", "nothing answers"),
    ],
)
def test_a_model_that_cannot_be_asked_is_told(status, body, level, says):
    worst([model.judge(status, body, "llama")], level, says)


SAFE = {"auth": "jwt", "profile": "prod", "tls": "files", "bind": "0.0.0.0:50051"}


@pytest.mark.parametrize(
    ("more", "level", "says"),
    [
        ({}, "ok", "only this machine"),
        ({"auth": "none"}, "warning", "may do everything"),
        ({"auth": "", "bind": "127.0.0.1:50051", "tls": None, "profile": "dev"}, "ok", "only this"),
        ({"tls": None}, "warning", "in the clear"),
        ({"profile": "dev"}, "warning", "reflection is on"),
    ],
)
def test_settings_that_let_others_in_unasked_are_told(more, level, says):
    worst(policy.judge({"retrieval": {**SAFE, **more}}), level, says)


def test_services_that_know_callers_in_different_ways_are_told():
    odd = {"retrieval": SAFE, "orchestrator": {**SAFE, "auth": "mtls"}}
    worst(policy.judge(odd), "warning", "in different ways")


def test_text_in_pictures_needs_its_program_and_its_languages(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    worst(machine.ocr("eng", 5), "warning", "not installed")
    program = tmp_path / "tesseract"
    program.write_text("#!/bin/sh\necho 'List of available languages:'\necho eng\n")
    program.chmod(0o755)
    worst(machine.ocr("eng", 5), "ok", "reads eng")
    worst(machine.ocr("eng+deu", 5), "failure", "no data for deu")


def test_a_directory_that_a_setting_names_must_be_there(tmp_path):
    assert machine.directory("VERITY_RERANKER_DIR", str(tmp_path)) == []
    worst(machine.directory("VERITY_RERANKER_DIR", str(tmp_path / "x")), "failure", "no directory")


def test_the_exit_code_is_that_of_the_worst():
    levels = [Level.OK, Level.SKIPPED, Level.WARNING, Level.FAILURE]
    codes = [exit_code([Finding("x", one, "") for one in levels[:n]]) for n in range(5)]
    assert codes == [0, 0, 0, 1, 2]


def test_the_statuses_are_those_of_the_health_service():
    assert health_pb2.HealthCheckResponse.SERVING == SERVING
    assert health_pb2.HealthCheckResponse.NOT_SERVING == NOT_SERVING
