/** The documents that pass the filters, as the server finds them. */
import { documents, type DocumentQuery } from "../api";
import type { Document } from "../types";
import { usePages, type Pages } from "../usePages";

export const ANY: DocumentQuery = {
  name_contains: "",
  document_type: "",
  authority: "",
  tag: "",
  standing: "",
  as_of: "",
};

/** So many to a page. */
export function useDocuments(query: DocumentQuery, size: number): Pages<Document> {
  return usePages(JSON.stringify(query), async (token, signal) => {
    const reply = await documents(query, { size, token }, signal);
    return { items: reply.documents, token: reply.next_page_token };
  });
}
