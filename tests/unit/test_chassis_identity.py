"""Who calls, by token and by certificate, as rules alone."""

import json

import pytest
from google.protobuf import descriptor_pool
from verity.v1 import (
    generation_service_pb2,
    grounding_service_pb2,
    retrieval_service_pb2,
    verification_service_pb2,
)

from services.chassis import access, identity
from services.chassis.errors import PermissionDenied, Unauthenticated
from services.chassis.identity import Caller, Claims
from services.chassis.settings import Settings

SERVICES = (
    generation_service_pb2,
    grounding_service_pb2,
    retrieval_service_pb2,
    verification_service_pb2,
)
METHODS = sorted(
    f"{service.full_name}/{method.name}"
    for file in SERVICES
    for service in file.DESCRIPTOR.services_by_name.values()
    for method in service.methods
)
ANN = Caller("ann", "acme", frozenset({"ask"}), frozenset({"desk"}), "TOKEN")


@pytest.mark.parametrize("method", METHODS)
def test_every_method_says_which_scope_it_needs(method):
    assert access.scopes(method)
    assert access.scopes(method) <= {"ask", "ingest", "read", "admin"}


def test_a_method_that_says_no_scope_is_for_nobody():
    assert access.scopes("verity.v1.RetrievalService/Nothing") == frozenset()
    assert access.scopes("no.such.Service/Nothing") == frozenset()
    with pytest.raises(PermissionDenied):
        identity.permit(ANN, frozenset())


def test_one_of_the_scopes_is_enough_and_another_is_not():
    identity.permit(ANN, {"ask", "read"})
    with pytest.raises(PermissionDenied, match="admin"):
        identity.permit(ANN, {"admin"})


def test_a_scope_is_a_whole_word():
    with pytest.raises(PermissionDenied):
        identity.permit(Caller("ann", "acme", frozenset({"asking"}), frozenset()), {"ask"})


@pytest.mark.parametrize("scopes", ["ask read", ["ask", "read"], ["ask", "read", 7, ""]])
def test_scopes_are_a_text_or_a_list(scopes):
    claims = {"sub": "ann", "tenant": "acme", "scope": scopes, "groups": ["a b"]}
    found = identity.of_claims(claims, Claims(), "T")
    assert found == Caller("ann", "acme", frozenset({"ask", "read"}), frozenset({"a b"}), "T")


@pytest.mark.parametrize("said", [None, 7, {"ask": True}])
def test_what_is_no_list_of_scopes_or_groups_is_none(said):
    claims = {"sub": "ann", "tenant": "acme", "scope": said, "groups": said}
    found = identity.of_claims(claims, Claims(), "")
    assert (found.scopes, found.groups) == (frozenset(), frozenset())


@pytest.mark.parametrize("tenant", [None, "", "a/b", "a" * 65, ["acme"], "acme\n", "a:b", "{a}"])
def test_an_identity_without_a_tenant_may_do_nothing(tenant):
    with pytest.raises(PermissionDenied):
        identity.of_claims({"sub": "ann", "tenant": tenant, "scope": "ask"}, Claims(), "")


@pytest.mark.parametrize("subject", [None, "", 7, "a" * 256])
def test_an_identity_without_a_subject_is_none(subject):
    with pytest.raises(Unauthenticated):
        identity.of_claims({"sub": subject, "tenant": "acme"}, Claims(), "")


@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer ", "Basic YTpi", "token"])
def test_what_is_no_bearer_token_is_none(header):
    with pytest.raises(Unauthenticated):
        identity.bearer(header)


def test_the_scheme_is_read_in_any_case():
    assert identity.bearer("bearer abc") == "abc"


def test_outside_of_a_call_there_is_nobody():
    with pytest.raises(LookupError):
        identity.caller()
    assert identity.forwarded(by_word=True) == {}


def test_the_token_is_passed_on_and_the_word_only_between_services():
    with identity.calling(ANN):
        assert identity.caller() is ANN
        assert identity.forwarded(by_word=False) == {"authorization": "Bearer TOKEN"}
        told = identity.forwarded(by_word=True)
    assert identity.of_word(told[identity.WORD]) == Caller("ann", "acme", ANN.scopes, ANN.groups)


def test_nobodys_word_is_given_where_nobody_is_asked():
    with identity.calling(Caller("", "default", None, None)):
        assert identity.forwarded(by_word=True) == {}


@pytest.mark.parametrize(
    "word", [b"", b"{}", b"[]", b"null", b'{"subject": "a"}', b"\xff", b"[" * 9000]
)
def test_a_word_of_another_form_is_no_word(word):
    with pytest.raises(Unauthenticated):
        identity.of_word(word)


def test_a_word_cannot_widen_what_it_says():
    word = {"subject": "a", "tenant": "acme", "scopes": None, "groups": None}
    found = identity.of_word(json.dumps(word).encode())
    assert (found.scopes, found.groups) == (frozenset(), frozenset())


def test_a_caller_does_not_print_its_token():
    assert "TOKEN" not in repr(ANN)


TLS = {"tls_certificate": "c", "tls_key": "k", "tls_ca": "a"}
JWT = {"auth": "jwt", "jwt_issuer": "i", "jwt_audience": "a", "jwks": "f"}


@pytest.mark.parametrize(
    ("told", "named"),
    [
        ({"profile": "prod"}, "VERITY_AUTH"),
        ({**JWT, "jwks": ""}, "VERITY_JWKS"),
        ({**JWT, "jwt_issuer": ""}, "VERITY_JWT_ISSUER"),
        ({**JWT, "jwt_audience": ""}, "VERITY_JWT_AUDIENCE"),
        ({**JWT, "jwks": "http://issuer/keys"}, "https"),
        ({**JWT, "jwks": "ftp://issuer/keys"}, "https"),
        ({**JWT, "jwt_algorithms": "RS256,none"}, "only these"),
        ({**JWT, "jwt_algorithms": "HS256"}, "only these"),
        ({**JWT, "jwt_algorithms": ""}, "only these"),
        ({"auth": "mtls"}, "VERITY_TLS_CERTIFICATE"),
        ({"auth": "mtls", **TLS}, "VERITY_CALLERS_FILE"),
        ({"auth": "mtls", **TLS, "callers_file": "f", "tls_client_certificates": "none"}, "client"),
        ({"tls_certificate": "c"}, "together"),
        ({"tls_certificate": "c", "tls_key": "k"}, "together"),
        ({"tls_peers": "gateway"}, "VERITY_TLS_PEERS"),
        ({"tenant": "a b"}, "tenant"),
        ({"auth": "basic"}, "auth"),
    ],
)
def test_settings_that_do_not_fit_together_are_refused_by_name(told, named):
    with pytest.raises(ValueError, match=named):
        Settings(**told)


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"profile": "prod", "auth": "none"},
        {"profile": "prod", **JWT},
        {**JWT, "jwks": "https://issuer/keys"},
        {**JWT, "jwks": "http://127.0.0.1:8080/keys"},
        {**JWT, **TLS, "tls_client_certificates": "none"},
        {"auth": "mtls", **TLS, "callers_file": "f"},
        {"auth": "mtls", **TLS, "tls_peers": "gateway,orchestrator"},
    ],
)
def test_settings_that_fit_together_are_taken(told):
    Settings(**told)


def test_every_service_that_is_described_is_covered():
    pool = descriptor_pool.Default()
    assert {method.partition("/")[0] for method in METHODS} == {
        pool.FindServiceByName(f"verity.v1.{name}Service").full_name
        for name in ("Generation", "Grounding", "Retrieval", "Verification")
    }
