/** What is said of files that are uploaded: their type, authority, dates, tags, what they supersede. */
import type { Metadata } from "../upload";
import { Choice, Field } from "../ui/Field";

interface Props {
  metadata: Metadata;
  onChange: (metadata: Metadata) => void;
}

const AUTHORITIES = [
  ["", "Standard"],
  ["AUTHORITY_MEDIUM", "Medium"],
  ["AUTHORITY_HIGH", "High"],
] as const;

export function MetadataFields({ metadata, onChange }: Props) {
  const of = (name: keyof Metadata) => ({
    value: metadata[name],
    onChange: (value: string) => {
      onChange({ ...metadata, [name]: value });
    },
  });
  return (
    <div className="grid gap-3 py-2 sm:grid-cols-2 xl:grid-cols-4">
      <Field label="Type, such as policy" {...of("document_type")} />
      <Choice label="Authority" options={AUTHORITIES} {...of("authority")} />
      <Field label="Published" type="date" {...of("published")} />
      <Field label="Effective from" type="date" {...of("effective_from")} />
      <Field label="Effective until" type="date" {...of("effective_to")} />
      <Field label="Tags, by commas" {...of("tags")} />
      <Field label="Only for groups (by commas)" {...of("readers")} />
      <Field label="Takes the place of (names, by commas)" {...of("supersedes")} />
    </div>
  );
}
