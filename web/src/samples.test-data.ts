/** Messages for tests, as the gateway sends them. */
import type { Answer, Citation, Document, Objection, Passage, Statement } from "./types";

export function citation(more: Partial<Citation> = {}): Citation {
  return {
    quote: "must submit\na notarized proof",
    passage_id: "p-1",
    document_id: "d-1",
    document_sha256: "ab".repeat(32),
    source_name: "Policy.pdf",
    page_number: 42,
    page_label: "42",
    section_id: "4.2",
    span: { start: 0, end: 29 },
    document_span: { start: 100, end: 129 },
    authority: "AUTHORITY_HIGH",
    match: "MATCH_EXACT",
    regions: [],
    published: "",
    effective_from: "2026-01-01",
    effective_to: "",
    ...more,
  };
}

export function statement(text: string, citations: Citation[] = [citation()]): Statement {
  return { text, verdict: "VERDICT_SUPPORTED", reasons: [], citations, derived_figures: [] };
}

export function objection(text: string, more: Partial<Objection> = {}): Objection {
  return {
    attempt: 1,
    statement: { text, citations: [] },
    verdict: "VERDICT_UNSUPPORTED",
    reasons: [],
    outcome: "OUTCOME_UNSPECIFIED",
    ...more,
  };
}

export function passage(more: Partial<Passage> = {}): Passage {
  return {
    id: "p-9",
    document_id: "d-9",
    source_name: "Near.pdf",
    document_type: "policy",
    authority: "AUTHORITY_MEDIUM",
    version: 1,
    document_sha256: "cd".repeat(32),
    text: "Something near.",
    page_number: 7,
    page_label: "",
    section_id: "",
    heading_path: [],
    span: { start: 50, end: 65 },
    score: 0.5,
    regions: [],
    published: "",
    effective_from: "",
    effective_to: "",
    ...more,
  };
}

export function answer(more: Partial<Answer>): Answer {
  return {
    id: "a-1",
    conversation_id: "c",
    question: "Who?",
    text: "",
    status: "STATUS_ANSWERED",
    statements: [],
    compliance: "COMPLIANCE_UNSPECIFIED",
    stage_timings: [],
    attempts: 1,
    objections: [],
    trace_id: "",
    memory_degraded: false,
    generator: "extractive/1",
    verifier: "verity/1",
    standalone_question: "",
    degraded: false,
    attempt_log: [],
    compliance_gaps: [],
    as_of: "",
    ...more,
  };
}

export function document(more: Partial<Document> = {}): Document {
  return {
    id: "d-1",
    source_name: "Policy.pdf",
    document_type: "policy",
    authority: "AUTHORITY_HIGH",
    version: 1,
    sha256: "ab".repeat(32),
    published: "",
    effective_from: "",
    effective_to: "",
    tags: [],
    content_type: "application/pdf",
    size_bytes: "1000",
    page_count: 3,
    passage_count: 9,
    pages_without_text: [],
    ocr_pages: [],
    supersedes: [],
    superseded_by: [],
    readers: [],
    ...more,
  };
}
