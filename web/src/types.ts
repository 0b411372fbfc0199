/** The messages of the API as JSON: protobuf's mapping with the names of the protos. */

/** Half-open, in Unicode code points. */
export interface Span {
  start: number;
  end: number;
}

export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export interface Region {
  span: Span;
  page_number: number;
  box?: Box;
  page_label: string;
}

export type Authority =
  "AUTHORITY_UNSPECIFIED" | "AUTHORITY_STANDARD" | "AUTHORITY_MEDIUM" | "AUTHORITY_HIGH";

export interface Citation {
  quote: string;
  passage_id: string;
  document_id: string;
  document_sha256: string;
  source_name: string;
  page_number: number;
  page_label: string;
  section_id: string;
  span?: Span;
  document_span?: Span;
  authority: Authority;
  match: string;
  regions: Region[];
  published: string;
  effective_from: string;
  effective_to: string;
}

export interface Passage {
  id: string;
  document_id: string;
  source_name: string;
  document_type: string;
  authority: Authority;
  version: number;
  document_sha256: string;
  text: string;
  page_number: number;
  page_label: string;
  section_id: string;
  heading_path: string[];
  span?: Span;
  score: number;
  regions: Region[];
  published: string;
  effective_from: string;
  effective_to: string;
}

export interface Reason {
  code: string;
  message: string;
  statement_span?: Span;
  closest_text: string;
}

export interface DerivedFigure {
  span?: Span;
  formula: string;
}

export interface Statement {
  text: string;
  verdict: string;
  reasons: Reason[];
  citations: Citation[];
  derived_figures: DerivedFigure[];
}

export interface Objection {
  attempt: number;
  statement?: { text: string; citations: { passage_id: string; quote: string }[] };
  verdict: string;
  reasons: Reason[];
  outcome: string;
}

export interface Abstention {
  type: string;
  message: string;
  conflicting: Citation[];
}

export interface Exclusion {
  document_id: string;
  source_name: string;
  version: number;
  reason: string;
  effective_from: string;
  effective_to: string;
  superseded_by_name: string;
}

export interface Filter {
  document_ids: string[];
  document_types: string[];
  min_authority: Authority;
  tags: string[];
  authorities: Authority[];
}

export interface SearchReport {
  collection: string;
  document_count: number;
  passage_count: number;
  query: string;
  nearest_misses: Passage[];
  filter?: Filter;
  as_of: string;
  ranking: string;
  exclusions: Exclusion[];
  excluded_document_count: number;
  included_out_of_force: boolean;
}

export interface Confidence {
  grounding_confidence: number;
  citation_accuracy: number;
  source_authority: number;
  coverage: number;
}

/** Durations are text such as "1.5s". */
export interface StageTiming {
  stage: string;
  attempt: number;
  duration?: string;
  start_offset?: string;
}

export interface Attempt {
  attempt: number;
  query: string;
  passages: number;
  drafted: number;
  verified: number;
  outcome: string;
  failure: string;
  duration?: string;
  usage?: { input_tokens: number; output_tokens: number };
  generator: string;
  structured_mode: string;
  dropped_passages: number;
}

export interface Strategy {
  passages: number;
  neighbours: boolean;
  rerank: boolean;
  rewrite_query: boolean;
  min_coverage: number;
  structured_mode: string;
  why: { choice: string; reason: string }[];
  learned_from: number;
}

export interface Answer {
  id: string;
  conversation_id: string;
  question: string;
  text: string;
  status: string;
  statements: Statement[];
  compliance: string;
  confidence?: Confidence;
  historical_quality?: number;
  stage_timings: StageTiming[];
  attempts: number;
  objections: Objection[];
  abstention?: Abstention;
  search?: SearchReport;
  trace_id: string;
  memory_degraded: boolean;
  generator: string;
  verifier: string;
  create_time?: string;
  duration?: string;
  standalone_question: string;
  strategy?: Strategy;
  degraded: boolean;
  attempt_log: Attempt[];
  compliance_gaps: { corpus: string; message: string }[];
  as_of: string;
}

export interface Document {
  id: string;
  source_name: string;
  document_type: string;
  authority: Authority;
  version: number;
  sha256: string;
  published: string;
  effective_from: string;
  effective_to: string;
  tags: string[];
  content_type: string;
  /** 64 bits, and therefore text. */
  size_bytes: string;
  page_count: number;
  passage_count: number;
  ingest_time?: string;
  pages_without_text: number[];
  ocr_pages: { page_number: number; confidence: number }[];
  supersedes: string[];
  superseded_by: string[];
  /** Groups that may read it; none: everybody. */
  readers: string[];
}

export interface Held {
  id: string;
  first_question: string;
  last_answer_time?: string;
}

export interface Quality {
  historical_quality: number;
  answer_count: number;
  /** Grounding confidences, oldest first. */
  recent: number[];
  failing_documents: { document_id: string; source_name: string; failures: number }[];
}

export interface IngestProgress {
  stage: string;
  bytes_received: string;
  bytes_total: string;
  pages_parsed: number;
  pages_total: number;
  passages_embedded: number;
  passages_total: number;
  passages_indexed: number;
}

export interface IngestResult {
  outcome: string;
  document?: Document;
}

/** What went wrong, as RFC 9457 says it; status is 0 for what never reached the server. */
export interface Problem {
  status: number;
  title: string;
  detail: string;
  code: string;
  reason: string;
  violations: { field: string; description: string }[];
  retry_after_seconds: number;
  error_id: string;
  trace_id: string;
}

export interface AskRequest extends Narrowing {
  question: string;
  conversation_id: string;
  idempotency_key: string;
}

/** What may be cited. */
export interface Narrowing {
  as_of?: string;
  filter?: Partial<Filter>;
  /** Both or neither, and then no filter: a question of compliance. */
  facts?: Partial<Filter>;
  rules?: Partial<Filter>;
}

/** One event of AskStream, by the member of its oneof that is set. */
export type AskEvent =
  | { name: "stage_started"; data: { stage: string; attempt: number } }
  | { name: "stage_finished"; data: StageTiming }
  | { name: "passages_found"; data: { passages: Passage[] } }
  | { name: "attempt_started"; data: { attempt: number } }
  | { name: "objection"; data: Objection }
  | { name: "statement_verified"; data: { index: number; statement: Statement } }
  | { name: "answer"; data: Answer };
