"""TLS between services: names checked at both ends, certificates changed under load, health."""

import asyncio
import json
import ssl
from contextlib import asynccontextmanager

import grpc
import pytest
from authority import Authority, serial, settings_of
from cryptography import x509
from grpc_health.v1 import health_pb2, health_pb2_grpc
from issuer import Issuer
from observed import eventually
from probe import KINDS, NAME, Client, service
from verity.v1 import generation_service_pb2 as pb

from services.chassis import identity
from services.chassis.certificates import Files, channel_credentials
from services.chassis.client import channel
from services.chassis.reloading import Channel
from services.chassis.server import serving
from services.chassis.settings import Settings
from tests.gateway_parts import gateway

Code = grpc.StatusCode
SERVING = health_pb2.HealthCheckResponse.SERVING
ANN = identity.Caller("ann", "acme", frozenset({"ask"}), frozenset({"desk"}))


@pytest.fixture
def authority(tmp_path):
    return Authority(tmp_path / "certificates")


async def callers_tenant(request, context):
    one = identity.caller()
    return pb.GenerateResponse(generator=f"{one.subject} of {one.tenant}")


@asynccontextmanager
async def probing(settings, tls, act=callers_tenant):
    async with (
        serving(service(act), settings) as running,
        channel(running.address, service=NAME, idempotent=(), tls=tls) as opened,
    ):
        await running.warming
        yield Client(opened, running)


async def test_services_with_certificates_of_the_ca_call_each_other(authority):
    own = Settings(**settings_of(authority.issue("retrieval")))
    async with probing(own, authority.issue("gateway")) as call:
        [reply] = await call("Unary")
    assert reply.generator == " of default"


async def test_a_client_without_a_certificate_or_in_the_clear_is_turned_away(authority):
    tls = authority.issue("retrieval")
    async with serving(service(callers_tenant), Settings(**settings_of(tls))) as running:
        await running.warming
        ca = grpc.ssl_channel_credentials(tls.ca.read_bytes())
        for made in (
            grpc.aio.secure_channel(running.address, ca),
            grpc.aio.insecure_channel(running.address),
        ):
            async with made as foreign:
                assert (await Client(foreign).failure("Unary")).code() is Code.UNAVAILABLE


async def test_a_certificate_of_another_ca_is_none_at_either_end(authority, tmp_path):
    tls, other = authority.issue("retrieval"), Authority(tmp_path / "other").issue("gateway")
    async with probing(Settings(**settings_of(tls)), other) as call:
        assert (await call.failure("Unary", timeout=5)).code() is Code.UNAVAILABLE


async def test_a_server_under_another_name_is_not_believed(authority):
    # It has a good certificate, for another host.
    tls = authority.issue("retrieval", hosts=["127.0.0.9"])
    async with probing(Settings(**settings_of(tls)), authority.issue("gateway")) as call:
        assert (await call.failure("Unary", timeout=5)).code() is Code.UNAVAILABLE


async def test_only_named_services_may_call_and_the_token_is_wanted_too(authority, tmp_path):
    issuer = Issuer(tmp_path)
    own = issuer.settings(**settings_of(authority.issue("retrieval")), tls_peers="gateway,other")
    good = (("authorization", f"Bearer {issuer.token(scopes=['ask'])}"),)
    async with probing(own, authority.issue("gateway")) as call:
        await call("Unary", metadata=good)
        assert (await call.failure("Unary")).code() is Code.UNAUTHENTICATED
    async with probing(own, authority.issue("generation")) as call:
        assert (await call.failure("Unary", metadata=good)).code() is Code.PERMISSION_DENIED


async def test_callers_with_tokens_need_no_certificate_where_none_is_asked_for(authority, tmp_path):
    issuer = Issuer(tmp_path)
    tls = authority.issue("orchestrator")
    own = issuer.settings(**settings_of(tls), tls_client_certificates="none")
    async with serving(service(callers_tenant), own) as running:
        await running.warming
        ca = grpc.ssl_channel_credentials(tls.ca.read_bytes())
        async with grpc.aio.secure_channel(running.address, ca) as foreign:
            good = (("authorization", f"Bearer {issuer.token()}"),)
            await Client(foreign)("Unary", metadata=good)
            assert (await Client(foreign).failure("Unary")).code() is Code.UNAUTHENTICATED


@pytest.mark.parametrize("method", KINDS)
async def test_a_caller_is_known_by_its_certificate_and_an_unknown_one_is_refused(
    authority, tmp_path, method
):
    file = tmp_path / "callers.json"
    file.write_text(
        json.dumps(
            {
                "spiffe://bank/desk": {"tenant": "bank", "scopes": ["ask"]},
                "reader.bank": {"tenant": "bank", "scopes": ["read"]},
            }
        )
    )
    tls = authority.issue("orchestrator")
    own = Settings(auth="mtls", callers_file=file, **settings_of(tls))
    for name, wanted in (
        ("spiffe://bank/desk", None),
        ("reader.bank", Code.PERMISSION_DENIED),
        ("nobody", Code.UNAUTHENTICATED),
    ):
        async with probing(own, authority.issue(name)) as call:
            if wanted:
                assert (await call.failure(method)).code() is wanted
            else:
                replies = await call(method)
                assert replies[-1].generator == "spiffe://bank/desk of bank"


async def test_a_neighbour_speaks_for_its_caller_and_nobody_else_does(authority, tmp_path):
    file = tmp_path / "callers.json"
    file.write_text(json.dumps({"desk": {"tenant": "bank", "scopes": ["ask"]}}))
    tls = authority.issue("retrieval")
    own = Settings(auth="mtls", tls_peers="orchestrator", callers_file=file, **settings_of(tls))
    async with probing(own, authority.issue("orchestrator")) as call:
        with identity.calling(ANN):
            [reply] = await call("Unary")
        assert reply.generator == "ann of acme"
        # Without a caller it is nobody: its own certificate names none.
        assert (await call.failure("Unary")).code() is Code.UNAUTHENTICATED
    for name in ("desk", "gateway"):
        async with probing(own, authority.issue(name)) as call:
            with identity.calling(ANN):
                assert (await call.failure("Unary")).code() is Code.PERMISSION_DENIED


async def test_a_caller_with_a_certificate_is_known_two_services_on(authority, tmp_path):
    file = tmp_path / "callers.json"
    said = {"tenant": "bank", "scopes": ["ask"], "groups": ["desk"]}
    file.write_text(json.dumps({"desk": said}))
    seen = []

    async def last(request, context):
        seen.append(identity.caller())
        return pb.GenerateResponse()

    mtls = {"auth": "mtls", "tls_peers": "orchestrator"}
    behind = Settings(**mtls, **settings_of(authority.issue("retrieval")))
    middle = authority.issue("orchestrator")
    async with probing(behind, middle, last) as inner:

        async def act(request, context):
            await inner("BothStreams")
            return pb.GenerateResponse()

        front = Settings(auth="mtls", callers_file=file, **settings_of(middle))
        async with probing(front, authority.issue("desk"), act) as call:
            await call("Unary")
        # The same caller is nobody to the one behind: its certificate is no neighbour's.
    async with probing(behind, authority.issue("desk"), last) as direct:
        assert (await direct.failure("Unary")).code() is Code.UNAUTHENTICATED
    assert seen == [identity.Caller("desk", "bank", frozenset({"ask"}), frozenset({"desk"}))]


async def test_the_gateway_verifies_tokens_for_services_that_take_its_word(authority, tmp_path):
    issuer = Issuer(tmp_path)
    behind = Settings(auth="mtls", tls_peers="gateway", **settings_of(authority.issue("retrieval")))
    front = issuer.settings(**settings_of(authority.issue("gateway")))
    async with gateway(settings=front, behind=behind) as running:
        good = {"authorization": f"Bearer {issuer.token(scopes=['read'])}"}
        assert (await running.client.get("/v1/documents")).status_code == 401
        assert (await running.client.get("/v1/documents", headers=good)).status_code == 200
        reply = await running.client.post("/v1/ask", headers=good, json={"question": "q"})
        assert reply.status_code == 403


async def test_the_file_of_callers_is_followed_and_a_broken_one_changes_nothing(
    authority, tmp_path
):
    file = tmp_path / "callers.json"
    file.write_text(json.dumps({"desk": {"tenant": "bank", "scopes": ["ask"]}}))
    own = Settings(auth="mtls", callers_file=file, **settings_of(authority.issue("orchestrator")))
    async with probing(own, authority.issue("desk")) as call:
        await call("Unary")
        file.write_text("{")
        await call("Unary")
        file.write_text("{}")
        assert (await call.failure("Unary")).code() is Code.UNAUTHENTICATED


async def test_certificates_changed_under_load_fail_no_call_and_are_used(authority):
    server, client = authority.issue("retrieval"), authority.issue("gateway")
    old = serial(client)
    seen = set()

    async def act(request, context):
        await asyncio.sleep(0.002)  # So that some are always under way.
        [pem] = context.auth_context()["x509_pem_cert"]
        seen.add(x509.load_pem_x509_certificate(pem).serial_number)
        return pb.GenerateResponse()

    own = Settings(**settings_of(server))
    files = Files(client)
    async with serving(service(act), own) as running:
        await running.warming

        def made(material):
            return grpc.aio.secure_channel(running.address, channel_credentials(material))

        async with Channel(files, made, look_seconds=0) as opened:
            stop = asyncio.Event()

            async def load():
                calls = 0
                while not stop.is_set():
                    await Client(opened)("Unary")
                    await Client(opened)("BothStreams", "a", "b")
                    calls += 2
                return calls

            callers = [asyncio.create_task(load()) for _ in range(6)]
            assert await eventually(lambda: seen == {old})
            assert await served_by(running.address) == serial(server)
            for _ in range(3):
                authority.issue("retrieval")
                authority.issue("gateway")
                assert await eventually(lambda: serial(client) in seen)
                assert await served_by(running.address) == serial(server)
            stop.set()
            calls = await asyncio.gather(*callers)
        assert min(calls) > 0
        assert len(seen) == 4


async def served_by(address):
    """The serial number of the certificate that a new connection is met with."""
    host, _, port = address.rpartition(":")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    _, writer = await asyncio.open_connection(host, int(port), ssl=context)
    data = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    writer.close()
    return x509.load_der_x509_certificate(data).serial_number


async def test_a_stream_that_is_open_while_the_certificate_changes_ends_as_it_began(authority):
    go = asyncio.Event()
    client = authority.issue("gateway")

    async def act(request, context):
        if request.question == "wait":
            await go.wait()
        return pb.GenerateResponse(generator=request.question)

    async with serving(
        service(act), Settings(**settings_of(authority.issue("retrieval")))
    ) as running:

        def made(material):
            return grpc.aio.secure_channel(running.address, channel_credentials(material))

        async with Channel(Files(client), made, look_seconds=0) as opened:
            call = Client(opened).start("BothStreams", "first", "wait", timeout=20)
            replies = aiter(call)
            assert (await anext(replies)).generator == "first"
            authority.issue("gateway")
            await Client(opened)("Unary")
            await Client(opened)("Unary")
            go.set()
            assert (await anext(replies)).generator == "wait"
            with pytest.raises(StopAsyncIteration):
                await anext(replies)


def test_half_a_change_leaves_the_last_good_in_use(authority, caplog):
    tls = authority.issue("retrieval")
    files = Files(tls)
    good = files.current()
    other = authority.issue("other")
    for file, data in (
        (tls.key, other.key.read_bytes()),
        (tls.certificate, b"nothing"),
        (tls.ca, b"nothing"),
    ):
        before = file.read_bytes()
        file.write_bytes(data)
        assert files.current() is good
        file.write_bytes(before)
        assert files.current() == good
        good = files.current()
    assert caplog.text.count("certificate_not_reloaded") == 3
    tls.key.unlink()
    assert files.current() is good
    new = authority.issue("retrieval")
    assert files.current().certificate == new.certificate.read_bytes()


def test_an_expired_certificate_is_not_taken_up_and_is_none_at_the_start(authority):
    tls = authority.issue("retrieval")
    files = Files(tls)
    good = files.current()
    authority.issue("retrieval", days=-1)
    assert files.current() is good
    with pytest.raises(ValueError, match="VERITY_TLS_CERTIFICATE has expired"):
        Files(tls)


@pytest.mark.parametrize("name", ["certificate", "key", "ca"])
def test_a_file_that_cannot_be_read_ends_the_start_by_its_name(authority, name):
    tls = authority.issue("retrieval")
    getattr(tls, name).unlink()
    with pytest.raises(ValueError, match=f"VERITY_TLS_{name.upper()}"):
        Files(tls)


@pytest.mark.parametrize(("profile", "warned"), [("prod", True), ("dev", False)])
async def test_calls_in_the_clear_are_warned_of_in_production(caplog, profile, warned):
    async with serving(service(callers_tenant), Settings(profile=profile, auth="none")):
        pass
    assert ("calls_in_the_clear" in caplog.text) is warned


async def test_health_has_a_port_of_its_own_in_the_clear_and_nothing_else_there(authority):
    own = Settings(health_bind="127.0.0.1:0", **settings_of(authority.issue("retrieval")))
    async with serving(service(callers_tenant), own) as running:
        await running.warming
        async with grpc.aio.insecure_channel(running.health) as probe:
            stub = health_pb2_grpc.HealthStub(probe)
            for name in ("", "liveness", "readiness", NAME):
                request = health_pb2.HealthCheckRequest(service=name)
                assert (await stub.Check(request, timeout=5)).status == SERVING
            for method in KINDS:
                assert (await Client(probe).failure(method)).code() is Code.UNIMPLEMENTED


async def test_health_is_answered_on_its_port_until_the_drain_is_over():
    server = serving(
        service(callers_tenant), Settings(health_bind="127.0.0.1:0", drain_seconds=0.1)
    )
    running = await server.__aenter__()
    await running.warming
    async with grpc.aio.insecure_channel(running.health) as probe, asyncio.timeout(20):
        request = health_pb2.HealthCheckRequest(service="readiness")
        watch = aiter(health_pb2_grpc.HealthStub(probe).Watch(request))
        assert (await anext(watch)).status == SERVING
        stopping = asyncio.create_task(server.__aexit__(None, None, None))
        assert (await anext(watch)).status == health_pb2.HealthCheckResponse.NOT_SERVING
        await stopping
