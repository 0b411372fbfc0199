/** A conversation: its answers, the next question, and beside them a source or the figures. */
import { useCallback, useEffect, useRef, useState } from "react";
import { toConversation } from "../route";
import { citable, type Open } from "../shown";
import { SidePane } from "../source/SidePane";
import { ProblemNotice } from "../ui/Notice";
import type { Narrowing } from "../types";
import type { Talk } from "../useConversation";
import { useWide } from "../useWide";
import { AskBox } from "./AskBox";
import { EXAMPLES } from "./examples";
import { TurnCard } from "./TurnCard";

export function AskView({ talk }: { talk: Talk }) {
  const { conversation, asking } = talk;
  const wide = useWide();
  const [open, setOpen] = useState<Open>();
  const opener = useRef<HTMLElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const turns = conversation.turns;
  const last = turns.findLast((turn) => turn.answer) ?? turns.at(-1);
  const turn = turns.find((one) => one.key === open?.turn);
  const shown = turn
    ? open
    : wide && last
      ? ({ pane: "figures", turn: last.key } as Open)
      : undefined;
  const shownTurn = turn ?? last;

  const onOpen = useCallback((next: Open) => {
    opener.current = document.activeElement as HTMLElement | null;
    setOpen(next);
  }, []);
  const onClose = useCallback(() => {
    setOpen(undefined);
    // After the list may be focused again: it is inert while a pane covers it.
    window.setTimeout(() => opener.current?.focus(), 0);
  }, []);
  const onAsk = (question: string, narrowing: Narrowing): void => {
    const id = talk.ask(question, narrowing);
    setOpen(undefined);
    window.location.hash = toConversation(id);
  };

  // A question that was just asked is brought to the top; nothing moves after that.
  const newest = turns.at(-1)?.key;
  useEffect(() => {
    if (newest) list.current?.lastElementChild?.scrollIntoView({ block: "start" });
  }, [newest]);

  const covered = shown !== undefined && !wide;
  return (
    <div className="flex h-full min-h-0">
      <div className="flex min-w-0 flex-1 flex-col" inert={covered}>
        <h1 className="sr-only">Ask</h1>
        <div
          aria-label="Answers"
          className="min-h-0 flex-1 overflow-y-auto px-3 py-4 sm:px-5"
          role="region"
          tabIndex={0}
        >
          <div className="mx-auto max-w-3xl space-y-6" ref={list}>
            {conversation.loading && <Loading />}
            {conversation.problem && <ProblemNotice problem={conversation.problem} />}
            {turns.length === 0 && !conversation.loading && !conversation.problem && (
              <Welcome onAsk={onAsk} />
            )}
            {turns.map((one, at) => (
              <TurnCard
                key={one.key}
                onAgain={talk.again}
                onOpen={onOpen}
                tall={at > 0 && at === turns.length - 1 && one.request !== undefined}
                open={shown?.turn === one.key ? shown : undefined}
                turn={one}
              />
            ))}
          </div>
        </div>
        <AskBox asking={asking} onAsk={onAsk} onCancel={talk.cancel} />
      </div>
      {shown && shownTurn && (
        <SidePane
          citations={citable(shownTurn)}
          closable={!wide || open !== undefined}
          covering={!wide}
          onClose={onClose}
          onOpen={setOpen}
          open={shown}
          turn={shownTurn}
        />
      )}
    </div>
  );
}

function Welcome({ onAsk }: { onAsk: (question: string, narrowing: Narrowing) => void }) {
  return (
    <section aria-labelledby="welcome" className="pt-6 sm:pt-14">
      <h2 className="text-2xl font-semibold" id="welcome">
        Answers you can check
      </h2>
      <p className="mt-1 max-w-prose text-muted">
        Every sentence of an answer was verified against the words it cites. Click a number to see
        them on their page. Where the sources do not answer, there is no answer.
      </p>
      <h3 className="heading mt-8 mb-2">Try the sample documents</h3>
      <ul className="space-y-2">
        {EXAMPLES.map(({ question, about }) => (
          <li key={question}>
            <button
              className="panel w-full px-4 py-3 text-start hover:border-accent"
              onClick={() => {
                onAsk(question, {});
              }}
            >
              <span className="block font-medium">{question}</span>
              <span className="block text-sm text-muted">{about}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Loading() {
  return (
    <div aria-busy="true" className="space-y-3" role="status">
      <span className="sr-only">Loading the conversation</span>
      {[60, 90, 75].map((width) => (
        <div className="pulse h-5 rounded bg-sunken" key={width} style={{ width: `${width}%` }} />
      ))}
    </div>
  );
}
