"""A model that is down, through the real generation servicer, extractor and verifier."""

from concurrent.futures import ThreadPoolExecutor

import nupunkt
import pytest
from fakes import RULE, FakeMemory, FakeRetrieval, InProcess, passage
from opentelemetry.sdk.metrics import MeterProvider
from verity.v1 import grounding_service_pb2 as grounding

from services.chassis.errors import Overloaded, Unavailable
from services.generation.drafter import Citation, Resolution, Statement
from services.generation.extractive import ExtractiveDrafter, Extractor, Rules
from services.generation.servicer import GenerationServicer
from services.orchestrator.asking import Asker, Limits
from services.orchestrator.graph import Agents, Budgets, build
from services.orchestrator.measures import Measures
from services.verification.scoring import Weights
from services.verification.servicer import VerificationServicer
from services.verification.verifier import Verifier

QUESTION = "What must a corporate entity with a UBO above 25% equity submit?"
SAID = Statement("A UBO above 25% equity is meant.", (Citation("p1", "a UBO above 25% equity"),))


class BrokenModel:
    """Says some statements, and then fails."""

    generator = "openai:m/prompt-2"

    def __init__(self, error, *statements):
        self.error = error
        self.statements = statements
        self.tasks = []

    async def stream(self, task):
        self.tasks.append(task)
        for one in self.statements:
            yield one
        raise self.error

    async def resolve(self, question, history):
        return Resolution(question)


@pytest.fixture
def ask():
    """Asks with this model, and this setting."""
    with ThreadPoolExecutor(1) as executor:

        async def asked(model, *, fallback):
            extractor = Extractor(nupunkt.load("default"), Rules())
            extractive = ExtractiveDrafter(extractor, executor)
            agents = Agents(
                retrieval=FakeRetrieval(passage()),
                generation=InProcess(GenerationServicer(model, extractive)),
                verification=InProcess(VerificationServicer(Verifier(executor, 0.6), Weights())),
                memory=FakeMemory(),
                budgets=Budgets(5, 5, 5, 5),
                measures=Measures(MeterProvider().get_meter("test")),
                fallback=fallback,
            )
            asker = Asker(build().compile(), agents, Limits(max_attempts=3, passages=8))
            return await asker.ask("t", grounding.AskRequest(question=QUESTION))

        yield asked


@pytest.mark.parametrize("error", [Unavailable("down"), Overloaded("spent", retry_after=60)])
async def test_the_setting_says_whether_the_sources_answer_in_the_models_stead(ask, error):
    model = BrokenModel(error)
    with pytest.raises(type(error)):
        await ask(model, fallback=False)
    answer = await ask(model, fallback=True)
    assert answer.degraded
    assert [s.text for s in answer.statements] == [RULE]
    assert answer.generator == "extractive/1"
    assert len(model.tasks) == 2


async def test_what_the_model_said_before_it_failed_stays_and_is_not_said_again(ask):
    answer = await ask(BrokenModel(Unavailable("down"), SAID), fallback=True)
    assert answer.degraded
    assert answer.statements[0].text == SAID.text
    assert len({s.text for s in answer.statements}) == len(answer.statements)
    answer = await ask(BrokenModel(Unavailable("down"), SAID), fallback=False)
    assert answer.status == grounding.Answer.STATUS_PARTIAL
    assert [s.text for s in answer.statements] == [SAID.text]
    assert not answer.degraded
