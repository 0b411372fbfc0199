/** A list that comes page by page, of which as much is shown as was asked for. */
import { useCallback, useEffect, useRef, useState } from "react";
import { isAbort, problemOf } from "./api";
import type { Problem } from "./types";

export interface Page<Item> {
  items: Item[];
  token: string;
}

interface Found<Item> extends Page<Item> {
  /** What this was found for. */
  key: string;
  problem?: Problem;
}

export interface Pages<Item> {
  list: Item[];
  more: boolean;
  loading: boolean;
  problem: Problem | undefined;
  loadMore: () => void;
  refresh: () => void;
}

const TYPING_MS = 200;

/** Loads anew whenever the key is another; typing that changes it asks once, not for every letter. */
export function usePages<Item>(
  key: string,
  load: (token: string, signal: AbortSignal) => Promise<Page<Item>>,
): Pages<Item> {
  const [found, setFound] = useState<Found<Item>>();
  const [refreshes, setRefreshes] = useState(0);
  const [wanted, setWanted] = useState({ key, pages: 1 });
  const pages = wanted.key === key ? wanted.pages : 1;
  const whole = `${key} ${refreshes} ${pages}`;
  const latest = useRef(load);
  useEffect(() => {
    latest.current = load;
  });

  useEffect(() => {
    const stop = new AbortController();
    const loadAll = async (): Promise<void> => {
      const items: Item[] = [];
      let token = "";
      for (let page = 0; page < pages; page++) {
        const reply = await latest.current(token, stop.signal);
        items.push(...reply.items);
        token = reply.token;
        if (token === "") break;
      }
      setFound({ key: whole, items, token });
    };
    const timer = window.setTimeout(() => {
      loadAll().catch((error: unknown) => {
        if (isAbort(error)) return;
        setFound({ key: whole, items: [], token: "", problem: problemOf(error) });
      });
    }, TYPING_MS);
    return () => {
      window.clearTimeout(timer);
      stop.abort();
    };
  }, [whole, pages]);

  const loadMore = useCallback(() => {
    setWanted({ key, pages: pages + 1 });
  }, [key, pages]);
  const refresh = useCallback(() => {
    setRefreshes((count) => count + 1);
  }, []);
  return {
    // What was found before stays while the next is looked for.
    list: found?.items ?? [],
    more: Boolean(found?.token),
    loading: found?.key !== whole,
    problem: found?.problem,
    loadMore,
    refresh,
  };
}
