/** The citations of an answer, numbered through it from 1 as its text numbers them. */
import type { Citation, Statement } from "./types";

export interface Numbered {
  number: number;
  citation: Citation;
  statement: Statement;
}

export function numbered(statements: readonly Statement[]): Numbered[] {
  let number = 0;
  return statements.flatMap((statement) =>
    statement.citations.map((citation) => ({ number: ++number, citation, statement })),
  );
}

/** The number of the first citation of each statement. */
export function firstNumbers(statements: readonly Statement[]): number[] {
  let next = 1;
  return statements.map((statement) => {
    const first = next;
    next += statement.citations.length;
    return first;
  });
}

/** The pages on which a citation stands, with the number printed on each, in order. */
export function pagesOf(citation: Citation): { page: number; label: string }[] {
  const pages = new Map<number, string>();
  for (const region of citation.regions) {
    if (region.box) pages.set(region.page_number, region.page_label);
  }
  return [...pages]
    .map(([page, label]) => ({ page, label }))
    .sort((one, other) => one.page - other.page);
}

/** How far down a page of so many points its first quoted line stands, in points. */
export function topOf(citation: Citation, page: number): number | undefined {
  return citation.regions.find((region) => region.page_number === page && region.box)?.box?.top;
}

/** "page 112", or "page 120 (printed F-12)" where the page says another number than its place. */
export function pageName(page: number, label: string): string {
  return label === "" || label === page.toString()
    ? `page ${page}`
    : `page ${page} (printed ${label})`;
}
