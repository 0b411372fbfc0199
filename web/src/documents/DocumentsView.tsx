/** The documents: those that come in, those that are there, and one of them in full. */
import { useCallback, useState } from "react";
import type { Document } from "../types";
import { Paged } from "../ui/Paged";
import { Region } from "../ui/Region";
import { DeleteDialog } from "./DeleteDialog";
import { DocumentFilters } from "./DocumentFilters";
import { DocumentTable } from "./DocumentTable";
import { UploadArea } from "./UploadArea";
import { ANY, useDocuments } from "./useDocuments";
import { useUploads } from "./useUploads";

const SIZE = 100;

export function DocumentsView() {
  const [query, setQuery] = useState(ANY);
  const pages = useDocuments(query, SIZE);
  const { list, refresh } = pages;
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
  const empty = filtered
    ? { title: "No document is like this", words: "Change or clear the filters." }
    : { title: "No documents yet", words: "Drop a file above to begin." };
  return (
    <Region label="Documents" width="max-w-6xl">
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
      <Paged empty={empty} pages={pages} things="documents">
        <DocumentTable documents={list} onDelete={setDeleting} query={query} />
      </Paged>
      {deleting && (
        <DeleteDialog
          document={deleting}
          onClose={() => {
            setDeleting(undefined);
          }}
          onDeleted={onDeleted}
        />
      )}
    </Region>
  );
}
