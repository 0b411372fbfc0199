import { describe, expect, it } from "vitest";
import { after, asked, cancelled, failed, stored, type Turn } from "./asking";
import { made } from "./api";
import { answer, objection, statement } from "./samples.test-data";
import type { AskEvent } from "./types";

const REQUEST = { question: "Who?", conversation_id: "c", idempotency_key: "k" };
const begun = asked("k", REQUEST);
const run = (events: AskEvent[], turn: Turn = begun): Turn => events.reduce(after, turn);

describe("a question while it is answered", () => {
  it("shows each stage from its start, and its time when it has ended", () => {
    const started = run([{ name: "stage_started", data: { stage: "recall", attempt: 1 } }]);
    expect(started.stages).toEqual([{ stage: "recall", attempt: 1 }]);
    const timing = { stage: "recall", attempt: 1, duration: "0.25s" };
    const done = after(started, { name: "stage_finished", data: timing });
    expect(done.stages).toEqual([{ stage: "recall", attempt: 1, timing }]);
  });

  it("keeps the attempts of one stage apart", () => {
    const turn = run([
      { name: "stage_started", data: { stage: "generate", attempt: 1 } },
      { name: "stage_finished", data: { stage: "generate", attempt: 1, duration: "1s" } },
      { name: "stage_started", data: { stage: "generate", attempt: 2 } },
    ]);
    expect(turn.stages.map((stage) => stage.timing?.duration)).toEqual(["1s", undefined]);
  });

  it("shows a stage that ends without having begun", () => {
    const data = { stage: "remember", attempt: 1, duration: "1s" };
    expect(run([{ name: "stage_finished", data }]).stages).toHaveLength(1);
  });

  it("adds statements in their places and never takes one back", () => {
    const turn = run([
      { name: "statement_verified", data: { index: 0, statement: statement("A.") } },
      { name: "objection", data: objection("B.") },
      { name: "attempt_started", data: { attempt: 2 } },
      { name: "statement_verified", data: { index: 1, statement: statement("C.") } },
    ]);
    expect(turn.statements.map((one) => one.text)).toEqual(["A.", "C."]);
    expect(turn.objections.map((one) => one.statement?.text)).toEqual(["B."]);
    expect(turn.attempt).toBe(2);
  });

  it("is what was stored once the answer has come", () => {
    const given = answer({ statements: [statement("A.")] });
    const live = run([{ name: "answer", data: given }]);
    const later = stored(given);
    expect(live.phase).toBe("answered");
    expect({ ...live, key: "", request: null }).toEqual({ ...later, key: "", request: null });
  });

  it("keeps what was verified when the stream breaks off", () => {
    const turn = run([
      { name: "statement_verified", data: { index: 0, statement: statement("A.") } },
    ]);
    const ended = failed(turn, made("UNAVAILABLE", "Down", "Try again."));
    expect(ended.phase).toBe("failed");
    expect(ended.statements).toHaveLength(1);
  });

  it("takes nothing more once it has ended", () => {
    const ended = cancelled(begun);
    const late: AskEvent = { name: "answer", data: answer({}) };
    expect(after(ended, late)).toBe(ended);
    expect(failed(ended, made("X", "", ""))).toBe(ended);
    expect(cancelled(stored(answer({}))).phase).toBe("answered");
  });
});
