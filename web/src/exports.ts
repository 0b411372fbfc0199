/** An answer with its citations as text to take away. */
import { firstNumbers, numbered, pageName } from "./citations";
import { slice } from "./spans";
import type { Answer, Citation } from "./types";
import {
  AUTHORITY,
  abstentionTitle,
  effective,
  exclusionWords,
  figure,
  plain,
  sentence,
} from "./words";

/** What was found elsewhere must not become markup in Markdown. */
export function escaped(text: string): string {
  return text
    .replace(/[\\`*_{}[\]<>#|!~&]/g, "\\$&")
    .replace(/^(\s*)([-+=]|\d+[.)])/gm, "$1\\$2")
    .replace(/https?:\/\//gi, (scheme) => scheme.replace(":", "\\:"));
}

export function markdown(answer: Answer): string {
  const lines = [`# ${escaped(flat(answer.question))}`, "", facts(answer), ""];
  if (answer.abstention) {
    lines.push(
      `**${abstentionTitle(answer.abstention.type)}.** ${escaped(answer.abstention.message)}`,
    );
    lines.push("", ...searched(answer));
  }
  const first = firstNumbers(answer.statements);
  answer.statements.forEach((statement, at) => {
    const marks = statement.citations.map((_, n) => `\\[${(first[at] ?? 1) + n}\\]`).join("");
    lines.push(`- ${escaped(flat(statement.text))} ${marks}`);
  });
  const cited = answer.abstention?.conflicting.map((citation, at) => ({
    number: at + 1,
    citation,
  }));
  const all = answer.statements.length > 0 ? numbered(answer.statements) : (cited ?? []);
  if (all.length > 0) lines.push("", "## Sources", "");
  for (const { number, citation } of all) {
    lines.push(`${number}. ${escaped(source(citation))}`, "");
    lines.push(...quoteLines(citation.quote), "", `   SHA-256 \`${citation.document_sha256}\``, "");
  }
  lines.push(
    "---",
    `Answer ${answer.id} · trace ${answer.trace_id || "none"} · ${answer.verifier}`,
  );
  return `${lines.join("\n").replace(/\n{3,}/g, "\n\n")}\n`;
}

/** One line that says where a citation stands. */
export function source(citation: Citation): string {
  const parts = [citation.source_name, pageName(citation.page_number, citation.page_label)];
  if (citation.section_id) parts.push(`section ${citation.section_id}`);
  parts.push(`authority ${AUTHORITY[citation.authority]}`);
  const when = effective(citation.effective_from, citation.effective_to);
  if (when) parts.push(`effective ${when}`);
  return parts.join(", ");
}

function facts(answer: Answer): string {
  const parts = [sentence(plain(answer.status, "STATUS_"))];
  if (answer.confidence) {
    parts.push(`grounding confidence ${figure(answer.confidence.grounding_confidence)}`);
  }
  if (answer.compliance !== "COMPLIANCE_UNSPECIFIED") {
    parts.push(`compliance: ${plain(answer.compliance, "COMPLIANCE_")}`);
  }
  if (answer.degraded) parts.push("drafted without the model, which was down");
  if (answer.create_time) parts.push(answer.create_time);
  return parts.join(" · ");
}

function searched(answer: Answer): string[] {
  const search = answer.search;
  if (!search) return [];
  const lines = [
    `Searched ${search.passage_count} passages of ${search.document_count} documents for: ` +
      escaped(flat(search.query)),
    "",
  ];
  for (const miss of search.nearest_misses) {
    lines.push(
      `- nearest: ${escaped(miss.source_name)}, ${pageName(miss.page_number, miss.page_label)}`,
    );
  }
  for (const left of search.exclusions) {
    lines.push(`- left out: ${escaped(left.source_name)} (${exclusionWords(left.reason)})`);
  }
  return lines;
}

function quoteLines(quote: string): string[] {
  return quote.split("\n").map((line) => `   > ${escaped(line)}`);
}

function flat(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

export function json(answer: Answer): string {
  return `${JSON.stringify(answer, null, 2)}\n`;
}

/** A name for a file, from the question: letters and digits of any script. */
export function fileName(answer: Answer, extension: string): string {
  const words = answer.question.match(/[\p{L}\p{N}]+/gu) ?? [];
  const name = words.join("-").toLowerCase();
  return `${slice(name, { start: 0, end: 60 }) || "answer"}.${extension}`;
}
