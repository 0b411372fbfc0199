/** How an answer came about: how the question was read, each draft, and what was rejected and why. */
import { pieces } from "../spans";
import type { Answer, Objection, Strategy } from "../types";
import { Icon } from "../ui/Icon";
import { count, milliseconds, outcomeWords, plain, sentence, time } from "../words";

export function HowAnswered({ answer }: { answer: Answer }) {
  const { objections, strategy } = answer;
  const rejected = objections.length;
  const learned = strategy?.why ?? [];
  const said = [
    count(answer.attempts, "draft"),
    rejected > 0 && count(rejected, "objection"),
    learned.length > 0 && "strategy changed",
  ].filter(Boolean);
  return (
    <details className="mt-2 text-sm">
      <summary className="py-1 text-muted">How it was answered: {said.join(", ")}</summary>
      <div className="mt-1 space-y-4 border-s-2 border-line ps-3">
        {answer.standalone_question && (
          <section>
            <h3 className="heading">The question as it was read</h3>
            <p className="wrap-anywhere" dir="auto">
              {answer.standalone_question}
            </p>
          </section>
        )}
        {strategy && learned.length > 0 && <Learned strategy={strategy} />}
        {rejected > 0 && (
          <section>
            <h3 className="heading">What was rejected, and why</h3>
            <ol className="mt-1 space-y-2">
              {objections.map((objection, at) => (
                <Rejected key={at} objection={objection} />
              ))}
            </ol>
          </section>
        )}
        {answer.attempt_log.length > 0 && <Drafts answer={answer} />}
        <p className="text-muted wrap-anywhere">
          Drafted by {answer.generator || "nothing"}, verified by {answer.verifier || "nothing"}
        </p>
      </div>
    </details>
  );
}

function Rejected({ objection }: { objection: Objection }) {
  const spans = objection.reasons.flatMap((reason) => reason.statement_span ?? []);
  const text = objection.statement?.text;
  return (
    <li className="rounded-md bg-sunken px-3 py-2">
      <p className="flex flex-wrap items-center gap-x-2 font-medium text-bad">
        <Icon name="cross" size={14} />
        {sentence(plain(objection.verdict, "VERDICT_"))}
        <span className="font-normal text-muted">
          draft {objection.attempt}; {outcomeWords(objection.outcome)}
        </span>
      </p>
      {text !== undefined && (
        <p className="mt-1 wrap-anywhere whitespace-pre-line" dir="auto">
          {pieces(text, spans).map((piece, at) =>
            piece.marked ? <mark key={at}>{piece.text}</mark> : <span key={at}>{piece.text}</span>,
          )}
        </p>
      )}
      <ul className="mt-1 text-muted">
        {objection.reasons.map((reason, at) => (
          <li className="wrap-anywhere" dir="auto" key={at}>
            {reason.message || sentence(plain(reason.code, "CODE_"))}
            {reason.closest_text && (
              <>
                {" "}
                Nearest words: <q>{reason.closest_text}</q>
              </>
            )}
          </li>
        ))}
      </ul>
    </li>
  );
}

function Learned({ strategy }: { strategy: Strategy }) {
  return (
    <section>
      <h3 className="heading">Done otherwise than by default</h3>
      <ul className="list-disc ps-5">
        {strategy.why.map((why) => (
          <li dir="auto" key={why.choice + why.reason}>
            {why.reason}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Drafts({ answer }: { answer: Answer }) {
  return (
    <section>
      <h3 className="heading">Drafts</h3>
      <ol className="mt-1 space-y-1">
        {answer.attempt_log.map((attempt) => (
          <li className="wrap-anywhere" key={attempt.attempt}>
            {attempt.attempt}. {sentence(outcomeWords(attempt.outcome))}: {attempt.verified} of{" "}
            {count(attempt.drafted, "statement")} verified, from{" "}
            {count(attempt.passages, "passage")}, {time(milliseconds(attempt.duration))}
            <span className="block text-muted" dir="auto">
              Searched for <q>{attempt.query}</q>
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}
