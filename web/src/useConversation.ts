/** One conversation with the server: what was stored of it, and the question being asked. */
import { useCallback, useEffect, useReducer, useRef } from "react";
import { answersOf, ask, isAbort, problemOf } from "./api";
import type { Turn } from "./asking";
import { reduce, type Conversation } from "./conversation";
import { newName } from "./names";
import type { AskRequest, Narrowing, Problem } from "./types";

export interface Talk {
  conversation: Conversation;
  asking: boolean;
  /** The conversation's id, which a first question gives it. */
  ask: (question: string, narrowing: Narrowing) => string;
  /** Asks the question of a turn that came to nothing once more. */
  again: (turn: Turn) => void;
  cancel: () => void;
}

const NOTHING: Conversation = { id: "", loading: false, turns: [] };
const NOT_FOUND = 404;
/** The answer may have been given, and lost on its way: under the same key it is found again. */
const LOST = new Set(["BROKEN_STREAM", "UNREACHABLE"]);

/** Opened anew when other credentials were given. */
export function useConversation(id: string, given: number): Talk {
  const [conversation, dispatch] = useReducer(reduce, NOTHING);
  const running = useRef<AbortController>(null);
  const current = useRef("");
  const shown = useRef("0/");

  const send = useCallback((request: AskRequest, instead?: string) => {
    running.current?.abort();
    const stop = new AbortController();
    running.current = stop;
    const key = request.idempotency_key;
    dispatch({ type: "asked", key, request, ...(instead ? { instead } : {}) });
    ask(request, stop.signal, (events) => {
      dispatch({ type: "events", key, events });
    })
      .catch((error: unknown) => {
        if (isAbort(error) || stop.signal.aborted) dispatch({ type: "cancelled", key });
        else dispatch({ type: "failed", key, problem: problemOf(error) });
      })
      .finally(() => {
        if (running.current === stop) running.current = null;
      });
  }, []);

  useEffect(() => {
    const wanted = `${given}/${id}`;
    if (shown.current === wanted) return;
    shown.current = wanted;
    current.current = id;
    running.current?.abort();
    dispatch({ type: "opened", id, stored: id !== "" });
    if (id === "") return;
    const stop = new AbortController();
    running.current = stop;
    answersOf(id, stop.signal)
      .then((answers) => {
        dispatch({ type: "loaded", id, answers });
      })
      .catch((error: unknown) => {
        if (!isAbort(error))
          dispatch({ type: "notLoaded", id, problem: unknown(problemOf(error)) });
      });
  }, [id, given]);

  const begin = useCallback(
    (question: string, narrowing: Narrowing) => {
      const name = current.current || newName();
      if (current.current === "") {
        current.current = name;
        shown.current = `${given}/${name}`;
        dispatch({ type: "opened", id: name, stored: false });
      }
      send({ ...narrowing, question, conversation_id: name, idempotency_key: newName() });
      return name;
    },
    [send, given],
  );
  const again = useCallback(
    ({ key, request, problem }: Turn) => {
      if (!request) return;
      const lost = problem !== undefined && LOST.has(problem.code);
      send({ ...request, idempotency_key: lost ? request.idempotency_key : newName() }, key);
    },
    [send],
  );
  const cancel = useCallback(() => {
    running.current?.abort();
  }, []);

  return {
    conversation,
    asking: conversation.turns.some((turn) => turn.phase === "asking"),
    ask: begin,
    again,
    cancel,
  };
}

function unknown(problem: Problem): Problem {
  if (problem.status !== NOT_FOUND) return problem;
  return {
    ...problem,
    title: "This conversation is not there",
    detail: "No answer is stored under this name: it has expired, or there never was one.",
  };
}
