/** Where in the page one is: the part of the address after its #. */
import { useSyncExternalStore } from "react";

export type Route =
  | { view: "ask"; conversation: string }
  | { view: "documents" }
  | { view: "conversations" }
  | { view: "answer"; id: string }
  | { view: "nowhere" };

/** An empty conversation is a new one. */
export function route(hash: string): Route {
  const [, view = "", part = "", ...rest] = hash.replace(/^#/, "").split("/");
  const name = decoded(part);
  if (rest.length > 0 || name === undefined) return { view: "nowhere" };
  if (view === "" && !part) return { view: "ask", conversation: "" };
  if (view === "conversations") {
    return name ? { view: "ask", conversation: name } : { view: "conversations" };
  }
  if (view === "documents" && !part) return { view: "documents" };
  if (view === "answers" && name) return { view: "answer", id: name };
  return { view: "nowhere" };
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

export const toAsk = "#/";
export const toDocuments = "#/documents";
export const toConversations = "#/conversations";
export const toConversation = (id: string): string => `#/conversations/${encodeURIComponent(id)}`;
export const toAnswer = (id: string): string => `#/answers/${encodeURIComponent(id)}`;

function subscribe(changed: () => void): () => void {
  window.addEventListener("hashchange", changed);
  return () => {
    window.removeEventListener("hashchange", changed);
  };
}

export function useHash(): string {
  return useSyncExternalStore(subscribe, () => window.location.hash);
}
