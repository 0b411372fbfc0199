/** The documents that pass the filters, page by page, as the server finds them. */
import { useCallback, useEffect, useState } from "react";
import { documents, isAbort, problemOf, type DocumentQuery } from "../api";
import type { Document, Problem } from "../types";

const PAGE = 100;
const TYPING_MS = 200;

interface Found {
  /** The filters and the refresh that this was found for. */
  key: string;
  list: Document[];
  token: string;
  problem?: Problem;
}

export interface Documents {
  list: Document[];
  more: boolean;
  loading: boolean;
  problem: Problem | undefined;
  loadMore: () => void;
  refresh: () => void;
}

export function useDocuments(query: DocumentQuery): Documents {
  const [found, setFound] = useState<Found>();
  const [refreshes, setRefreshes] = useState(0);
  const [wanted, setWanted] = useState({ key: "", pages: 1 });
  const key = JSON.stringify([query, refreshes]);
  const pages = wanted.key === JSON.stringify(query) ? wanted.pages : 1;

  useEffect(() => {
    const stop = new AbortController();
    const load = async (): Promise<void> => {
      const list: Document[] = [];
      let token = "";
      for (let page = 0; page < pages; page++) {
        const reply = await documents(query, { size: PAGE, token }, stop.signal);
        list.push(...reply.documents);
        token = reply.next_page_token;
        if (token === "") break;
      }
      setFound({ key: key + pages.toString(), list, token });
    };
    // Typing asks once, not for every letter.
    const timer = window.setTimeout(() => {
      load().catch((error: unknown) => {
        if (isAbort(error)) return;
        const problem = problemOf(error);
        setFound({ key: key + pages.toString(), list: [], token: "", problem });
      });
    }, TYPING_MS);
    return () => {
      window.clearTimeout(timer);
      stop.abort();
    };
  }, [key, pages, query]);

  const queryKey = JSON.stringify(query);
  const loadMore = useCallback(() => {
    setWanted({ key: queryKey, pages: pages + 1 });
  }, [queryKey, pages]);
  const refresh = useCallback(() => {
    setRefreshes((count) => count + 1);
  }, []);
  return {
    // What was found before stays while the next is looked for.
    list: found?.list ?? [],
    more: Boolean(found?.token),
    loading: found?.key !== key + pages.toString(),
    problem: found?.problem,
    loadMore,
    refresh,
  };
}
