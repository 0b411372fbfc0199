/** The conversations that can be reopened, the one answered last first. */
import { conversations } from "../api";
import { toAsk, toConversation } from "../route";
import { Paged } from "../ui/Paged";
import { Region } from "../ui/Region";
import { usePages } from "../usePages";
import { moment } from "../words";

const SIZE = 100;

export function ConversationsView() {
  const pages = usePages("", async (token, signal) => {
    const reply = await conversations({ size: SIZE, token }, signal);
    return { items: reply.conversations, token: reply.next_page_token };
  });
  const ask = (
    <a className="underline" href={toAsk}>
      Ask a question
    </a>
  );
  return (
    <Region label="Conversations" width="max-w-3xl">
      <div>
        <h1 className="text-xl font-semibold">Conversations</h1>
        <p className="text-muted">Each answer is shown as it was given.</p>
      </div>
      <Paged
        empty={{ title: "No conversations yet", words: ask }}
        pages={pages}
        things="conversations"
      >
        <ul className="space-y-2">
          {pages.list.map((one) => (
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
      </Paged>
    </Region>
  );
}
