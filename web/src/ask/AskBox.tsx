/** Where a question is written, narrowed, sent and called off. */
import { useId, useState, type KeyboardEvent, type SyntheticEvent } from "react";
import { codePoints } from "../spans";
import type { Authority } from "../types";
import type { Narrowing } from "../useConversation";

const MOST = 4000;
const NEAR = 3500;

interface Props {
  asking: boolean;
  onAsk: (question: string, narrowing: Narrowing) => void;
  onCancel: () => void;
}

export function AskBox({ asking, onAsk, onCancel }: Props) {
  const [question, setQuestion] = useState("");
  const [narrow, setNarrow] = useState({ as_of: "", types: "", authority: "" });
  const id = useId();
  const length = codePoints(question);
  const tooLong = length > MOST;
  const ready = question.trim() !== "" && !tooLong && !asking;

  const submit = (event?: SyntheticEvent): void => {
    event?.preventDefault();
    if (!ready) return;
    onAsk(question.trim(), narrowing(narrow));
    setQuestion("");
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    submit(event);
  };
  const narrowed = Object.values(narrow).filter(Boolean).length;
  return (
    <form className="no-print border-t border-line bg-surface px-3 py-3 sm:px-5" onSubmit={submit}>
      <div className="mx-auto max-w-3xl">
        <label className="sr-only" htmlFor={id}>
          Question
        </label>
        <div className="flex items-end gap-2">
          <textarea
            aria-describedby={`${id}-length`}
            aria-invalid={tooLong}
            className="field field-sizing-content max-h-48 resize-none"
            dir="auto"
            id={id}
            onChange={(event) => {
              setQuestion(event.target.value);
            }}
            onKeyDown={onKeyDown}
            placeholder="Ask about your documents"
            rows={2}
            value={question}
          />
          {asking ? (
            <button className="button w-24" key="cancel" onClick={onCancel} type="button">
              Cancel
            </button>
          ) : (
            <button
              className="button button-primary w-24"
              disabled={!ready}
              key="ask"
              type="submit"
            >
              Ask
            </button>
          )}
        </div>
        <div className="mt-1 flex flex-wrap items-start gap-x-4 text-sm text-muted">
          <details className="min-w-0 grow">
            <summary className="py-0.5">
              Narrow what may be cited{narrowed > 0 && ` (${narrowed} set)`}
            </summary>
            <div className="grid gap-3 py-1 sm:grid-cols-3">
              <div>
                <label className="label" htmlFor={`${id}-day`}>
                  As of day
                </label>
                <input
                  className="field"
                  id={`${id}-day`}
                  onChange={(event) => {
                    setNarrow({ ...narrow, as_of: event.target.value });
                  }}
                  type="date"
                  value={narrow.as_of}
                />
              </div>
              <div>
                <label className="label" htmlFor={`${id}-types`}>
                  Document types
                </label>
                <input
                  className="field"
                  id={`${id}-types`}
                  onChange={(event) => {
                    setNarrow({ ...narrow, types: event.target.value });
                  }}
                  placeholder="policy, kyc"
                  value={narrow.types}
                />
              </div>
              <div>
                <label className="label" htmlFor={`${id}-authority`}>
                  Least authority
                </label>
                <select
                  className="field"
                  id={`${id}-authority`}
                  onChange={(event) => {
                    setNarrow({ ...narrow, authority: event.target.value });
                  }}
                  value={narrow.authority}
                >
                  <option value="">Any</option>
                  <option value="AUTHORITY_MEDIUM">Medium</option>
                  <option value="AUTHORITY_HIGH">High</option>
                </select>
              </div>
            </div>
          </details>
          <p
            className={`py-0.5 ${tooLong ? "font-medium text-bad" : ""} ${length > NEAR ? "" : "max-sm:hidden"}`}
            id={`${id}-length`}
          >
            {length > NEAR
              ? `${length.toLocaleString("en")} of ${MOST.toLocaleString("en")} characters${tooLong ? ": shorten the question" : ""}`
              : "Enter asks, Shift+Enter begins a line"}
          </p>
        </div>
      </div>
    </form>
  );
}

function narrowing(set: { as_of: string; types: string; authority: string }): Narrowing {
  const types = set.types
    .split(",")
    .map((type) => type.trim().toLowerCase())
    .filter(Boolean);
  const filter = {
    ...(types.length > 0 ? { document_types: types } : {}),
    ...(set.authority ? { min_authority: set.authority as Authority } : {}),
  };
  return {
    ...(set.as_of ? { as_of: set.as_of } : {}),
    ...(Object.keys(filter).length > 0 ? { filter } : {}),
  };
}
