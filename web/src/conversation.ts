/** The turns of one conversation, oldest first, and what is open beside them. */
import { after, asked, cancelled, failed, stored, type Turn } from "./asking";
import type { Answer, AskEvent, AskRequest, Problem } from "./types";

export interface Conversation {
  id: string;
  /** Whether stored answers are still to come, did not come, or are there. */
  loading: boolean;
  problem?: Problem;
  turns: Turn[];
}

export type Action =
  | { type: "opened"; id: string; stored: boolean }
  | { type: "loaded"; id: string; answers: Answer[] }
  | { type: "notLoaded"; id: string; problem: Problem }
  /** In place of a turn that came to nothing, where `instead` is its key. */
  | { type: "asked"; key: string; request: AskRequest; instead?: string }
  | { type: "events"; key: string; events: AskEvent[] }
  | { type: "failed"; key: string; problem: Problem }
  | { type: "cancelled"; key: string };

export function reduce(state: Conversation, action: Action): Conversation {
  switch (action.type) {
    case "opened":
      return { id: action.id, loading: action.stored, turns: [] };
    case "loaded":
      if (action.id !== state.id) return state;
      return { id: state.id, loading: false, turns: action.answers.map(stored) };
    case "notLoaded":
      if (action.id !== state.id) return state;
      return { ...state, loading: false, problem: action.problem };
    case "asked":
      return {
        ...state,
        turns: [
          ...state.turns.filter((turn) => turn.key !== action.key && turn.key !== action.instead),
          asked(action.key, action.request),
        ],
      };
    case "events":
      return changed(state, action.key, (turn) => action.events.reduce(after, turn));
    case "failed":
      return changed(state, action.key, (turn) => failed(turn, action.problem));
    case "cancelled":
      return changed(state, action.key, cancelled);
  }
}

function changed(state: Conversation, key: string, change: (turn: Turn) => Turn): Conversation {
  return {
    ...state,
    turns: state.turns.map((turn) => (turn.key === key ? change(turn) : turn)),
  };
}
