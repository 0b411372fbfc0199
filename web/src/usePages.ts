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
  const [following, setFollowing] = useState(false);
  const whole = `${key} ${refreshes}`;
  const latest = useRef(load);
  useEffect(() => {
    latest.current = load;
  });

  useEffect(() => {
    const stop = new AbortController();
    const timer = window.setTimeout(() => {
      latest
        .current("", stop.signal)
        .then((page) => {
          setFound({ key: whole, ...page });
        })
        .catch((error: unknown) => {
          if (isAbort(error)) return;
          setFound({ key: whole, items: [], token: "", problem: problemOf(error) });
        });
    }, TYPING_MS);
    return () => {
      window.clearTimeout(timer);
      stop.abort();
    };
  }, [whole]);

  const loadMore = (): void => {
    if (!found || following) return;
    const change = (next: (before: Found<Item>) => Found<Item>): void => {
      setFollowing(false);
      // What was found for other filters by now is left alone.
      setFound((now) => (now?.key === found.key ? next(now) : now));
    };
    setFollowing(true);
    load(found.token, new AbortController().signal)
      .then((page) => {
        change((before) => ({
          key: before.key,
          items: [...before.items, ...page.items],
          token: page.token,
        }));
      })
      .catch((error: unknown) => {
        change((before) => ({ ...before, problem: problemOf(error) }));
      });
  };
  const refresh = useCallback(() => {
    setRefreshes((count) => count + 1);
  }, []);
  return {
    // What was found before stays while the next is looked for.
    list: found?.items ?? [],
    more: Boolean(found?.token),
    loading: following || found?.key !== whole,
    problem: found?.problem,
    loadMore,
    refresh,
  };
}
