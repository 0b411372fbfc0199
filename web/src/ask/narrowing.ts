/** What may be cited: as the fields say it, and as it is asked for. */
import type { Authority, Document, Filter, Narrowing } from "../types";
import { AUTHORITY, count, listed } from "../words";

/** A body of documents: those that are all of what is said here; nothing said: every document. */
export interface Corpus {
  documents: readonly Pick<Document, "id" | "source_name">[];
  /** With commas between. */
  types: string;
  authority: Authority | "";
}

export interface Said {
  as_of: string;
  /** Whether facts and rules are two bodies of documents, instead of one. */
  apart: boolean;
  one: Corpus;
  facts: Corpus;
  rules: Corpus;
}

const ALL: Corpus = { documents: [], types: "", authority: "" };
export const NOTHING_SAID: Said = { as_of: "", apart: false, one: ALL, facts: ALL, rules: ALL };

export function narrowing({ as_of, apart, one, facts, rules }: Said): Narrowing {
  return {
    ...(as_of ? { as_of } : {}),
    ...(apart
      ? { facts: filter(facts), rules: filter(rules) }
      : says(one) && { filter: filter(one) }),
  };
}

/** What is still to be said before a question can be asked; empty: nothing. */
export function lacking({ apart, facts, rules }: Said): string {
  if (!apart) return "";
  const names = [!says(facts) && "the facts", !says(rules) && "the rules"].filter(Boolean);
  return names.length > 0 ? `Choose where ${names.join(" and ")} are` : "";
}

/** In a few words, for when the fields are folded away; empty: nothing is said. */
export function summary({ as_of, apart, one, facts, rules }: Said): string {
  const words = apart
    ? [`facts from ${within(facts)}`, `rules from ${within(rules)}`]
    : [says(one) && within(one)];
  return [...words, as_of && `as of ${as_of}`].filter(Boolean).join("; ");
}

function filter({ documents, types, authority }: Corpus): Partial<Filter> {
  return {
    ...(documents.length > 0 ? { document_ids: documents.map(({ id }) => id) } : {}),
    ...(listed(types).length > 0 ? { document_types: listed(types.toLowerCase()) } : {}),
    ...(authority ? { min_authority: authority } : {}),
  };
}

function says(corpus: Corpus): boolean {
  return Object.keys(filter(corpus)).length > 0;
}

function within({ documents, types, authority }: Corpus): string {
  const [first, ...others] = documents;
  const words = [
    first && (others.length === 0 ? first.source_name : count(documents.length, "document")),
    listed(types).length > 0 && `type ${listed(types).join(" or ")}`,
    authority && `authority ${AUTHORITY[authority]} or more`,
  ];
  return words.filter(Boolean).join(", ") || "documents not chosen yet";
}
