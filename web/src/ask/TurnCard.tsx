/** One question and its answer, from the moment it is asked. */
import { memo } from "react";
import type { Turn } from "../asking";
import { firstNumbers } from "../citations";
import type { Open } from "../shown";
import { Notice, ProblemNotice } from "../ui/Notice";
import { count, sentence, plain } from "../words";
import { Abstained } from "./Abstained";
import { Badges } from "./Badges";
import { HowAnswered } from "./HowAnswered";
import { Stages } from "./Stages";
import { StatementItem } from "./StatementItem";
import { TakeAway } from "./TakeAway";

interface Props {
  turn: Turn;
  open: Open | undefined;
  onOpen: (open: Open) => void;
  onAgain: (turn: Turn) => void;
  /** Whether it fills the window, so that it can stand at its top from its beginning. */
  tall: boolean;
}

export const TurnCard = memo(function TurnCard({ turn, open, onOpen, onAgain, tall }: Props) {
  const { answer, statements, request } = turn;
  const first = firstNumbers(statements);
  const number = open?.pane === "source" ? open.number : 0;
  const heading = `question-${turn.key}`;
  const again = request && (
    <button
      className="button mt-2 text-ink"
      onClick={() => {
        onAgain(turn);
      }}
    >
      Ask again
    </button>
  );
  return (
    <article
      aria-busy={turn.phase === "asking"}
      aria-labelledby={heading}
      className={`scroll-mt-3 ${tall ? "min-h-[calc(100dvh-12rem)]" : ""}`}
    >
      <h2 className="line-clamp-6 text-lg/snug font-semibold wrap-anywhere" dir="auto" id={heading}>
        {turn.question}
      </h2>
      <p className="sr-only" role="status">
        {said(turn)}
      </p>
      <div className="panel mt-2 px-4 py-3">
        <div className="flex min-h-7 flex-wrap items-center gap-1.5">
          {answer ? <Badges answer={answer} /> : <Progress turn={turn} />}
        </div>
        <Stages turn={turn} />
        {statements.length > 0 && (
          <ol aria-label="Statements" className="mt-1 divide-y divide-line">
            {statements.map((statement, at) => {
              const from = first[at] ?? 1;
              const here = number >= from && number < from + statement.citations.length;
              return (
                <StatementItem
                  first={from}
                  key={at}
                  onOpen={onOpen}
                  open={here ? number : 0}
                  statement={statement}
                  turn={turn.key}
                />
              );
            })}
          </ol>
        )}
        {answer && statements.length > 0 && first.length > 0 && !cites(turn) && (
          <Notice title="This answer cites nothing" tone="warn">
            There is no source to check it against.
          </Notice>
        )}
        {answer?.abstention && <Abstained number={number} onOpen={onOpen} turn={turn} />}
        {answer?.compliance_gaps.map((gap) => (
          <p className="mt-2 text-sm text-muted" key={gap.corpus} dir="auto">
            <strong className="font-medium text-ink">
              Compliance lacks {plain(gap.corpus, "CORPUS_")}:
            </strong>{" "}
            {gap.message}
          </p>
        ))}
        {turn.problem && (
          <div className="mt-2">
            <ProblemNotice problem={turn.problem}>
              {statements.length > 0 && (
                <p>What stands above was verified; the answer is not complete, and not stored.</p>
              )}
              {again}
            </ProblemNotice>
          </div>
        )}
        {turn.phase === "cancelled" && (
          <div className="mt-2">
            <Notice title="Cancelled" tone="plain">
              {statements.length > 0 && (
                <p>What stands above was verified; the answer is not complete, and not stored.</p>
              )}
              {again}
            </Notice>
          </div>
        )}
        {answer && <HowAnswered answer={answer} />}
        {answer && (
          <div className="no-print mt-2 -ms-2 -mb-1 flex flex-wrap items-center border-t border-line pt-1">
            <button
              aria-pressed={open?.pane === "figures"}
              className="button button-quiet aria-pressed:text-accent"
              onClick={() => {
                onOpen({ pane: "figures", turn: turn.key });
              }}
            >
              Figures
            </button>
            <TakeAway answer={answer} />
          </div>
        )}
      </div>
    </article>
  );
});

function Progress({ turn }: { turn: Turn }) {
  if (turn.phase !== "asking") return <span className="text-sm text-muted">Not answered</span>;
  const words = [
    turn.attempt > 1 ? `Draft ${turn.attempt}` : "Answering",
    turn.passages.length > 0 && count(turn.passages.length, "passage"),
    turn.statements.length > 0 && `${count(turn.statements.length, "statement")} verified`,
    turn.objections.length > 0 && count(turn.objections.length, "objection"),
  ];
  return <span className="text-sm text-muted">{words.filter(Boolean).join(" · ")}</span>;
}

function cites(turn: Turn): boolean {
  return turn.statements.some((statement) => statement.citations.length > 0);
}

/** What a screen reader says as things happen; not each stage, which would be noise. */
function said(turn: Turn): string {
  if (turn.phase === "asking") {
    if (turn.statements.length === 0) return "Answering";
    return `${count(turn.statements.length, "statement")} verified so far`;
  }
  if (turn.phase !== "answered" || !turn.request || !turn.answer) return "";
  const status = sentence(plain(turn.answer.status, "STATUS_"));
  return `${status}, ${count(turn.statements.length, "statement")}`;
}
