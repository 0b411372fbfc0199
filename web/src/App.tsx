/** The frame around every view: where one can go, and what is shown there. */
import { useEffect, useRef } from "react";
import { AskView } from "./ask/AskView";
import { ConversationsView } from "./conversations/ConversationsView";
import { DocumentsView } from "./documents/DocumentsView";
import { AnswerSheet } from "./ask/AnswerSheet";
import {
  route,
  toAsk,
  toConversation,
  toConversations,
  toDocuments,
  useHash,
  type Route,
} from "./route";
import { useTheme } from "./theme";
import { useCredentials } from "./credentials";
import { SignIn } from "./ui/SignIn";
import { Icon } from "./ui/Icon";
import { Notice } from "./ui/Notice";
import { useConversation } from "./useConversation";

const TITLES: Record<Route["view"], string> = {
  ask: "Ask",
  documents: "Documents",
  conversations: "Conversations",
  answer: "Answer",
  nowhere: "Nothing here",
};

export function App() {
  const here = route(useHash());
  const { wanted, given } = useCredentials();
  // Kept while other views are shown: a question goes on being answered.
  const asked = useLast(here.view === "ask" ? here.conversation : undefined);
  const talk = useConversation(asked, given);
  const main = useRef<HTMLElement>(null);
  useEffect(() => {
    document.title = `${TITLES[here.view]} · Verity`;
  }, [here.view]);
  return (
    <div className="flex h-dvh flex-col print:block print:h-auto">
      <button
        className="button button-primary absolute start-2 top-2 z-50 -translate-y-20 focus:translate-y-0"
        onClick={() => main.current?.focus()}
      >
        Skip to content
      </button>
      <Header asked={asked} here={here} />
      {wanted && <SignIn />}
      <main className="min-h-0 flex-1 outline-none" key={given} ref={main} tabIndex={-1}>
        {here.view === "ask" && <AskView talk={talk} />}
        {here.view === "documents" && <DocumentsView />}
        {here.view === "conversations" && <ConversationsView />}
        {here.view === "answer" && <AnswerSheet id={here.id} key={here.id} />}
        {here.view === "nowhere" && (
          <div className="mx-auto max-w-xl p-6">
            <h1 className="sr-only">Nothing here</h1>
            <Notice title="There is nothing at this address" tone="plain">
              <a className="underline" href={toAsk}>
                Ask a question
              </a>
            </Notice>
          </div>
        )}
      </main>
    </div>
  );
}

function useLast(conversation: string | undefined): string {
  const last = useRef("");
  useEffect(() => {
    if (conversation !== undefined) last.current = conversation;
  }, [conversation]);
  // eslint-disable-next-line react-hooks/refs -- what was shown last is no state: nothing is drawn anew for it
  return conversation ?? last.current;
}

function Header({ here, asked }: { here: Route; asked: string }) {
  const { theme, next, turn } = useTheme();
  const tabs = [
    {
      to: asked ? toConversation(asked) : toAsk,
      name: "Ask",
      on: here.view === "ask",
    },
    { to: toConversations, name: "Conversations", on: here.view === "conversations" },
    { to: toDocuments, name: "Documents", on: here.view === "documents" },
  ] as const;
  return (
    <header className="no-print flex items-center gap-x-5 border-b max-sm:gap-x-1 border-line bg-surface px-3 sm:px-5">
      <a className="flex items-center gap-2 py-2.5 font-semibold" href={toAsk}>
        <img alt="" className="shrink-0" height="22" src="/icon.svg" width="22" />
        <span className="max-sm:sr-only">Verity</span>
      </a>
      <nav aria-label="Views" className="flex">
        {tabs.map((tab) => (
          <a
            aria-current={tab.on ? "page" : undefined}
            className="border-b-2 border-transparent px-2.5 py-2.5 max-sm:px-1.5 text-muted hover:text-ink aria-[current]:border-accent aria-[current]:font-medium aria-[current]:text-ink"
            href={tab.to}
            key={tab.name}
          >
            {tab.name}
          </a>
        ))}
      </nav>
      <a className="button ms-auto my-1.5 min-h-8" href={toAsk}>
        <Icon name="plus" />
        <span className="max-sm:sr-only">New</span>
        <span className="sr-only">conversation</span>
      </a>
      <button
        aria-label={`Colours: ${theme}. Change to ${next}`}
        className="button button-quiet -ms-3 max-sm:ms-0"
        onClick={turn}
        title={`Colours: ${theme}`}
      >
        <Icon name={theme === "dark" ? "moon" : theme === "light" ? "sun" : "half"} />
      </button>
    </header>
  );
}
