"""Tokens, good and bad, at every RPC, every kind of call, over gRPC and over HTTP."""

import asyncio
import base64
import hashlib
import hmac
import json
import logging
import time
from contextlib import asynccontextmanager

import grpc
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from google.protobuf.message_factory import GetMessageClass
from issuer import EVERYTHING, Issuer
from opentelemetry.trace import SpanKind
from probe import KINDS, Client, probing
from verity.v1 import generation_service_pb2 as pb

from services.chassis import access, identity
from services.chassis.errors import Unauthenticated, Unavailable
from services.chassis.keys import Keys
from services.chassis.settings import Settings
from services.gateway.twins import all_twins
from tests.gateway_parts import gateway

Code = grpc.StatusCode
UNKNOWN, DENIED = Code.UNAUTHENTICATED, Code.PERMISSION_DENIED
HTTP = {UNKNOWN: 401, DENIED: 403}


def unsigned(issuer, alg):
    """A token whose header says so, with no signature."""
    header, payload, _ = issuer.token().split(".")
    said = json.loads(base64.urlsafe_b64decode(header + "=="))
    return f"{encoded({**said, 'alg': alg})}.{payload}."


def encoded(value):
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def signed_with_the_public_key(issuer):
    """HS256, with what everybody knows as the secret."""
    public = issuer.key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    payload = issuer.token().split(".")[1]
    body = f"{encoded({'alg': 'HS256', 'typ': 'JWT', 'kid': issuer.kid})}.{payload}"
    return f"{body}.{encoded(hmac.digest(public, body.encode(), hashlib.sha256))}"


def signed_by(key, algorithm, issuer):
    claims = jwt.decode(issuer.token(), options={"verify_signature": False})
    return jwt.encode(claims, key, algorithm, headers={"kid": issuer.kid})


def tampered(issuer):
    header, payload, signature = issuer.token(tenant="acme").split(".")
    said = json.loads(base64.urlsafe_b64decode(payload + "=="))
    return f"{header}.{encoded({**said, 'tenant': 'other'})}.{signature}"


def critical(issuer):
    claims = jwt.decode(issuer.token(), options={"verify_signature": False})
    headers = {"kid": issuer.kid, "crit": ["exp"], "exp": 1}
    return jwt.encode(claims, issuer.key, "ES256", headers=headers)


now = time.time
# Name: (how the token is made, what it comes to).
BAD = {
    "none": (lambda issuer: None, UNKNOWN),
    "empty": (lambda issuer: "", UNKNOWN),
    "no token at all": (lambda issuer: "x", UNKNOWN),
    "very long": (lambda issuer: "x" * 5000, UNKNOWN),
    "expired": (lambda issuer: issuer.token(exp=int(now()) - 60), UNKNOWN),
    "without an end": (lambda issuer: issuer.token(exp=None), UNKNOWN),
    "not valid yet": (lambda issuer: issuer.token(nbf=int(now()) + 600), UNKNOWN),
    "for another audience": (lambda issuer: issuer.token(aud="other"), UNKNOWN),
    "for nobody": (lambda issuer: issuer.token(aud=None), UNKNOWN),
    "from another issuer": (lambda issuer: issuer.token(iss="https://other.test"), UNKNOWN),
    "from nobody": (lambda issuer: issuer.token(iss=None), UNKNOWN),
    "of nobody": (lambda issuer: issuer.token(subject=None), UNKNOWN),
    "alg none": (lambda issuer: unsigned(issuer, "none"), UNKNOWN),
    "alg None": (lambda issuer: unsigned(issuer, "None"), UNKNOWN),
    "alg ES256 without a signature": (lambda issuer: unsigned(issuer, "ES256"), UNKNOWN),
    "HS256 with the public key": (signed_with_the_public_key, UNKNOWN),
    "of another key": (
        lambda issuer: signed_by(ec.generate_private_key(ec.SECP256R1()), "ES256", issuer),
        UNKNOWN,
    ),
    "of another kind of key": (
        lambda issuer: signed_by(rsa.generate_private_key(65537, 2048), "RS256", issuer),
        UNKNOWN,
    ),
    "tampered with": (tampered, UNKNOWN),
    "critical in an unknown way": (critical, UNKNOWN),
    "without a tenant": (lambda issuer: issuer.token(tenant=None), DENIED),
    "of a tenant that is no name": (lambda issuer: issuer.token(tenant="a/../b"), DENIED),
    "without a scope": (lambda issuer: issuer.token(scopes=()), DENIED),
}


def headers(token):
    return () if token is None else (("authorization", f"Bearer {token}".strip()),)


async def outcome(channel, twin, token):
    """How one RPC ends, at its first reply or without one."""
    many_requests, many_replies = twin.rpc.client_streaming, twin.rpc.server_streaming
    kind = f"{'stream' if many_requests else 'unary'}_{'stream' if many_replies else 'unary'}"
    request = twin.request
    method = getattr(channel, kind)(
        f"/{twin.name}",
        request_serializer=request.SerializeToString,
        response_deserializer=GetMessageClass(twin.output).FromString,
    )
    sent = iter([request()]) if many_requests else request()
    call = method(sent, timeout=10, metadata=headers(token))
    try:
        async for _ in call if many_replies else one(call):
            break
    except grpc.aio.AioRpcError as error:
        return error.code(), error.details()
    finally:
        call.cancel()
    return Code.OK, ""


async def one(call):
    yield await call


@asynccontextmanager
async def known(act, issuer):
    """A probe that has the issuer's keys, and a client of it."""
    async with probing(act, issuer.settings()) as call:
        await call.running.warming
        yield call


def is_let_in(code):
    """Past the check of who calls; the empty request breaks other rules."""
    return code in {Code.OK, Code.INVALID_ARGUMENT}


async def test_no_rpc_lets_a_bad_token_in_and_each_lets_in_its_own_scopes_over_grpc_and_http(
    tmp_path, caplog
):
    caplog.set_level(logging.INFO)
    issuer = Issuer(tmp_path)
    tokens = {name: (make(issuer), code) for name, (make, code) in BAD.items()}
    async with gateway(settings=issuer.settings()) as running:
        for twin in all_twins():
            needed = access.scopes(twin.name)
            wrong = [scope for scope in EVERYTHING if scope not in needed]
            own = {
                **tokens,
                "of the other scopes": (issuer.token(scopes=wrong), DENIED),
                **{
                    f"of the scope {scope}": (issuer.token(scopes=[scope]), None)
                    for scope in needed
                },
            }
            async with grpc.aio.insecure_channel(running.addresses[twin.service]) as channel:
                for name, (token, wanted) in own.items():
                    code, said = await outcome(channel, twin, token)
                    assert is_let_in(code) if wanted is None else code is wanted, (twin, name)
                    assert not token or len(token) < 20 or token not in said
            for name, (token, wanted) in own.items():
                reply = await over_http(running, twin, token)
                if wanted is None:
                    assert reply.status_code not in {401, 403}, (twin, name, reply.text)
                else:
                    assert reply.status_code == HTTP[wanted], (twin, name, reply.text)
                    assert reply.json()["code"] == wanted.name
                    challenge = reply.headers.get("www-authenticate")
                    assert (challenge is not None) is (wanted is UNKNOWN)
    logged = str([record.__dict__ for record in caplog.records])
    assert "eyJ" not in logged
    assert "acme" not in logged
    assert "'ann'" not in logged


async def over_http(running, twin, token):
    sent = dict(headers(token))
    path = twin.path
    for field in twin.path_fields:
        path = path.replace("{" + field + "}", "x")
    options = {"json": {}} if twin.verb == "POST" else {}
    if twin.rpc.client_streaming:
        options = {"files": {"file": ("a.txt", b"text", "text/plain")}}
    return await running.client.request(twin.verb, path, headers=sent, **options)


@pytest.mark.parametrize("path", ["/grounded_query", "/grounded_query/stream"])
async def test_the_flat_question_wants_a_token_too(tmp_path, path):
    issuer = Issuer(tmp_path)
    asked = {"conversation_id": "c", "query": "q"}
    async with gateway(settings=issuer.settings()) as running:
        assert (await running.client.post(path, json=asked)).status_code == 401
        for scopes, wanted in (((), 403), (("read",), 403), (("ask",), 200)):
            sent = {"authorization": f"Bearer {issuer.token(scopes=scopes)}"}
            reply = await running.client.post(path, json=asked, headers=sent)
            assert reply.status_code == wanted, reply.text


async def test_the_page_image_wants_a_token_and_the_page_and_the_probes_do_not(tmp_path):
    issuer = Issuer(tmp_path)
    async with gateway(settings=issuer.settings()) as running:
        image = "/v1/documents/d/pages/1.png"
        assert (await running.client.get(image)).status_code == 401
        sent = {"authorization": f"Bearer {issuer.token(scopes=['read'])}"}
        assert (await running.client.get(image, headers=sent)).status_code == 200
        for path in ("/healthz", "/readyz", "/openapi.json"):
            assert (await running.client.get(path)).status_code == 200


@pytest.mark.parametrize("method", KINDS)
async def test_each_kind_of_call_is_refused_before_a_request_is_read(tmp_path, method):
    issuer = Issuer(tmp_path)
    seen = []

    async def act(request, context):
        seen.append(identity.caller())
        return pb.GenerateResponse()

    async with known(act, issuer) as call:
        for name, (make, wanted) in BAD.items():
            token = make(issuer)
            error = await call.failure(method, metadata=headers(token))
            assert error.code() is wanted, name
        assert not seen
        good = issuer.token("ann", "acme", ["ask"], ["desk"])
        await call(method, metadata=headers(good))
        assert seen[-1] == identity.Caller(
            "ann", "acme", frozenset({"ask"}), frozenset({"desk"}), good
        )
        wrong = await call.failure(method, metadata=headers(issuer.token(scopes=["read"])))
        assert wrong.code() is DENIED


async def test_a_token_of_hundreds_of_groups_is_let_in_and_a_longer_one_is_refused(tmp_path):
    issuer, seen = Issuer(tmp_path), []

    async def act(request, context):
        seen.append(len(identity.caller().groups))
        return pb.GenerateResponse()

    groups = [f"{number:032x}" for number in range(300)]
    async with known(act, issuer) as call:
        long = issuer.token(groups=groups)
        assert len(long) > 12_000
        for _ in range(20):  # A limit that is a chance would show.
            await call("Unary", metadata=headers(long))
        longer = issuer.token(groups=groups + groups)
        assert (await call.failure("Unary", metadata=headers(longer))).code() is UNKNOWN
    assert seen == [300] * 20


@pytest.mark.parametrize("answer", ["keys", "redirect", "missing", "page"])
async def test_keys_are_read_from_where_the_setting_says_and_nowhere_else(tmp_path, answer):
    issuer = Issuer(tmp_path)
    asked = []

    async def answered(reader, writer):
        asked.append((await reader.readline()).decode())
        said = {
            "keys": b"HTTP/1.1 200 OK\r\n\r\n" + issuer.jwks.read_bytes(),
            "redirect": b"HTTP/1.1 302 Found\r\nLocation: /other\r\n\r\n",
            "missing": b"HTTP/1.1 404 Not Found\r\n\r\n",
            "page": b"HTTP/1.1 200 OK\r\n\r\n<html>",
        }[answer]
        writer.write(said)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answered, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        async with Keys(f"http://127.0.0.1:{port}/keys").running() as keys:
            if answer == "keys":
                assert (await keys.get(issuer.kid))["kid"] == issuer.kid
            else:
                with pytest.raises(Unavailable):
                    await keys.get(issuer.kid)
    assert {line.split()[1] for line in asked} == {"/keys"}


async def test_what_a_client_says_of_itself_counts_for_nothing(tmp_path):
    issuer = Issuer(tmp_path)
    seen = []

    async def act(request, context):
        seen.append(identity.caller().tenant)
        return pb.GenerateResponse()

    word = {"subject": "eve", "tenant": "other", "scopes": ["ask"], "groups": []}
    more = ((identity.WORD, json.dumps(word).encode()), ("x-tenant", "other"), ("tenant", "other"))
    async with known(act, issuer) as call:
        assert (await call.failure("Unary", metadata=more)).code() is UNKNOWN
        await call("Unary", metadata=(*headers(issuer.token()), *more))
    assert seen == ["acme"]


async def test_no_header_of_a_request_over_http_goes_inward(tmp_path):
    issuer = Issuer(tmp_path)
    async with gateway(settings=issuer.settings()) as running:
        sent = {"authorization": f"Bearer {issuer.token()}", "x-tenant": "other", "tenant": "other"}
        sent[identity.WORD] = base64.b64encode(b"{}").decode()
        reply = await running.client.get("/v1/documents", headers=sent)
        assert reply.status_code == 200


async def test_health_is_answered_unasked_and_says_when_keys_are_there(tmp_path):
    issuer = Issuer(tmp_path)

    async def act(request, context):
        return pb.GenerateResponse()

    keys = issuer.jwks.read_text()
    issuer.jwks.unlink()
    async with probing(act, issuer.settings()) as call:
        async with grpc.aio.insecure_channel(call.running.address) as foreign:
            error = await Client(foreign).failure("Unary", metadata=headers(issuer.token()))
        assert error.code() is Code.UNAVAILABLE
        assert not call.running.warming.done()
        issuer.jwks.write_text(keys)
        await call.running.warming
        await call("Unary", metadata=headers(issuer.token()))


async def test_a_key_that_is_new_is_found_and_one_that_is_gone_is_refused(tmp_path):
    old, clock = Issuer(tmp_path, "old"), [0.0]
    reads = []

    def read(place, seconds):
        reads.append(place)
        return old.jwks.read_bytes()

    async with Keys(str(old.jwks), read=read, clock=lambda: clock[0]).running() as keys:
        await keys.ready()
        assert (await keys.get("old"))["kid"] == "old"
        new = Issuer(tmp_path, "new")  # Writes the same file.
        clock[0] = 100.0
        assert (await keys.get("new"))["kid"] == new.kid
        with pytest.raises(Unauthenticated):
            await keys.get("old")


async def test_unknown_keys_have_them_read_once_in_a_while_and_never_at_once():
    reads, clock = [], [0.0]
    first = json.dumps({"keys": [{"kty": "EC", **_point("a")}]}).encode()

    def read(place, seconds):
        reads.append(place)
        return first

    async with Keys("file", read=read, clock=lambda: clock[0]).running() as keys:
        await keys.ready()
        before = len(reads)
        unknown = [keys.get(f"kid-{n}") for n in range(50)]
        results = await asyncio.gather(*unknown, return_exceptions=True)
        assert all(isinstance(result, Unauthenticated) for result in results)
        assert len(reads) == before + 1
        clock[0] = 11.0
        with pytest.raises(Unauthenticated):
            await keys.get("kid-0")
        assert len(reads) == before + 2


async def test_the_last_keys_hold_while_others_cannot_be_read():
    good = json.dumps({"keys": [{"kty": "EC", **_point("a")}]}).encode()
    answers = [good, b"<html>", b'{"keys": []}', b"[" * 9000, OSError("down")]
    clock = [0.0]

    def read(place, seconds):
        answer = answers.pop(0)
        if isinstance(answer, OSError):
            raise answer
        return answer

    async with Keys("file", read=read, clock=lambda: clock[0]).running() as keys:
        await keys.ready()
        while answers:
            clock[0] += 11
            with pytest.raises(Unauthenticated):
                await keys.get("b")
            assert await keys.get("a")


async def test_without_any_keys_nobody_can_be_known_and_a_retry_may_help():
    def read(place, seconds):
        raise OSError("down")

    async with Keys("file", read=read).running() as keys:
        with pytest.raises(Unavailable):
            await keys.get("a")


async def test_a_shared_secret_among_public_keys_is_no_key():
    secret = {"kty": "oct", "kid": "s", "k": encoded(b"secret" * 8), "alg": "HS256"}
    encryption = {"kty": "EC", **_point("e"), "use": "enc"}
    data = json.dumps({"keys": [secret, encryption, {"kty": "EC", **_point("a")}]}).encode()
    async with Keys("file", read=lambda place, seconds: data).running() as keys:
        await keys.ready()
        for kid in ("s", "e"):
            with pytest.raises(Unauthenticated):
                await keys.get(kid)
        assert (await keys.get(None))["kid"] == "a"


def _point(kid):
    public = jwt.algorithms.ECAlgorithm.to_jwk(
        ec.generate_private_key(ec.SECP256R1()).public_key(), as_dict=True
    )
    return {**public, "kid": kid}


async def test_where_nobody_is_asked_everybody_is_let_in_and_the_log_says_so(caplog):
    seen = []

    async def act(request, context):
        seen.append(identity.caller())
        return pb.GenerateResponse()

    async with probing(act, Settings(tenant="mine")) as call:
        await call("Unary")
    assert seen == [identity.Caller("", "mine", None, None)]
    assert "authentication_is_off" in caplog.text


async def test_no_span_and_no_measurement_says_who_called(tmp_path, observed):
    issuer = Issuer(tmp_path)

    async def act(request, context):
        return pb.GenerateResponse()

    async with known(act, issuer) as call:
        token = issuer.token("subject-canary", "tenant-canary", ["ask"], ["group-canary"])
        for method in KINDS:
            await call(method, metadata=headers(token))
            await call.failure(method, metadata=headers(issuer.token("subject-canary", "a", [])))
        spans = await observed.ended(8, SpanKind.SERVER)
    seen = [span.to_json() for span in (*spans, *observed.spans)]
    for metric in ("rpc.server.call.duration", "rpc.client.call.duration"):
        points = observed.points(metric)
        assert points
        seen += [str(point.attributes) for point in points]
    assert not [one for one in seen if "canary" in one or token[:20] in one]


async def test_the_callers_token_is_passed_on_to_the_next_service(tmp_path):
    issuer = Issuer(tmp_path)
    seen = []

    async def last(request, context):
        seen.append(identity.caller().subject)
        return pb.GenerateResponse()

    async with known(last, issuer) as behind:

        async def act(request, context):
            # On another task, as the graph does it.
            await asyncio.create_task(_call(behind))
            return pb.GenerateResponse()

        async with known(act, issuer) as front:
            await asyncio.gather(
                *(
                    front("Unary", metadata=headers(issuer.token(subject)))
                    for subject in ("ann", "bob", "cat")
                )
            )
    assert sorted(seen) == [name for name in ("ann", "bob", "cat") for _ in range(3)]


async def _call(behind: Client):
    await behind("ServerStream")
