/** One released statement: its mark, its words, and the numbers of what it cites. */
import { memo } from "react";
import { pageName } from "../citations";
import type { Open } from "../shown";
import type { Statement } from "../types";
import { Icon } from "../ui/Icon";
import { plain, sentence } from "../words";

interface Props {
  statement: Statement;
  /** The number of its first citation. */
  first: number;
  turn: string;
  /** The number of the citation that is open; 0: none of this statement. */
  open: number;
  onOpen: (open: Open) => void;
}

export const StatementItem = memo(function StatementItem(props: Props) {
  const { statement, first, turn, open, onOpen } = props;
  const supported = statement.verdict === "VERDICT_SUPPORTED";
  const verdict = sentence(plain(statement.verdict, "VERDICT_"));
  return (
    <li className="lazy flex gap-2.5 py-2">
      <span
        className={`mt-0.5 flex size-5 shrink-0 items-center justify-center rounded-full ${
          supported ? "bg-good-soft text-good" : "bg-bad-soft text-bad"
        }`}
        title={verdict}
      >
        <Icon name={supported ? "check" : "cross"} size={13} />
        <span className="sr-only">{verdict}:</span>
      </span>
      <div className="min-w-0 grow">
        <p className="wrap-anywhere" dir="auto">
          <span className="whitespace-pre-line">{statement.text}</span>{" "}
          <span className="inline-flex flex-wrap gap-1 align-baseline">
            {statement.citations.map((citation, at) => {
              const number = first + at;
              const where = `${citation.source_name}, ${pageName(citation.page_number, citation.page_label)}`;
              return (
                <button
                  aria-label={`Citation ${number}: ${where}`}
                  aria-pressed={open === number}
                  className="cite"
                  key={number}
                  onClick={() => {
                    onOpen({ pane: "source", turn, number });
                  }}
                  title={where}
                >
                  {number}
                </button>
              );
            })}
          </span>
        </p>
        {statement.derived_figures.map((figure) => (
          <p className="text-sm text-muted" dir="auto" key={figure.formula}>
            Computed: {figure.formula}
          </p>
        ))}
      </div>
    </li>
  );
});
