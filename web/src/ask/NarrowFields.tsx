/** The fields that say what may be cited: one body of documents, or facts and rules apart. */
import type { Authority } from "../types";
import { Choice, Field } from "../ui/Field";
import { DocumentChoice } from "./DocumentChoice";
import type { Corpus, Said } from "./narrowing";

const AUTHORITIES = [
  ["", "Any"],
  ["AUTHORITY_MEDIUM", "Medium"],
  ["AUTHORITY_HIGH", "High"],
] as const;
const BODIES = [
  ["one", "Documents that may be cited"],
  ["facts", "Facts, such as a customer’s packet"],
  ["rules", "Rules, such as a policy"],
] as const;

interface Props {
  said: Said;
  onChange: (said: Said) => void;
}

export function NarrowFields({ said, onChange }: Props) {
  return (
    <>
      <div className="flex flex-wrap items-end gap-x-6 gap-y-2">
        <Field
          label="As of day"
          onChange={(as_of) => {
            onChange({ ...said, as_of });
          }}
          type="date"
          value={said.as_of}
        />
        <label className="flex min-h-9 items-center gap-2">
          <input
            checked={said.apart}
            className="size-4 shrink-0 accent-accent"
            onChange={(event) => {
              onChange({ ...said, apart: event.target.checked });
            }}
            type="checkbox"
          />
          Facts and rules apart, to judge compliance
        </label>
      </div>
      <div className={said.apart ? "mt-3 grid gap-3 sm:grid-cols-2" : "mt-3"}>
        {BODIES.filter(([name]) => (name !== "one") === said.apart).map(([name, words]) => (
          <CorpusFields
            corpus={said[name]}
            key={name}
            onChange={(corpus) => {
              onChange({ ...said, [name]: corpus });
            }}
            title={words}
          />
        ))}
      </div>
    </>
  );
}

interface CorpusProps {
  title: string;
  corpus: Corpus;
  onChange: (corpus: Corpus) => void;
}

function CorpusFields({ title, corpus, onChange }: CorpusProps) {
  return (
    <fieldset className="min-w-0 space-y-2 rounded-md border border-line px-3 pb-3">
      <legend className="px-1 font-medium text-ink">{title}</legend>
      <DocumentChoice
        chosen={corpus.documents}
        onChange={(documents) => {
          onChange({ ...corpus, documents });
        }}
      />
      <div className="grid grid-cols-2 gap-3">
        <Field
          label="Document types"
          onChange={(types) => {
            onChange({ ...corpus, types });
          }}
          placeholder="policy, kyc"
          value={corpus.types}
        />
        <Choice
          label="Least authority"
          onChange={(authority) => {
            onChange({ ...corpus, authority: authority as Authority | "" });
          }}
          options={AUTHORITIES}
          value={corpus.authority}
        />
      </div>
    </fieldset>
  );
}
