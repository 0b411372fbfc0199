/** An answer with its citations, to copy, to save or to print. */
import { download } from "../download";
import { fileName, json, markdown } from "../exports";
import { toAnswer } from "../route";
import type { Answer } from "../types";
import { CopyButton } from "../ui/CopyButton";
import { Icon } from "../ui/Icon";

export function TakeAway({ answer }: { answer: Answer }) {
  return (
    <>
      <CopyButton label="Copy answer with citations" text={() => markdown(answer)}>
        Copy
      </CopyButton>
      <button
        className="button button-quiet"
        onClick={() => {
          download(fileName(answer, "md"), markdown(answer), "text/markdown");
        }}
      >
        <Icon name="down" /> Markdown
      </button>
      <button
        className="button button-quiet"
        onClick={() => {
          download(fileName(answer, "json"), json(answer), "application/json");
        }}
      >
        <Icon name="down" /> JSON
      </button>
      {!answer.memory_degraded && (
        <a className="button button-quiet" href={toAnswer(answer.id)}>
          <Icon name="print" /> Printable
        </a>
      )}
    </>
  );
}
