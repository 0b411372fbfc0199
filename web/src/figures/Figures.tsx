/** The figures behind an answer: how well it is grounded, how the conversation went, what took time. */
import { qualityOf } from "../api";
import { rejectedClaims } from "./claims";
import type { Answer } from "../types";
import { CopyButton } from "../ui/CopyButton";
import { useLoaded } from "../useLoaded";
import { count, figure, milliseconds } from "../words";
import { Bar } from "./Bar";
import { History } from "./History";
import { Waterfall } from "./Waterfall";

export function Figures({ answer }: { answer: Answer }) {
  // The key has the answer: each one more changes the conversation's quality.
  const quality = useLoaded(`${answer.conversation_id}/${answer.id}`, (signal) =>
    qualityOf(answer.conversation_id, signal),
  );
  const figures = answer.confidence;
  const verified = answer.statements.length;
  const total = verified + rejectedClaims(answer);
  return (
    <div
      aria-label="Figures"
      className="min-h-0 flex-1 space-y-6 overflow-y-auto px-4 py-4"
      role="region"
      tabIndex={0}
    >
      <section aria-labelledby="grounding">
        <h3 className="heading" id="grounding">
          Grounding
        </h3>
        {answer.status === "STATUS_ABSTAINED" ? (
          <p className="mt-1 text-muted">There is no answer, and so nothing that is grounded.</p>
        ) : (
          <div className="mt-2 space-y-2.5">
            <Bar name="Grounding confidence" share={figures?.grounding_confidence ?? 0} strong />
            <Bar name="Citation accuracy" share={figures?.citation_accuracy ?? 0} />
            <Bar name="Source authority" share={figures?.source_authority ?? 0} />
            <Bar name="Coverage" share={figures?.coverage ?? 0} />
          </div>
        )}
        <p className="mt-3 flex justify-between">
          Claims verified
          <strong className="font-semibold tabular-nums">
            {verified}/{total}
          </strong>
        </p>
      </section>
      <section aria-labelledby="history">
        <h3 className="heading" id="history">
          Quality of this conversation
        </h3>
        <p className="mt-1 flex justify-between">
          Mean with this answer
          <strong className="font-semibold tabular-nums">
            {answer.historical_quality === undefined
              ? "not known"
              : figure(answer.historical_quality)}
          </strong>
        </p>
        <History recent={quality.state === "loaded" ? quality.value.recent : []} />
        {quality.state === "failed" && (
          <p className="text-sm text-muted">
            {quality.problem.status === 404
              ? "Nothing is stored of this conversation."
              : quality.problem.detail}
          </p>
        )}
        {quality.state === "loaded" &&
          quality.value.failing_documents.map((failing) => (
            <p className="text-sm text-muted wrap-anywhere" dir="auto" key={failing.document_id}>
              {failing.source_name}: {count(failing.failures, "statement")} that cited it failed
            </p>
          ))}
      </section>
      <section aria-labelledby="time">
        <h3 className="heading" id="time">
          Time by stage
        </h3>
        <Waterfall timings={answer.stage_timings} total={milliseconds(answer.duration)} />
        <p className="mt-2 flex items-center justify-between gap-2">
          Trace
          {answer.trace_id ? (
            <span className="flex min-w-0 items-center">
              <code className="truncate font-mono text-xs">{answer.trace_id}</code>
              <CopyButton label="Copy the trace id" text={() => answer.trace_id} />
            </span>
          ) : (
            <span className="text-muted">not traced</span>
          )}
        </p>
      </section>
      {answer.search && (
        <section aria-labelledby="search" className="text-sm">
          <h3 className="heading" id="search">
            Search
          </h3>
          <p className="mt-1 wrap-anywhere">
            {count(answer.search.passage_count, "passage")} of{" "}
            {count(answer.search.document_count, "document")}
            {answer.search.as_of && `, as of ${answer.search.as_of}`}
            {answer.search.ranking && `, ranked by ${answer.search.ranking}`}
          </p>
        </section>
      )}
    </div>
  );
}
