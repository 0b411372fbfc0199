/** The documents that pass the filters, as the server finds them. */
import { documents, type DocumentQuery } from "../api";
import type { Document } from "../types";
import { usePages, type Pages } from "../usePages";

const SIZE = 100;

export function useDocuments(query: DocumentQuery): Pages<Document> {
  return usePages(JSON.stringify(query), async (token, signal) => {
    const reply = await documents(query, { size: SIZE, token }, signal);
    return { items: reply.documents, token: reply.next_page_token };
  });
}
