"""`verity answers`: answers as they were given, and how well a conversation was grounded."""

from typing import Annotated

import typer
from rich.console import Group
from rich.text import Text
from verity.v1 import grounding_service_pb2 as pb

from cli import course, json_view, options, output, render, rpc, system
from cli.ask import SERVICE
from cli.text import clean, plain

PAGE_SIZE = 100

app = typer.Typer(no_args_is_help=True, help="Look answers up as they were given.")

Conversation = Annotated[str, typer.Argument(metavar="CONVERSATION")]


@app.command("list")
def list_answers(
    conversation: Conversation,
    *,
    address: options.OrchestratorAddress = "",
    data_dir: options.DataDir = options.DEFAULT_DATA_DIR,
    timeout: options.Timeout = 10.0,
    as_json: options.Json = False,
) -> None:
    """The answers of a conversation, newest first."""
    target = system.address("orchestrator", address, data_dir)
    request = pb.ListAnswersRequest(conversation_id=conversation, page_size=PAGE_SIZE)
    pages: list[pb.ListAnswersResponse] = rpc.ask(
        "answers list", SERVICE, target, lambda stub: rpc.pages(stub.ListAnswers, request, timeout)
    )
    found = [answer for page in pages for answer in page.answers]
    view = {"conversation_id": conversation, "answers": [json_view.answer(a) for a in found]}
    output.show(view, Group(*(_line(answer) for answer in found)), as_json=as_json)


@app.command()
def show(
    answer_id: Annotated[str, typer.Argument(metavar="ID")],
    *,
    address: options.OrchestratorAddress = "",
    data_dir: options.DataDir = options.DEFAULT_DATA_DIR,
    timeout: options.Timeout = 10.0,
    as_json: options.Json = False,
) -> None:
    """One answer, exactly as it was given."""
    target = system.address("orchestrator", address, data_dir)
    request = pb.GetAnswerRequest(answer_id=answer_id)
    reply: pb.GetAnswerResponse = rpc.ask(
        "answers show", SERVICE, target, lambda stub: stub.GetAnswer(request, timeout=timeout)
    )
    answer = reply.answer
    rendered = Group(plain(answer.question, "bold"), render.answer(answer))
    output.show(json_view.answer(answer), rendered, as_json=as_json)


@app.command()
def quality(
    conversation: Conversation,
    *,
    address: options.OrchestratorAddress = "",
    data_dir: options.DataDir = options.DEFAULT_DATA_DIR,
    timeout: options.Timeout = 10.0,
    as_json: options.Json = False,
) -> None:
    """The mean grounding confidence of a conversation's last 100 answers."""
    target = system.address("orchestrator", address, data_dir)
    request = pb.GetGroundingQualityRequest(conversation_id=conversation)
    reply: pb.GetGroundingQualityResponse = rpc.ask(
        "answers quality",
        SERVICE,
        target,
        lambda stub: stub.GetGroundingQuality(request, timeout=timeout),
    )
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
