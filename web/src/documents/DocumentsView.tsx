/** The documents: those that come in, those that are there, and one of them in full. */
import { useCallback, useState } from "react";
import type { DocumentQuery } from "../api";
import type { Document } from "../types";
import { Notice, ProblemNotice } from "../ui/Notice";
import { DeleteDialog } from "./DeleteDialog";
import { DocumentFilters } from "./DocumentFilters";
import { DocumentTable } from "./DocumentTable";
import { UploadArea } from "./UploadArea";
import { useDocuments } from "./useDocuments";
import { useUploads } from "./useUploads";

const ANY: DocumentQuery = {
  name_contains: "",
  document_type: "",
  authority: "",
  tag: "",
  standing: "",
  as_of: "",
};

export function DocumentsView() {
  const [query, setQuery] = useState(ANY);
  const { list, more, loading, problem, loadMore, refresh } = useDocuments(query);
  const uploads = useUploads(refresh);
  const [deleting, setDeleting] = useState<Document>();
  const [said, setSaid] = useState("");
  const onDeleted = useCallback(
    (words: string) => {
      setDeleting(undefined);
      setSaid(words);
      refresh();
    },
    [refresh],
  );
  const filtered = Object.values(query).some(Boolean);
  return (
    <div
      aria-label="Documents"
      className="h-full overflow-y-auto px-3 py-5 sm:px-5"
      role="region"
      tabIndex={0}
    >
      <div className="mx-auto max-w-6xl space-y-4">
        <h1 className="text-xl font-semibold">Documents</h1>
        <UploadArea uploads={uploads} />
        <DocumentFilters
          onChange={setQuery}
          onClear={() => {
            setQuery(ANY);
          }}
          query={query}
        />
        <p className="sr-only" role="status">
          {said}
        </p>
        {problem && <ProblemNotice problem={problem} />}
        {list.length > 0 && <DocumentTable documents={list} onDelete={setDeleting} query={query} />}
        {list.length === 0 && !loading && !problem && (
          <Notice title={filtered ? "No document is like this" : "No documents yet"} tone="plain">
            {filtered ? "Change or clear the filters." : "Drop a file above to begin."}
          </Notice>
        )}
        {loading && (
          <p className="pulse text-muted" role="status">
            Loading documents
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
      </div>
      {deleting && (
        <DeleteDialog
          document={deleting}
          onClose={() => {
            setDeleting(undefined);
          }}
          onDeleted={onDeleted}
        />
      )}
    </div>
  );
}
