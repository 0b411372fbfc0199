/** Documents found by a part of their name, to be ticked; what is ticked stays in sight. */
import { useState } from "react";
import { ANY, useDocuments } from "../documents/useDocuments";
import { Field } from "../ui/Field";
import { ProblemNotice } from "../ui/Notice";
import type { Corpus } from "./narrowing";

const FOUND = 20;

type Documents = Corpus["documents"];

interface Props {
  chosen: Documents;
  onChange: (chosen: Documents) => void;
}

export function DocumentChoice({ chosen, onChange }: Props) {
  const [sought, setSought] = useState("");
  const { list, more, loading, problem } = useDocuments({ ...ANY, name_contains: sought }, FOUND);
  const others = list.filter(({ id }) => !chosen.some((one) => one.id === id));
  const toggle = (document: Documents[number]): void => {
    const rest = chosen.filter(({ id }) => id !== document.id);
    onChange(rest.length < chosen.length ? rest : [...chosen, document]);
  };
  return (
    <div>
      <Field
        label="Documents, by a part of the name"
        onChange={setSought}
        type="search"
        value={sought}
      />
      {problem && <ProblemNotice problem={problem} />}
      <ul
        aria-label="Documents"
        className="mt-1.5 h-24 overflow-y-auto rounded-md bg-sunken px-2 py-1"
        tabIndex={-1}
      >
        {[...chosen, ...others].map(({ id, source_name }) => (
          <li key={id}>
            <label className="flex items-start gap-2 py-0.5">
              <input
                checked={chosen.some((one) => one.id === id)}
                className="mt-1 size-4 shrink-0 accent-accent"
                onChange={() => {
                  toggle({ id, source_name });
                }}
                type="checkbox"
              />
              <span className="min-w-0 text-ink wrap-anywhere" dir="auto">
                {source_name}
              </span>
            </label>
          </li>
        ))}
      </ul>
      <p className="min-h-4 text-xs text-muted" role="status">
        {loading
          ? "Looking"
          : list.length === 0 && !problem
            ? "No document is called so"
            : more && "There are more: write a part of the name"}
      </p>
    </div>
  );
}
