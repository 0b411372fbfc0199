"""The process builds the drafter that its settings name, or does not start."""

import pydantic
import pytest

from services.generation.__main__ import Settings, open_drafter


@pytest.fixture(autouse=True)
def _no_endpoint_from_the_shell(monkeypatch):
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


async def test_without_a_word_the_drafter_is_extractive():
    async with open_drafter(Settings()) as drafter:
        assert drafter.generator == "extractive/1"


async def test_three_variables_are_all_that_a_model_needs(monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:8080/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("VERITY_MODEL", "small-model")
    settings = Settings()
    assert "sk-secret" not in str(settings.printable())
    async with open_drafter(settings) as drafter:
        assert drafter.generator == "openai:small-model/prompt-2"


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"VERITY_BACKEND": "openai"}, "VERITY_MODEL"),
        ({"VERITY_BACKEND": "oracle"}, "backend"),
        ({"VERITY_EXTRACTIVE_CUT": "1.5"}, "extractive_cut"),
        ({"VERITY_STRUCTURED_OUTPUT": "yaml"}, "structured_output"),
        ({"VERITY_PROMPT": "../../etc/passwd"}, "prompt"),
    ],
)
def test_a_setting_that_does_not_fit_ends_the_process_at_start(variables, said, monkeypatch):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(pydantic.ValidationError, match=said):
        Settings()
