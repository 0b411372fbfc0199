/** The access token, where the system asks who one is; kept until the browser's tab is closed. */
import { useSyncExternalStore } from "react";

const NAME = "verity.token";
const listeners = new Set<() => void>();
/** What was answered last: whether a token is wanted, and how often one was given. */
let state = { wanted: false, given: 0 };

function change(next: typeof state): void {
  state = next;
  for (const listener of listeners) listener();
}

export function authorization(): Record<string, string> {
  try {
    const token = window.sessionStorage.getItem(NAME);
    return token ? { Authorization: `Bearer ${token}` } : {};
  } catch {
    return {};
  }
}

/** The server did not take what it was shown, or was shown nothing. */
export function refused(): void {
  if (!state.wanted) change({ ...state, wanted: true });
}

export function give(token: string): void {
  try {
    window.sessionStorage.setItem(NAME, token);
  } catch {
    // A browser that keeps nothing cannot be let in.
  }
  change({ wanted: false, given: state.given + 1 });
}

export function useCredentials(): typeof state {
  return useSyncExternalStore(
    (changed) => {
      listeners.add(changed);
      return () => listeners.delete(changed);
    },
    () => state,
  );
}
