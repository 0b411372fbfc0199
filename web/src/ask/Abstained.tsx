/** Why there is no answer: what was searched, what came nearest, what was left out. */
import type { Turn } from "../asking";
import { pageName } from "../citations";
import { citable, type Open } from "../shown";
import { slice, visible } from "../spans";
import type { SearchReport } from "../types";
import { Notice } from "../ui/Notice";
import { AUTHORITY, abstentionTitle, count, effective, exclusionWords } from "../words";

interface Props {
  turn: Turn;
  number: number;
  onOpen: (open: Open) => void;
}

const SHOWN = 240;

export function Abstained({ turn, number, onOpen }: Props) {
  const abstention = turn.answer?.abstention;
  const search = turn.answer?.search;
  if (!abstention) return null;
  const found = turn.statements.length > 0 ? [] : citable(turn);
  const conflicting = abstention.conflicting.length;
  return (
    <div className="mt-2 space-y-3">
      <Notice title={abstentionTitle(abstention.type)} tone="plain">
        <p className="whitespace-pre-line" dir="auto">
          {abstention.message}
        </p>
      </Notice>
      {search && <Searched search={search} />}
      {found.length > 0 && (
        <div>
          <h3 className="heading">
            {conflicting > 0
              ? "The sources that disagree, and what came nearest"
              : "What came nearest"}
          </h3>
          <ul className="mt-1 divide-y divide-line">
            {found.map(({ number: own, name, citation }) => (
              <li className="flex gap-2.5 py-1.5" key={own}>
                <button
                  aria-label={`${name}: ${citation.source_name}`}
                  aria-pressed={number === own}
                  className="cite shrink-0 self-start"
                  onClick={() => {
                    onOpen({ pane: "source", turn: turn.key, number: own });
                  }}
                >
                  {own}
                </button>
                <div className="min-w-0 text-sm">
                  <p className="font-medium wrap-anywhere" dir="auto">
                    {citation.source_name}
                    <span className="font-normal text-muted">
                      {`, ${pageName(citation.page_number, citation.page_label)}, authority ${AUTHORITY[citation.authority]}`}
                    </span>
                  </p>
                  <p className="line-clamp-2 text-muted wrap-anywhere" dir="auto">
                    {visible(slice(citation.quote, { start: 0, end: SHOWN }))}
                  </p>
                </div>
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}

function Searched({ search }: { search: SearchReport }) {
  return (
    <div className="text-sm">
      <h3 className="heading">What was searched</h3>
      <p>
        {count(search.passage_count, "passage")} of {count(search.document_count, "document")}
        {search.as_of && ` in force on ${search.as_of}`}
        {search.filter && ", narrowed as asked"}, for{" "}
        <q className="wrap-anywhere" dir="auto">
          {search.query}
        </q>
      </p>
      {search.exclusions.length > 0 && (
        <ul className="mt-1 list-disc ps-5 text-muted">
          {search.exclusions.map((left) => (
            <li dir="auto" key={left.document_id}>
              {left.source_name} was left out: {exclusionWords(left.reason)}
              {left.superseded_by_name && ` by ${left.superseded_by_name}`}
              {effective(left.effective_from, left.effective_to) &&
                ` (effective ${effective(left.effective_from, left.effective_to)})`}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
