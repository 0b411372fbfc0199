import { describe, expect, it } from "vitest";
import { made } from "../api";
import { document } from "../samples.test-data";
import type { IngestProgress } from "../types";
import { reduce, share, words, type Upload, type UploadEvent } from "./uploads";

const ADDED: UploadEvent = { type: "added", key: "k", name: "a.pdf", size: 10 };
const run = (...events: UploadEvent[]): Upload => {
  const [upload] = events.reduce<Upload[]>(reduce, []);
  if (!upload) throw new Error("no upload");
  return upload;
};
const progress = (stage: string, more: Partial<IngestProgress> = {}): UploadEvent => ({
  type: "progress",
  key: "k",
  progress: {
    stage,
    bytes_received: "10",
    bytes_total: "10",
    pages_parsed: 0,
    pages_total: 0,
    passages_embedded: 0,
    passages_total: 0,
    passages_indexed: 0,
    ...more,
  },
});

describe("an upload", () => {
  it("never goes back", () => {
    const events = [
      ADDED,
      { type: "sent", key: "k", share: 0.5 } as const,
      { type: "sent", key: "k", share: 1 } as const,
      progress("STAGE_RECEIVING"),
      progress("STAGE_PARSING", { pages_parsed: 1, pages_total: 4 }),
      progress("STAGE_EMBEDDING"),
      progress("STAGE_EMBEDDING", { passages_embedded: 5, passages_total: 10 }),
      progress("STAGE_INDEXING", { passages_indexed: 10, passages_total: 10 }),
    ];
    const shares = events.map((_, at) => share(run(...events.slice(0, at + 1))));
    expect(shares).toEqual([...shares].sort((a, b) => a - b));
    expect(shares.at(-1)).toBe(1);
  });

  it("says what it is doing and what became of it", () => {
    expect(words(run(ADDED))).toBe("Waiting");
    expect(words(run(ADDED, { type: "sent", key: "k", share: 0.5 }))).toBe("Sending, 5 B of 10 B");
    expect(words(run(ADDED, progress("STAGE_PARSING", { pages_parsed: 2, pages_total: 3 })))).toBe(
      "Reading, 2 of 3 pages",
    );
    const result = { outcome: "OUTCOME_REPLACED", document: document() };
    expect(words(run(ADDED, { type: "done", key: "k", result }))).toBe(
      "Added as a new version: 3 pages, 9 passages",
    );
    const problem = made("INVALID_ARGUMENT", "", "The file has a password.");
    expect(words(run(ADDED, { type: "failed", key: "k", problem }))).toBe(
      "The file has a password.",
    );
  });

  it("takes nothing more once it has ended, and can then be cleared", () => {
    const ended = reduce(reduce([], ADDED), { type: "cancelled", key: "k" });
    expect(reduce(ended, { type: "sent", key: "k", share: 1 })).toEqual(ended);
    expect(reduce(ended, { type: "cleared" })).toEqual([]);
    expect(reduce(reduce([], ADDED), { type: "cleared" })).toHaveLength(1);
  });
});
