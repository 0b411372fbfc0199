/** The words in which the page says what messages say by name or number. */
import type { Authority } from "./types";

export type Level = "high" | "medium" | "low";

export function level(confidence: number): Level {
  if (confidence >= 0.8) return "high";
  return confidence >= 0.6 ? "medium" : "low";
}

export const LEVEL_WORDS: Record<Level, string> = {
  high: "High confidence",
  medium: "Medium confidence",
  low: "Low confidence",
};

/** "VERDICT_SUPPORTED" as "supported": without its prefix, in small letters. */
export function plain(name: string, prefix: string): string {
  return name.replace(prefix, "").replaceAll("_", " ").toLowerCase();
}

export function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export const AUTHORITY: Record<Authority, string> = {
  AUTHORITY_UNSPECIFIED: "not stated",
  AUTHORITY_STANDARD: "standard",
  AUTHORITY_MEDIUM: "medium",
  AUTHORITY_HIGH: "high",
};

const STAGES: Record<string, string> = {
  recall: "Recall",
  resolve: "Read question",
  retrieve: "Search",
  generate: "Draft and verify",
  verify: "Verify whole",
  outdated: "Check dates",
  score: "Score",
  remember: "Store",
};

export function stageName(stage: string): string {
  return STAGES[stage] ?? sentence(stage);
}

const ABSTENTIONS: Record<string, string> = {
  TYPE_NO_EVIDENCE: "Nothing in the sources answers",
  TYPE_CONFLICTING: "Sources in force contradict each other",
  TYPE_SUPERSEDED: "Only what does not apply on that day answers",
  TYPE_UNVERIFIABLE: "Drafts were made, and none could be verified",
};

export function abstentionTitle(type: string): string {
  return ABSTENTIONS[type] ?? "No answer";
}

const OUTCOMES: Record<string, string> = {
  OUTCOME_CORRECTED: "corrected in a later draft",
  OUTCOME_DROPPED: "left out of later drafts",
  OUTCOME_ABANDONED: "still failed at the end",
  OUTCOME_VERIFIED: "every statement verified",
  OUTCOME_OBJECTED: "some statements failed",
  OUTCOME_INSUFFICIENT: "no answer in the passages",
  OUTCOME_UNUSABLE: "the reply was no draft",
  OUTCOME_UNAVAILABLE: "the drafter was down or too slow",
};

export function outcomeWords(outcome: string): string {
  return OUTCOMES[outcome] ?? "not yet known";
}

const REASONS: Record<string, string> = {
  REASON_SUPERSEDED: "superseded",
  REASON_NOT_YET_EFFECTIVE: "not yet effective",
  REASON_NO_LONGER_EFFECTIVE: "no longer effective",
};

export function exclusionWords(reason: string): string {
  return REASONS[reason] ?? "does not apply on that day";
}

/** Milliseconds of a duration such as "1.5s". */
export function milliseconds(duration: string | undefined): number {
  const seconds = Number.parseFloat(duration ?? "0");
  return Number.isFinite(seconds) ? seconds * 1000 : 0;
}

/** "12 ms", "1.4 s", "<1 ms". */
export function time(ms: number): string {
  if (ms < 1) return "<1 ms";
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** A share as per cent, cut and not rounded: 99.96 % is not said to be all. */
export function percent(share: number): string {
  return `${Math.floor(share * 100 + 1e-9)}%`;
}

/** Three places, as /grounded_query gives them. */
export function figure(share: number): string {
  return share.toFixed(3);
}

export function bytes(count: number): string {
  if (count < 1024) return `${Math.floor(count)} B`;
  const kibi = count / 1024;
  return kibi < 1024 ? `${kibi.toFixed(0)} KiB` : `${(kibi / 1024).toFixed(1)} MiB`;
}

export function count(number: number, singular: string, plural = `${singular}s`): string {
  return `${number.toLocaleString("en")} ${number === 1 ? singular : plural}`;
}

/** A moment in the reader's own time zone, without seconds. */
export function moment(timestamp: string | undefined): string {
  if (!timestamp) return "";
  const date = new Date(timestamp);
  if (Number.isNaN(date.getTime())) return "";
  const two = (value: number): string => value.toString().padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** "from 2026-01-01", "2024-01-01 to 2025-01-01", "" when neither is stated. */
export function effective(from: string, to: string): string {
  if (from && to) return `${from} until ${to}`;
  if (from) return `from ${from}`;
  return to ? `until ${to}` : "";
}

/** Ascending numbers with runs drawn together: "3, 7–9". */
export function ranges(numbers: readonly number[]): string {
  const runs: [number, number][] = [];
  for (const number of numbers) {
    const last = runs.at(-1);
    if (last?.[1] === number - 1) last[1] = number;
    else runs.push([number, number]);
  }
  return runs.map(([a, b]) => (a === b ? `${a}` : `${a}–${b}`)).join(", ");
}

/** What is written with commas between. */
export function listed(text: string): string[] {
  return text
    .split(",")
    .map((one) => one.trim())
    .filter(Boolean);
}
