/** What of the documents is listed; the server narrows, so that any number can be there. */
import type { DocumentQuery } from "../api";
import { Choice, Field } from "../ui/Field";

interface Props {
  query: DocumentQuery;
  onChange: (query: DocumentQuery) => void;
  onClear: () => void;
}

const STANDINGS = [
  ["", "Any"],
  ["STANDING_IN_FORCE", "In force"],
  ["STANDING_SUPERSEDED", "Superseded"],
  ["STANDING_NOT_YET_EFFECTIVE", "Not yet effective"],
  ["STANDING_NO_LONGER_EFFECTIVE", "No longer effective"],
] as const;
const AUTHORITIES = [
  ["", "Any"],
  ["AUTHORITY_HIGH", "High"],
  ["AUTHORITY_MEDIUM", "Medium"],
  ["AUTHORITY_STANDARD", "Standard"],
] as const;

export function DocumentFilters({ query, onChange, onClear }: Props) {
  const of = (name: keyof DocumentQuery) => ({
    value: query[name],
    onChange: (value: string) => {
      onChange({ ...query, [name]: value });
    },
  });
  return (
    <search aria-label="Filters">
      <div className="grid grid-cols-2 items-end gap-3 md:grid-cols-3 xl:grid-cols-[2fr_1fr_1fr_1fr_1.3fr_1.1fr_auto]">
        <Field label="Name contains" type="search" {...of("name_contains")} />
        <Field label="Type" {...of("document_type")} />
        <Choice label="Authority" options={AUTHORITIES} {...of("authority")} />
        <Field label="Tag" {...of("tag")} />
        <Choice label="Standing" options={STANDINGS} {...of("standing")} />
        <Field label="As of day" type="date" {...of("as_of")} />
        <button className="button" disabled={!Object.values(query).some(Boolean)} onClick={onClear}>
          Clear
        </button>
      </div>
    </search>
  );
}
