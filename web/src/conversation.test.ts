import { describe, expect, it } from "vitest";
import { made } from "./api";
import { reduce, type Conversation } from "./conversation";
import { answer } from "./samples.test-data";

const EMPTY: Conversation = { id: "", loading: false, turns: [] };
const REQUEST = { question: "Who?", conversation_id: "c", idempotency_key: "k" };

describe("a conversation", () => {
  it("opens with what was stored, in its order", () => {
    const opened = reduce(EMPTY, { type: "opened", id: "c", stored: true });
    expect(opened.loading).toBe(true);
    const answers = [answer({ id: "1" }), answer({ id: "2" })];
    const loaded = reduce(opened, { type: "loaded", id: "c", answers });
    expect(loaded.turns.map((turn) => turn.key)).toEqual(["1", "2"]);
    expect(loaded.loading).toBe(false);
  });

  it("passes over what belongs to the one that was open before", () => {
    const opened = reduce(EMPTY, { type: "opened", id: "now", stored: true });
    expect(reduce(opened, { type: "loaded", id: "before", answers: [answer({})] })).toBe(opened);
    const problem = made("X", "", "");
    expect(reduce(opened, { type: "notLoaded", id: "before", problem })).toBe(opened);
  });

  it("says when it could not be opened", () => {
    const opened = reduce(EMPTY, { type: "opened", id: "c", stored: true });
    const problem = made("NOT_FOUND", "", "");
    const failed = reduce(opened, { type: "notLoaded", id: "c", problem });
    expect(failed).toMatchObject({ loading: false, problem });
  });

  it("asks again in place of the question that failed", () => {
    let state = reduce(EMPTY, { type: "asked", key: "k", request: REQUEST });
    state = reduce(state, { type: "failed", key: "k", problem: made("X", "", "") });
    expect(state.turns[0]?.phase).toBe("failed");
    state = reduce(state, { type: "asked", key: "k", request: REQUEST });
    expect(state.turns.map((turn) => turn.phase)).toEqual(["asking"]);
    state = reduce(state, { type: "asked", key: "l", request: REQUEST, instead: "k" });
    expect(state.turns.map((turn) => turn.key)).toEqual(["l"]);
  });

  it("tells events to the question that they are of", () => {
    let state = reduce(EMPTY, { type: "asked", key: "k", request: REQUEST });
    const other = { ...REQUEST, idempotency_key: "l" };
    state = reduce(state, { type: "asked", key: "l", request: other });
    state = reduce(state, {
      type: "events",
      key: "l",
      events: [{ name: "answer", data: answer({}) }],
    });
    expect(state.turns.map((turn) => turn.phase)).toEqual(["asking", "answered"]);
    state = reduce(state, { type: "cancelled", key: "k" });
    expect(state.turns.map((turn) => turn.phase)).toEqual(["cancelled", "answered"]);
  });
});
