/** One stored answer on a sheet that can be printed: statements, sources, figures. */
import { answerOf } from "../api";
import { firstNumbers, numbered } from "../citations";
import { source } from "../exports";
import { toConversation } from "../route";
import { ProblemNotice } from "../ui/Notice";
import { Icon } from "../ui/Icon";
import { Region } from "../ui/Region";
import { visible } from "../spans";
import { useLoaded } from "../useLoaded";
import type { Answer } from "../types";
import { abstentionTitle, count, moment } from "../words";
import { Badges } from "./Badges";
import { TakeAway } from "./TakeAway";

export function AnswerSheet({ id }: { id: string }) {
  const loaded = useLoaded(id, (signal) => answerOf(id, signal));
  return (
    <Region label="Answer" width="max-w-3xl">
      {loaded.state === "loading" && <h1 role="status">Loading the answer</h1>}
      {loaded.state === "failed" && (
        <>
          <h1 className="sr-only">Answer</h1>
          <ProblemNotice problem={loaded.problem} />
        </>
      )}
      {loaded.state === "loaded" && <Sheet answer={loaded.value} />}
    </Region>
  );
}

function Sheet({ answer }: { answer: Answer }) {
  const first = firstNumbers(answer.statements);
  return (
    <article>
      <div className="no-print mb-4 flex flex-wrap items-center gap-1">
        <a className="button" href={toConversation(answer.conversation_id)}>
          <Icon name="left" /> Conversation
        </a>
        <button
          className="button button-primary"
          onClick={() => {
            window.print();
          }}
        >
          <Icon name="print" /> Print
        </button>
        <TakeAway answer={{ ...answer, memory_degraded: true }} />
      </div>
      <h1 className="text-xl/snug font-semibold wrap-anywhere" dir="auto">
        {answer.question}
      </h1>
      <div className="mt-2 flex flex-wrap gap-1.5">
        <Badges answer={answer} />
      </div>
      {answer.abstention && (
        <p className="mt-3 whitespace-pre-line" dir="auto">
          <strong>{abstentionTitle(answer.abstention.type)}.</strong> {answer.abstention.message}
          {answer.search &&
            ` Searched: ${count(answer.search.passage_count, "passage")} of ${count(answer.search.document_count, "document")}.`}
        </p>
      )}
      <ol className="mt-3 list-disc space-y-1.5 ps-5">
        {answer.statements.map((statement, at) => (
          <li className="wrap-anywhere" dir="auto" key={at}>
            {statement.text}{" "}
            {statement.citations.map((_, n) => `[${(first[at] ?? 1) + n}]`).join("")}
          </li>
        ))}
      </ol>
      {answer.statements.length > 0 && <h2 className="mt-6 text-lg font-semibold">Sources</h2>}
      <ol className="mt-2 space-y-3">
        {numbered(answer.statements).map(({ number, citation }) => (
          <li className="break-inside-avoid wrap-anywhere" key={number}>
            <p dir="auto">
              [{number}] {source(citation)}
            </p>
            <blockquote
              className="my-1 border-s-2 border-line ps-3 whitespace-pre-line text-muted"
              dir="auto"
            >
              {visible(citation.quote)}
            </blockquote>
            <p className="font-mono text-xs text-muted">SHA-256 {citation.document_sha256}</p>
          </li>
        ))}
      </ol>
      <p className="mt-6 border-t border-line pt-2 text-xs text-muted wrap-anywhere">
        Answer {answer.id}, {moment(answer.create_time)}, trace {answer.trace_id || "none"}, drafted
        by {answer.generator || "nothing"}, verified by {answer.verifier}
      </p>
    </article>
  );
}
