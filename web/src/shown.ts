/** Which citation of which turn is open beside the answer, and which can be. */
import type { Turn } from "./asking";
import { numbered } from "./citations";
import { codePoints } from "./spans";
import type { Citation, Passage } from "./types";

export interface Citable {
  number: number;
  /** What opens it, in words: "Citation 2", "Nearest 1". */
  name: string;
  citation: Citation;
}

/** What of a turn can be opened in its source: what it cites, or, where it abstains, what it saw. */
export function citable(turn: Turn): Citable[] {
  const cited = numbered(turn.statements).map(({ number, citation }) => ({
    number,
    name: `Citation ${number}`,
    citation,
  }));
  if (cited.length > 0) return cited;
  const conflicting = (turn.answer?.abstention?.conflicting ?? []).map((citation, at) => ({
    number: at + 1,
    name: `Conflicting source ${at + 1}`,
    citation,
  }));
  const nearest = nearestOf(turn).map((passage, at) => ({
    number: conflicting.length + at + 1,
    name: `Nearest passage ${at + 1}`,
    citation: asCitation(passage),
  }));
  return [...conflicting, ...nearest];
}

/** What came nearest to an answer that there is none of. */
export function nearestOf(turn: Turn): Passage[] {
  if (!turn.answer?.abstention) return [];
  return turn.answer.search?.nearest_misses ?? [];
}

/** A whole passage as if it were quoted. */
export function asCitation(passage: Passage): Citation {
  const { text, regions, ...rest } = passage;
  const length = passage.span ? passage.span.end - passage.span.start : codePoints(text);
  return {
    quote: text,
    passage_id: rest.id,
    document_id: rest.document_id,
    document_sha256: rest.document_sha256,
    source_name: rest.source_name,
    page_number: rest.page_number,
    page_label: rest.page_label,
    section_id: rest.section_id,
    span: { start: 0, end: length },
    ...(rest.span ? { document_span: rest.span } : {}),
    authority: rest.authority,
    match: "",
    regions,
    published: rest.published,
    effective_from: rest.effective_from,
    effective_to: rest.effective_to,
  };
}

export type Open =
  { pane: "figures"; turn: string } | { pane: "source"; turn: string; number: number };
