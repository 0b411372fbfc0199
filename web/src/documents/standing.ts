/** What a document is on a day, and what its pages lack, in words. */
import type { Document } from "../types";
import { count, percent, ranges } from "../words";

export interface Standing {
  tone: "good" | "warn" | "plain";
  words: string;
}

/** Superseded is what another names so; whether that one applies on the day, the filter knows. */
export function standing(document: Document, day: string): Standing {
  if (document.effective_from && day < document.effective_from) {
    return { tone: "plain", words: "Not yet effective" };
  }
  if (document.effective_to && day >= document.effective_to) {
    return { tone: "plain", words: "No longer effective" };
  }
  if (document.superseded_by.length > 0) return { tone: "warn", words: "Superseded" };
  return { tone: "good", words: "In force" };
}

export function today(): string {
  return new Date().toISOString().slice(0, 10);
}

/** Each thing that is wrong with a document's pages. */
export function pageProblems(document: Document): string[] {
  const found: string[] = [];
  const empty = document.pages_without_text;
  if (empty.length > 0) {
    found.push(`${count(empty.length, "page")} without text: ${ranges(empty)}`);
  }
  const read = document.ocr_pages;
  if (read.length > 0) {
    const worst = Math.min(...read.map((page) => page.confidence));
    const pages = ranges(read.map((page) => page.page_number));
    found.push(
      `${count(read.length, "page")} read in ${read.length === 1 ? "a picture" : "pictures"}: ${pages}` +
        ` (worst recognition ${percent(worst)})`,
    );
  }
  return found;
}
