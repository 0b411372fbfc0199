"""`verity answers`: answers as they were given, and how well a conversation was grounded."""

from typing import Annotated

import typer
from rich.console import Group
from rich.text import Text
from verity.v1 import grounding_service_pb2 as pb
from verity.v1 import grounding_service_pb2_grpc as rpc_pb

from cli import course, json_view, options, output, render, rpc, system
from cli.ask import SERVICE
from cli.text import clean, plain

IDEMPOTENT = ("GetAnswer", "ListAnswers", "GetGroundingQuality")
PAGE_SIZE = 100

app = typer.Typer(no_args_is_help=True, help="Look answers up as they were given.")

Conversation = Annotated[str, typer.Argument(metavar="CONVERSATION")]
Address = Annotated[
    str, typer.Option(envvar="VERITY_ADDRESS", help="The orchestrator's HOST:PORT.")
]


@app.command("list")
def list_answers(
    conversation: Conversation,
    *,
    address: Address = "",
    data_dir: options.DataDir = options.DEFAULT_DATA_DIR,
    timeout: options.Timeout = 10.0,
    as_json: options.Json = False,
) -> None:
    """The answers of a conversation, newest first."""
    target = system.address("orchestrator", address, data_dir)

    async def work() -> list[pb.ListAnswersResponse]:
        async with rpc.reach(SERVICE, target, idempotent=IDEMPOTENT) as channel:
            request = pb.ListAnswersRequest(conversation_id=conversation, page_size=PAGE_SIZE)
            stub = rpc_pb.GroundingServiceStub(channel)
            return await rpc.pages(stub.ListAnswers, request, timeout)

    found = [answer for page in rpc.run("answers list", work) for answer in page.answers]
    view = {"conversation_id": conversation, "answers": [json_view.answer(a) for a in found]}
    output.show(view, Group(*(_line(answer) for answer in found)), as_json=as_json)


@app.command()
def show(
    answer_id: Annotated[str, typer.Argument(metavar="ID")],
    *,
    address: Address = "",
    data_dir: options.DataDir = options.DEFAULT_DATA_DIR,
    timeout: options.Timeout = 10.0,
    as_json: options.Json = False,
) -> None:
    """One answer, exactly as it was given."""
    target = system.address("orchestrator", address, data_dir)

    async def work() -> pb.GetAnswerResponse:
        async with rpc.reach(SERVICE, target, idempotent=IDEMPOTENT) as channel:
            request = pb.GetAnswerRequest(answer_id=answer_id)
            stub = rpc_pb.GroundingServiceStub(channel)
            reply: pb.GetAnswerResponse = await stub.GetAnswer(request, timeout=timeout)
            return reply

    answer = rpc.run("answers show", work).answer
    rendered = Group(plain(answer.question, "bold"), render.answer(answer))
    output.show(json_view.answer(answer), rendered, as_json=as_json)


@app.command()
def quality(
    conversation: Conversation,
    *,
    address: Address = "",
    data_dir: options.DataDir = options.DEFAULT_DATA_DIR,
    timeout: options.Timeout = 10.0,
    as_json: options.Json = False,
) -> None:
    """The mean grounding confidence of a conversation's last 100 answers."""
    target = system.address("orchestrator", address, data_dir)

    async def work() -> pb.GetGroundingQualityResponse:
        async with rpc.reach(SERVICE, target, idempotent=IDEMPOTENT) as channel:
            request = pb.GetGroundingQualityRequest(conversation_id=conversation)
            call = rpc_pb.GroundingServiceStub(channel).GetGroundingQuality
            reply: pb.GetGroundingQualityResponse = await call(request, timeout=timeout)
            return reply

    reply = rpc.run("answers quality", work)
    rendered = render.confidence(reply.historical_quality)
    rendered.append(f" over {reply.answer_count} answers")
    learned = (*course.documents(reply.failing_documents), *course.strategy(reply.strategy))
    output.show(json_view.quality(reply), Group(rendered, *learned), as_json=as_json)


def _line(answer: pb.Answer) -> Text:
    return Text.assemble(
        (clean(answer.question), "bold"),
        f"\n  {json_view.status(answer.status)}, grounding confidence ",
        render.confidence(answer.confidence.grounding_confidence),
        (f", {clean(answer.id)}", "dim"),
    )
