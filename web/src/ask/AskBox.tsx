/** Where a question is written, narrowed, sent and called off. */
import { useId, useState, type KeyboardEvent, type SyntheticEvent } from "react";
import { codePoints } from "../spans";
import type { Narrowing } from "../types";
import { Icon } from "../ui/Icon";
import { NarrowFields } from "./NarrowFields";
import { lacking, narrowing, NOTHING_SAID, summary } from "./narrowing";

const MOST = 4000;
const NEAR = 3500;
const HINT = "Enter asks, Shift+Enter begins a line";

interface Props {
  asking: boolean;
  onAsk: (question: string, narrowing: Narrowing) => void;
  onCancel: () => void;
}

export function AskBox({ asking, onAsk, onCancel }: Props) {
  const [question, setQuestion] = useState("");
  const [said, setSaid] = useState(NOTHING_SAID);
  const [open, setOpen] = useState(false);
  const id = useId();
  const length = codePoints(question);
  const tooLong = length > MOST;
  const missing = lacking(said);
  const wrong = tooLong || missing !== "";
  const ready = question.trim() !== "" && !wrong && !asking;
  const chosen = summary(said);
  const hint = missing || lengthWords(length) || HINT;

  const submit = (event?: SyntheticEvent): void => {
    event?.preventDefault();
    if (!ready) return;
    onAsk(question.trim(), narrowing(said));
    setQuestion("");
    setOpen(false);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    submit(event);
  };
  return (
    <form className="no-print border-t border-line bg-surface px-3 py-3 sm:px-5" onSubmit={submit}>
      <div className="mx-auto max-w-3xl">
        <label className="sr-only" htmlFor={id}>
          Question
        </label>
        <div className="flex items-end gap-2">
          <textarea
            aria-describedby={`${id}-hint`}
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
        <div className="mt-1 flex flex-wrap items-baseline gap-x-4 text-sm text-muted">
          <button
            aria-controls={`${id}-narrow`}
            aria-expanded={open}
            className="flex min-w-0 grow basis-60 items-center gap-1.5 py-0.5 text-start hover:text-ink"
            onClick={() => {
              setOpen(!open);
            }}
            type="button"
          >
            <span className={open ? "rotate-90" : "rtl:rotate-180"}>
              <Icon name="right" size={12} />
            </span>
            <span className="min-w-0 truncate">
              {chosen ? `Cites only ${chosen}` : "Choose what may be cited"}
            </span>
          </button>
          <p
            className={`shrink-0 py-0.5 ${wrong ? "font-medium text-bad" : ""} ${hint === HINT ? "max-sm:hidden" : ""}`}
            id={`${id}-hint`}
          >
            {hint}
          </p>
        </div>
        {open && (
          <div
            className="mt-1 max-h-[45dvh] overflow-y-auto pb-1 text-sm text-muted"
            id={`${id}-narrow`}
            onKeyDown={(event) => {
              // Enter in these fields is not yet the question.
              if (event.key === "Enter") event.preventDefault();
            }}
          >
            <NarrowFields onChange={setSaid} said={said} />
          </div>
        )}
      </div>
    </form>
  );
}

function lengthWords(length: number): string {
  if (length <= NEAR) return "";
  const words = `${length.toLocaleString("en")} of ${MOST.toLocaleString("en")} characters`;
  return length > MOST ? `${words}: shorten the question` : words;
}
