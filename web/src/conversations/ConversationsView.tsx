/** The conversations that can be reopened, the one answered last first. */
import { conversations } from "../api";
import { toAsk, toConversation } from "../route";
import { Notice, ProblemNotice } from "../ui/Notice";
import { usePages } from "../usePages";
import { moment } from "../words";

const SIZE = 100;

export function ConversationsView() {
  const { list, more, loading, problem, loadMore } = usePages("", async (token, signal) => {
    const reply = await conversations({ size: SIZE, token }, signal);
    return { items: reply.conversations, token: reply.next_page_token };
  });
  return (
    <div
      aria-label="Conversations"
      className="h-full overflow-y-auto px-3 py-5 sm:px-5"
      role="region"
      tabIndex={0}
    >
      <div className="mx-auto max-w-3xl">
        <h1 className="text-xl font-semibold">Conversations</h1>
        <p className="mb-3 text-muted">Each answer is shown as it was given.</p>
        {problem && <ProblemNotice problem={problem} />}
        {list.length === 0 && !loading && !problem && (
          <Notice title="No conversations yet" tone="plain">
            <a className="underline" href={toAsk}>
              Ask a question
            </a>
          </Notice>
        )}
        <ul className="space-y-2">
          {list.map((one) => (
            <li className="panel lazy-row" key={one.id}>
              <a
                className="block rounded-md px-4 py-2.5 hover:text-accent"
                href={toConversation(one.id)}
              >
                <span className="line-clamp-2 font-medium wrap-anywhere" dir="auto">
                  {one.first_question || one.id}
                </span>
                <span className="text-sm text-muted">
                  Last answered {moment(one.last_answer_time)}
                </span>
              </a>
            </li>
          ))}
        </ul>
        {loading && (
          <p className="pulse mt-2 text-muted" role="status">
            Loading conversations
          </p>
        )}
        {more && !loading && (
          <button className="button mt-3" onClick={loadMore}>
            Show more
          </button>
        )}
      </div>
    </div>
  );
}
