/** The conversations that were held in this browser, newest first. */
import { slice } from "./spans";
import { read, write } from "./stored";

export interface Recent {
  id: string;
  /** The first question. */
  title: string;
  questions: number;
  /** ISO 8601, of the last question. */
  time: string;
}

const NAME = "verity.conversations";
const MOST = 200;

/** What was stored, without what is not of this form. */
export function parse(text: string): Recent[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value.filter(isRecent) : [];
  } catch {
    return [];
  }
}

function isRecent(value: unknown): value is Recent {
  const one = value as Partial<Recent> | null;
  return (
    typeof one?.id === "string" &&
    typeof one.title === "string" &&
    typeof one.time === "string" &&
    typeof one.questions === "number"
  );
}

/** The list after one more question in a conversation. */
export function noted(
  list: readonly Recent[],
  id: string,
  question: string,
  time: string,
): Recent[] {
  const before = list.find((one) => one.id === id);
  const now = {
    id,
    title: before?.title ?? slice(question, { start: 0, end: 300 }),
    questions: (before?.questions ?? 0) + 1,
    time,
  };
  return [now, ...list.filter((one) => one.id !== id)].slice(0, MOST);
}

export function recent(): Recent[] {
  return parse(read(NAME));
}

export function note(id: string, question: string): void {
  write(NAME, JSON.stringify(noted(recent(), id, question, new Date().toISOString())));
}

export function forget(id: string): Recent[] {
  const left = recent().filter((one) => one.id !== id);
  write(NAME, left.length > 0 ? JSON.stringify(left) : "");
  return left;
}
