"""What several files of tests call; a file that needs another has its own."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from retrieval_parts import put_together
from retrieval_stores import opened_stores, quick_directory
from verity.v1.verification_service_pb2_grpc import (
    VerificationServiceStub,
    add_VerificationServiceServicer_to_server,
)

from services.chassis.client import channel
from services.chassis.server import Service, serving
from services.chassis.settings import Settings
from services.verification.scoring import Weights
from services.verification.servicer import VerificationServicer
from services.verification.verifier import Verifier

VERIFICATION = "verity.v1.VerificationService"
DEADLINES = {"Verify": 30.0, "CheckGrounding": 60.0, "ScoreConfidence": 5.0}


@pytest.fixture
def directory():
    with quick_directory() as directory:
        yield directory


@pytest.fixture(params=opened_stores(), ids=lambda store: store.__name__)
async def index(request, directory):
    """Each kind of store in turn."""
    async with request.param(directory) as index:
        yield index


@pytest.fixture
async def parts(index, directory):
    async with put_together(index, directory) as parts:
        yield parts


@pytest.fixture
async def stub():
    """VerificationService over a real channel."""
    with ThreadPoolExecutor(2) as executor:
        service = Service(
            VERIFICATION,
            add_VerificationServiceServicer_to_server,
            VerificationServicer(Verifier(executor, 0.6), Weights()),
            DEADLINES,
        )
        async with (
            serving(service, Settings()) as running,
            channel(running.address, service=VERIFICATION, idempotent=list(DEADLINES)) as opened,
        ):
            yield VerificationServiceStub(opened)
