"""What the tests of manifests share: each set of them, rendered once."""

import shutil

import pytest

from tests.manifests.rendered import ALL, render


@pytest.fixture(autouse=True)
def _kubectl_renders():
    if shutil.which("kubectl") is None:
        pytest.skip("kubectl, which renders the manifests, is not on PATH")


@pytest.fixture(params=ALL, ids=str)
def combination(request):
    return request.param


@pytest.fixture
def documents(combination):
    return render(combination)
