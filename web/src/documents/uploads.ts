/** Files on their way in: how far each is, and what became of it. */
import type { IngestProgress, IngestResult, Problem } from "../types";
import { bytes, count } from "../words";

export interface Upload {
  key: string;
  name: string;
  size: number;
  /** Of sending, 0 to 1. */
  sent: number;
  progress?: IngestProgress;
  result?: IngestResult;
  problem?: Problem;
  cancelled?: boolean;
}

export type UploadEvent =
  | { type: "added"; key: string; name: string; size: number }
  | { type: "sent"; key: string; share: number }
  | { type: "progress"; key: string; progress: IngestProgress }
  | { type: "done"; key: string; result: IngestResult }
  | { type: "failed"; key: string; problem: Problem }
  | { type: "cancelled"; key: string }
  | { type: "cleared" };

export function reduce(uploads: readonly Upload[], event: UploadEvent): Upload[] {
  if (event.type === "added") {
    return [...uploads, { key: event.key, name: event.name, size: event.size, sent: 0 }];
  }
  if (event.type === "cleared") return uploads.filter((upload) => !ended(upload));
  return uploads.map((upload) => (upload.key === event.key ? changed(upload, event) : upload));
}

function changed(upload: Upload, event: UploadEvent): Upload {
  if (ended(upload)) return upload;
  switch (event.type) {
    case "sent":
      return { ...upload, sent: Math.max(upload.sent, event.share) };
    case "progress":
      return { ...upload, progress: event.progress };
    case "done":
      return { ...upload, sent: 1, result: event.result };
    case "failed":
      return { ...upload, problem: event.problem };
    case "cancelled":
      return { ...upload, cancelled: true };
    default:
      return upload;
  }
}

export function ended(upload: Upload): boolean {
  return Boolean(upload.result ?? upload.problem ?? upload.cancelled);
}

/** The share of the work that is done, 0 to 1: sending, reading, embedding, writing. */
export function share(upload: Upload): number {
  if (upload.result) return 1;
  const { progress } = upload;
  const part = (done: number, total: number): number => (total > 0 ? Math.min(1, done / total) : 0);
  if (!progress) return upload.sent * 0.2;
  switch (progress.stage) {
    case "STAGE_PARSING":
      return 0.2 + 0.3 * part(progress.pages_parsed, progress.pages_total);
    case "STAGE_EMBEDDING":
      return 0.5 + 0.4 * part(progress.passages_embedded, progress.passages_total);
    case "STAGE_INDEXING":
      return 0.9 + 0.1 * part(progress.passages_indexed, progress.passages_total);
    default:
      return upload.sent * 0.2;
  }
}

const OUTCOMES: Record<string, string> = {
  OUTCOME_CREATED: "Added",
  OUTCOME_REPLACED: "Added as a new version",
  OUTCOME_UNCHANGED: "These bytes were there already",
  OUTCOME_METADATA_UPDATED: "The same bytes; what is said of them was changed",
};

export function words(upload: Upload): string {
  const { progress, result } = upload;
  if (result) {
    const what = OUTCOMES[result.outcome] ?? "Done";
    const document = result.document;
    if (!document) return what;
    return `${what}: ${count(document.page_count, "page")}, ${count(document.passage_count, "passage")}`;
  }
  if (upload.problem) return upload.problem.detail;
  if (upload.cancelled) return "Cancelled; nothing was changed";
  switch (progress?.stage) {
    case "STAGE_PARSING":
      return `Reading${of(progress.pages_parsed, progress.pages_total, "page")}`;
    case "STAGE_EMBEDDING":
      return `Embedding${of(progress.passages_embedded, progress.passages_total, "passage")}`;
    case "STAGE_INDEXING":
      return `Indexing${of(progress.passages_indexed, progress.passages_total, "passage")}`;
    default:
      return upload.sent > 0
        ? `Sending, ${bytes(upload.sent * upload.size)} of ${bytes(upload.size)}`
        : "Waiting";
  }
}

function of(done: number, total: number, thing: string): string {
  return total > 0 ? `, ${done} of ${count(total, thing)}` : "";
}
