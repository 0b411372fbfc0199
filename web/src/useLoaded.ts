/** Something that is fetched while a component shows it. */
import { useEffect, useRef, useState } from "react";
import { isAbort, problemOf } from "./api";
import type { Problem } from "./types";

export type Loaded<Value> =
  { state: "loading" } | { state: "loaded"; value: Value } | { state: "failed"; problem: Problem };

/** Loads anew whenever the key is another; an empty key loads nothing. */
export function useLoaded<Value>(
  key: string,
  load: (signal: AbortSignal) => Promise<Value>,
): Loaded<Value> {
  const [known, setKnown] = useState<{ key: string; loaded: Loaded<Value> }>();
  const latest = useRef(load);
  useEffect(() => {
    latest.current = load;
  });
  useEffect(() => {
    if (key === "") return;
    const stopped = new AbortController();
    latest
      .current(stopped.signal)
      .then((value) => {
        if (!stopped.signal.aborted) setKnown({ key, loaded: { state: "loaded", value } });
      })
      .catch((error: unknown) => {
        if (stopped.signal.aborted || isAbort(error)) return;
        setKnown({ key, loaded: { state: "failed", problem: problemOf(error) } });
      });
    return () => {
      stopped.abort();
    };
  }, [key]);
  return known?.key === key ? known.loaded : { state: "loading" };
}
