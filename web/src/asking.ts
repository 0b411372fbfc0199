/** What is known of a question while it is being answered: each event makes the next state. */
import type {
  Answer,
  AskEvent,
  AskRequest,
  Objection,
  Passage,
  Problem,
  StageTiming,
  Statement,
} from "./types";

export interface Stage {
  stage: string;
  attempt: number;
  /** Absent while it runs. */
  timing?: StageTiming;
}

export type Phase = "asking" | "answered" | "failed" | "cancelled";

export interface Turn {
  /** Of this page; stays the same when the answer comes. */
  key: string;
  question: string;
  /** As it was sent, to be sent again; absent for what was stored. */
  request?: AskRequest;
  phase: Phase;
  stages: Stage[];
  attempt: number;
  passages: Passage[];
  statements: Statement[];
  objections: Objection[];
  answer?: Answer;
  problem?: Problem;
}

export function asked(key: string, request: AskRequest): Turn {
  return { ...blank(key, request.question), request, phase: "asking" };
}

/** A turn whose answer was stored. */
export function stored(answer: Answer): Turn {
  return answered({ ...blank(answer.id, answer.question) }, answer);
}

function blank(key: string, question: string): Turn {
  return {
    key,
    question,
    phase: "answered",
    stages: [],
    attempt: 0,
    passages: [],
    statements: [],
    objections: [],
  };
}

function answered(turn: Turn, answer: Answer): Turn {
  return {
    ...turn,
    phase: "answered",
    answer,
    stages: answer.stage_timings.map((timing) => ({
      stage: timing.stage,
      attempt: timing.attempt,
      timing,
    })),
    statements: answer.statements,
    objections: answer.objections,
  };
}

/** The turn after an event; what comes after its end changes nothing. */
export function after(turn: Turn, event: AskEvent): Turn {
  if (turn.phase !== "asking") return turn;
  switch (event.name) {
    case "stage_started":
      return { ...turn, stages: [...turn.stages, { ...event.data }] };
    case "stage_finished":
      return { ...turn, stages: finished(turn.stages, event.data) };
    case "passages_found":
      return { ...turn, passages: event.data.passages };
    case "attempt_started":
      return { ...turn, attempt: event.data.attempt };
    case "objection":
      return { ...turn, objections: [...turn.objections, event.data] };
    case "statement_verified":
      return { ...turn, statements: placed(turn.statements, event.data) };
    case "answer":
      return answered(turn, event.data);
  }
}

/** What was verified stays: it was, whatever went wrong later. */
export function failed(turn: Turn, problem: Problem): Turn {
  return turn.phase === "asking" ? { ...turn, phase: "failed", problem } : turn;
}

export function cancelled(turn: Turn): Turn {
  return turn.phase === "asking" ? { ...turn, phase: "cancelled" } : turn;
}

/** The oldest stage of this name that runs has ended; one that was not said to begin has too. */
function finished(stages: Stage[], timing: StageTiming): Stage[] {
  const at = stages.findIndex(
    (one) => !one.timing && one.stage === timing.stage && one.attempt === timing.attempt,
  );
  const done = { stage: timing.stage, attempt: timing.attempt, timing };
  return at < 0 ? [...stages, done] : stages.with(at, done);
}

function placed(
  statements: Statement[],
  { index, statement }: { index: number; statement: Statement },
): Statement[] {
  if (index < statements.length) return statements.with(index, statement);
  return [...statements, statement];
}
