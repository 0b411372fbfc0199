/** Whether there is room for two panes. */
import { useSyncExternalStore } from "react";

const QUERY = "(min-width: 64rem)";

function subscribe(changed: () => void): () => void {
  const query = window.matchMedia(QUERY);
  query.addEventListener("change", changed);
  return () => {
    query.removeEventListener("change", changed);
  };
}

export function useWide(): boolean {
  return useSyncExternalStore(subscribe, () => window.matchMedia(QUERY).matches);
}
