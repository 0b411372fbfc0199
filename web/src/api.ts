/** All that is asked of the gateway: JSON, events, and what went wrong as one kind of error. */
import { authorization, refused } from "./credentials";
import { EventParser, type ServerEvent } from "./sse";
import type {
  Answer,
  AskEvent,
  AskRequest,
  Document,
  Held,
  Passage,
  Problem,
  Quality,
  Span,
} from "./types";

/** A refusal or a failure, in the server's words or, where it could not be heard, in ours. */
export class ApiError extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail);
  }
}

export function problemOf(error: unknown): Problem {
  if (error instanceof ApiError) return error.problem;
  return made("UNREACHABLE", "The server cannot be reached", "Check that it runs, and try again.");
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

export function made(code: string, title: string, detail: string): Problem {
  return {
    status: 0,
    title,
    detail,
    code,
    reason: "",
    violations: [],
    retry_after_seconds: 0,
    error_id: "",
    trace_id: "",
  };
}

const UNAUTHENTICATED = 401;
const ASK_EVENTS = new Set([
  "stage_started",
  "stage_finished",
  "passages_found",
  "attempt_started",
  "objection",
  "statement_verified",
  "answer",
]);

/** Asks, and tells each step as it happens; returns when the answer has come. */
export async function ask(
  request: AskRequest,
  signal: AbortSignal,
  told: (events: AskEvent[]) => void,
): Promise<void> {
  const response = await sent("/v1/ask-stream", {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
    body: JSON.stringify({ ask: request }),
    signal,
  });
  let answered = false;
  for await (const events of eventsOf(response)) {
    const known = events
      .filter((event) => ASK_EVENTS.has(event.name))
      .map((event) => parsed(event) as AskEvent);
    answered ||= known.some((event) => event.name === "answer");
    if (known.length > 0) told(known);
  }
  if (!answered) throw broken();
}

/** The data is of the form that the event's name promises. */
export function parsed(event: ServerEvent): { name: string; data: unknown } {
  try {
    return { name: event.name, data: JSON.parse(event.data) };
  } catch {
    throw broken();
  }
}

export function broken(): ApiError {
  return new ApiError(
    made("BROKEN_STREAM", "The connection broke off", "No answer was received. Ask again."),
  );
}

async function* eventsOf(response: Response): AsyncGenerator<ServerEvent[]> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (!reader) throw broken();
  const parser = new EventParser();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const events = parser.push(value);
      const failed = events.findIndex((event) => event.name === "error");
      yield failed < 0 ? events : events.slice(0, failed);
      const error = events[failed];
      if (error) throw new ApiError(parsed(error).data as Problem);
    }
  } catch (error) {
    throw error instanceof ApiError || isAbort(error) ? error : broken();
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}

async function sent(path: string, init: RequestInit): Promise<Response> {
  const response = await fetch(path, {
    ...init,
    headers: { ...(init.headers as Record<string, string> | undefined), ...authorization() },
  });
  if (response.status === UNAUTHENTICATED) refused();
  if (!response.ok) throw new ApiError(refusal(response.status, await response.text()));
  return response;
}

export function refusal(status: number, body: string): Problem {
  try {
    const said = JSON.parse(body) as Partial<Problem>;
    const base = made("UNKNOWN", "It did not work", "The server gave no reason.");
    return { ...base, ...said, status };
  } catch {
    const detail = `The server answered ${status} and gave no reason.`;
    return { ...made("UNKNOWN", "It did not work", detail), status };
  }
}

async function json<Reply>(path: string, init: RequestInit): Promise<Reply> {
  return (await (await sent(path, init)).json()) as Reply;
}

const at = (...parts: string[]): string => parts.map(encodeURIComponent).join("/");

export async function conversations(
  page: { size: number; token: string },
  signal: AbortSignal,
): Promise<{ conversations: Held[]; next_page_token: string }> {
  const query = new URLSearchParams({ page_size: page.size.toString(), page_token: page.token });
  return json(`/v1/conversations?${query.toString()}`, { signal });
}

export async function answersOf(conversation: string, signal: AbortSignal): Promise<Answer[]> {
  const all: Answer[] = [];
  let token = "";
  do {
    const query = new URLSearchParams({ page_size: "100", page_token: token });
    const page = await json<{ answers: Answer[]; next_page_token: string }>(
      `/v1/conversations/${at(conversation)}/answers?${query.toString()}`,
      { signal },
    );
    all.push(...page.answers);
    token = page.next_page_token;
  } while (token !== "");
  return all.reverse();
}

export async function answerOf(id: string, signal: AbortSignal): Promise<Answer> {
  return (await json<{ answer: Answer }>(`/v1/answers/${at(id)}`, { signal })).answer;
}

export async function qualityOf(conversation: string, signal: AbortSignal): Promise<Quality> {
  return json<Quality>(`/v1/conversations/${at(conversation)}/quality`, { signal });
}

export async function documentOf(id: string, signal: AbortSignal): Promise<Document> {
  return (await json<{ document: Document }>(`/v1/documents/${at(id)}`, { signal })).document;
}

export interface Neighbourhood {
  passage: Passage;
  before: Passage[];
  after: Passage[];
}

export async function passageOf(id: string, signal: AbortSignal): Promise<Neighbourhood> {
  return json<Neighbourhood>(`/v1/passages/${at(id)}?neighbours=1`, { signal });
}

export interface DocumentQuery {
  name_contains: string;
  document_type: string;
  authority: string;
  tag: string;
  standing: string;
  as_of: string;
}

export async function documents(
  asked: DocumentQuery,
  page: { size: number; token: string },
  signal: AbortSignal,
): Promise<{ documents: Document[]; next_page_token: string }> {
  const query = new URLSearchParams({ page_size: page.size.toString(), page_token: page.token });
  const named: [string, string][] = [
    ["name_contains", asked.name_contains],
    ["standing", asked.standing],
    ["as_of", asked.as_of],
    ["filter.document_types", asked.document_type],
    ["filter.authorities", asked.authority],
    ["filter.tags", asked.tag],
  ];
  for (const [name, value] of named) if (value) query.append(name, value);
  return json(`/v1/documents?${query.toString()}`, { signal });
}

export async function deleteDocument(id: string): Promise<number> {
  const reply = await json<{ passages_deleted: number }>(`/v1/documents/${at(id)}`, {
    method: "DELETE",
  });
  return reply.passages_deleted;
}

/** The image of a page, with boxes around spans of the document's text. */
export async function pageImage(
  id: string,
  page: number,
  span: Span,
  signal: AbortSignal,
): Promise<Blob> {
  const marked = `dpi=144&highlight=${span.start}-${span.end}`;
  return (await sent(`/v1/documents/${at(id)}/pages/${page}.png?${marked}`, { signal })).blob();
}
