"""What a command says of who calls."""

from cli import rpc
from services.chassis import identity


def test_a_command_sends_the_token_of_its_environment(monkeypatch):
    monkeypatch.setenv("VERITY_TOKEN", "TOKEN")
    with rpc.traced():
        assert identity.forwarded(by_word=True) == {"authorization": "Bearer TOKEN"}


def test_without_one_it_sends_none_whatever_services_are_told(monkeypatch):
    for name, value in (("AUTH", "jwt"), ("PROFILE", "prod"), ("TLS_PEERS", "gateway")):
        monkeypatch.setenv(f"VERITY_{name}", value)
    with rpc.traced():
        assert identity.forwarded(by_word=True) == {}
