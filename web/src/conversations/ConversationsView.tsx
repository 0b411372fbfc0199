/** The conversations that can be reopened. */
import { useState } from "react";
import { forget, recent } from "../recent";
import { toAsk, toConversation } from "../route";
import { Icon } from "../ui/Icon";
import { Notice } from "../ui/Notice";
import { count, moment } from "../words";

export function ConversationsView() {
  const [list, setList] = useState(recent);
  return (
    <div
      aria-label="Conversations"
      className="h-full overflow-y-auto px-3 py-5 sm:px-5"
      role="region"
      tabIndex={0}
    >
      <div className="mx-auto max-w-3xl">
        <h1 className="text-xl font-semibold">Conversations</h1>
        <p className="mb-3 text-muted">
          Those held in this browser. Each answer is shown as it was given.
        </p>
        {list.length === 0 && (
          <Notice title="No conversations yet" tone="plain">
            <a className="underline" href={toAsk}>
              Ask a question
            </a>
          </Notice>
        )}
        <ul className="space-y-2">
          {list.map((one) => (
            <li className="panel lazy-row flex items-center gap-2 pe-2" key={one.id}>
              <a
                className="min-w-0 flex-1 rounded-md px-4 py-2.5 hover:text-accent"
                href={toConversation(one.id)}
              >
                <span className="line-clamp-2 font-medium wrap-anywhere" dir="auto">
                  {one.title}
                </span>
                <span className="text-sm text-muted">
                  {count(one.questions, "question")}, last {moment(one.time)}
                </span>
              </a>
              <button
                aria-label={`Take off the list: ${one.title}`}
                className="button button-quiet"
                onClick={() => {
                  setList(forget(one.id));
                }}
                title="Take off the list; the answers stay stored"
              >
                <Icon name="cross" />
              </button>
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}
