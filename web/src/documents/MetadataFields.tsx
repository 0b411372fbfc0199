/** What is said of files that are uploaded: their type, authority, dates, tags, what they supersede. */
import { useId } from "react";
import type { Metadata } from "../upload";

interface Props {
  metadata: Metadata;
  onChange: (metadata: Metadata) => void;
}

type Single = Exclude<keyof Metadata, "tags" | "supersedes" | "readers">;

export function MetadataFields({ metadata, onChange }: Props) {
  const id = useId();
  const set = (name: Single, value: string): void => {
    onChange({ ...metadata, [name]: value });
  };
  const lines = (text: string): string[] =>
    text
      .split(",")
      .map((one) => one.trim())
      .filter(Boolean);
  const text = (name: Single, label: string, type: "text" | "date") => (
    <div key={name}>
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
        value={metadata[name]}
      />
    </div>
  );
  return (
    <div className="grid gap-3 py-2 sm:grid-cols-2 xl:grid-cols-4">
      {text("document_type", "Type, such as policy", "text")}
      <div>
        <label className="label" htmlFor={`${id}authority`}>
          Authority
        </label>
        <select
          className="field"
          id={`${id}authority`}
          onChange={(event) => {
            set("authority", event.target.value);
          }}
          value={metadata.authority}
        >
          <option value="">Standard</option>
          <option value="AUTHORITY_MEDIUM">Medium</option>
          <option value="AUTHORITY_HIGH">High</option>
        </select>
      </div>
      {text("published", "Published", "date")}
      {text("effective_from", "Effective from", "date")}
      {text("effective_to", "Effective until", "date")}
      <Listed
        label="Tags, by commas"
        name={`${id}tags`}
        onChange={(value) => {
          onChange({ ...metadata, tags: lines(value) });
        }}
      />
      <Listed
        label="Only for groups (by commas)"
        name={`${id}readers`}
        onChange={(value) => {
          onChange({ ...metadata, readers: lines(value) });
        }}
      />
      <Listed
        label="Takes the place of (names, by commas)"
        name={`${id}supersedes`}
        onChange={(value) => {
          onChange({ ...metadata, supersedes: lines(value) });
        }}
      />
    </div>
  );
}

interface ListedProps {
  name: string;
  label: string;
  onChange: (text: string) => void;
}

function Listed({ name, label, onChange }: ListedProps) {
  return (
    <div>
      <label className="label" htmlFor={name}>
        {label}
      </label>
      <input
        className="field"
        id={name}
        onChange={(event) => {
          onChange(event.target.value);
        }}
      />
    </div>
  );
}
