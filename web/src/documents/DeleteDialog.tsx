/** Asks before a document is deleted, and says what comes of it. */
import { useEffect, useRef, useState } from "react";
import { deleteDocument, problemOf } from "../api";
import type { Document, Problem } from "../types";
import { ProblemNotice } from "../ui/Notice";
import { count } from "../words";

interface Props {
  document: Document;
  onClose: () => void;
  onDeleted: (words: string) => void;
}

export function DeleteDialog({ document, onClose, onDeleted }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  const onDelete = (): void => {
    setBusy(true);
    deleteDocument(document.id).then(
      (passages) => {
        onDeleted(`${document.source_name} was deleted, ${count(passages, "passage")}`);
      },
      (error: unknown) => {
        setBusy(false);
        setProblem(problemOf(error));
      },
    );
  };
  return (
    <dialog
      aria-labelledby="delete-title"
      className="panel m-auto max-w-md p-5 text-ink"
      onClose={onClose}
      ref={dialog}
    >
      <h2 className="text-lg font-semibold wrap-anywhere" dir="auto" id="delete-title">
        Delete {document.source_name}?
      </h2>
      <p className="mt-2 text-muted">
        Its {count(document.passage_count, "passage")} can be cited no more. Answers that cite it
        keep their quotes; their pages can be shown no more. This cannot be undone.
      </p>
      {problem && (
        <div className="mt-3">
          <ProblemNotice problem={problem} />
        </div>
      )}
      <div className="mt-4 flex justify-end gap-2">
        <button autoFocus className="button" onClick={() => dialog.current?.close()}>
          Keep it
        </button>
        <button className="button button-danger" disabled={busy} onClick={onDelete}>
          {busy ? "Deleting" : "Delete"}
        </button>
      </div>
    </dialog>
  );
}
