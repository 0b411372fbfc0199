/** What of the documents is listed; the server narrows, so that any number can be there. */
import { useId } from "react";
import type { DocumentQuery } from "../api";

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
  const id = useId();
  const set = (name: keyof DocumentQuery, value: string): void => {
    onChange({ ...query, [name]: value });
  };
  const field = (name: keyof DocumentQuery, label: string, type: string) => (
    <div className="min-w-0">
      <label className="label" htmlFor={id + name}>
        {label}
      </label>
      <input
        className="field"
        id={id + name}
        onChange={(event) => {
          set(name, event.target.value);
        }}
        type={type}
        value={query[name]}
      />
    </div>
  );
  const choice = (
    name: keyof DocumentQuery,
    label: string,
    options: readonly (readonly [string, string])[],
  ) => (
    <div className="min-w-0">
      <label className="label" htmlFor={id + name}>
        {label}
      </label>
      <select
        className="field"
        id={id + name}
        onChange={(event) => {
          set(name, event.target.value);
        }}
        value={query[name]}
      >
        {options.map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
    </div>
  );
  return (
    <search aria-label="Filters">
      <div className="grid grid-cols-2 items-end gap-3 md:grid-cols-3 xl:grid-cols-[2fr_1fr_1fr_1fr_1.3fr_1.1fr_auto]">
        {field("name_contains", "Name contains", "search")}
        {field("document_type", "Type", "text")}
        {choice("authority", "Authority", AUTHORITIES)}
        {field("tag", "Tag", "text")}
        {choice("standing", "Standing", STANDINGS)}
        {field("as_of", "As of day", "date")}
        <button className="button" disabled={!Object.values(query).some(Boolean)} onClick={onClear}>
          Clear
        </button>
      </div>
    </search>
  );
}
