/** What stands around a list that comes page by page: why it is empty or failed, and how to see more. */
import type { ReactNode } from "react";
import type { Pages } from "../usePages";
import { Notice, ProblemNotice } from "./Notice";

interface Props {
  /** "documents". */
  things: string;
  pages: Pages<unknown>;
  empty: { title: string; words: ReactNode };
  /** The list itself. */
  children: ReactNode;
}

export function Paged({ things, pages, empty, children }: Props) {
  const { list, more, loading, problem, loadMore } = pages;
  return (
    <>
      {problem && <ProblemNotice problem={problem} />}
      {list.length > 0 && children}
      {list.length === 0 && !loading && !problem && (
        <Notice title={empty.title} tone="plain">
          {empty.words}
        </Notice>
      )}
      {loading && (
        <p className="pulse text-muted" role="status">
          Loading {things}
        </p>
      )}
      {more && !loading && (
        <button className="button" onClick={loadMore}>
          Show more
        </button>
      )}
      {list.length > 0 && (
        <p className="text-sm text-muted">
          {list.length.toLocaleString("en")} shown{more && ", there are more"}
        </p>
      )}
    </>
  );
}
