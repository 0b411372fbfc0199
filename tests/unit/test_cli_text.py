"""Untrusted text cannot style or steer a terminal."""

import io

from rich.console import Console
from verity.v1 import core_pb2 as core
from verity.v1 import grounding_service_pb2 as grounding
from verity.v1 import verification_service_pb2 as verification

from cli import render
from cli.text import clean, plain

HOSTILE = "[bold red]x[/] \x1b[2J\x1b]0;owned\x07\x9b31m\u202egnp.exe\u2066\r\nfake: ok\x7f"


def printed(rendered) -> str:
    console = Console(file=io.StringIO(), width=200, force_terminal=True, color_system=None)
    console.print(rendered)
    return console.file.getvalue()


def assert_harmless(output: str) -> None:
    assert "[bold red]x[/]" in output
    assert not set(output) & set("\x1b\x07\x9b\u202e\u2066\r\x7f")


def test_control_characters_are_dropped_and_line_breaks_become_spaces():
    assert clean("a\x1b[31mb\x00\n\tc\u200bd\u2028") == "a[31mb cd"


def test_square_brackets_are_text_and_not_markup():
    assert printed(plain("[red]quoted[/red] :smile:")) == "[red]quoted[/red] :smile:\n"


def test_every_untrusted_part_of_an_answer_is_harmless():
    reason = core.Reason(code=1, message=HOSTILE, closest_text=HOSTILE)
    citation = core.Citation(quote=HOSTILE, source_name=HOSTILE, section_id=HOSTILE, page_number=1)
    statement = core.VerifiedStatement(text=HOSTILE, verdict=1, citations=[citation])
    objection = core.Objection(
        attempt=1, statement=core.DraftStatement(text=HOSTILE), verdict=3, reasons=[reason]
    )
    answer = grounding.Answer(
        statements=[statement],
        objections=[objection],
        generator=HOSTILE,
        verifier=HOSTILE,
        conversation_id=HOSTILE,
        id=HOSTILE,
        trace_id=HOSTILE,
        stage_timings=[core.StageTiming(stage=HOSTILE)],
    )
    assert_harmless(printed(render.answer(answer)))


def test_every_untrusted_part_of_an_abstention_is_harmless():
    miss = core.Passage(source_name=HOSTILE, text=HOSTILE, page_number=1)
    answer = grounding.Answer(
        text=HOSTILE,
        abstention=core.Abstention(type=1, message=HOSTILE),
        search=core.SearchReport(collection=HOSTILE, query=HOSTILE, nearest_misses=[miss]),
    )
    assert_harmless(printed(render.answer(answer)))


def test_every_untrusted_part_of_a_check_is_harmless():
    statement = core.VerifiedStatement(
        text=HOSTILE,
        verdict=3,
        reasons=[core.Reason(code=1, message=HOSTILE)],
        citations=[core.Citation(quote=HOSTILE, source_name=HOSTILE)],
    )
    claims = [
        verification.CheckedClaim(statement=statement, needs_check=needed)
        for needed in (True, False)
    ]
    reply = verification.CheckGroundingResponse(claims=claims, verifier=HOSTILE)
    assert_harmless(printed(render.grounding_check(reply)))
