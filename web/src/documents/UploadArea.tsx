/** Where files are dropped or chosen, what is said of them, and how far each is. */
import { useId, useRef, useState, type DragEvent } from "react";
import type { Metadata } from "../upload";
import { Icon } from "../ui/Icon";
import { bytes } from "../words";
import { MetadataFields } from "./MetadataFields";
import { ended, share, words, type Upload } from "./uploads";
import type { Uploads } from "./useUploads";

const NOTHING_SAID: Metadata = {
  document_type: "",
  authority: "",
  published: "",
  effective_from: "",
  effective_to: "",
  tags: "",
  supersedes: "",
  readers: "",
};

export function UploadArea({ uploads }: { uploads: Uploads }) {
  const [over, setOver] = useState(false);
  const [metadata, setMetadata] = useState(NOTHING_SAID);
  const input = useRef<HTMLInputElement>(null);
  const id = useId();
  const onDrop = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    uploads.add([...event.dataTransfer.files], metadata);
  };
  return (
    <section
      aria-label="Upload"
      className={`panel border-dashed px-4 py-3 ${over ? "border-accent bg-accent-soft" : "border-control"}`}
      onDragLeave={() => {
        setOver(false);
      }}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDrop={onDrop}
    >
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <button className="button button-primary" onClick={() => input.current?.click()}>
          <Icon name="up" /> Choose files
        </button>
        <p className="text-muted">
          or drop them here: PDF, DOCX, XLSX, PPTX, HTML, e-mail, Markdown, text; 64 MiB each
        </p>
        <label className="sr-only" htmlFor={id}>
          Files to upload
        </label>
        <input
          className="sr-only"
          id={id}
          multiple
          onChange={(event) => {
            uploads.add([...(event.target.files ?? [])], metadata);
            event.target.value = "";
          }}
          ref={input}
          tabIndex={-1}
          type="file"
        />
      </div>
      <details className="mt-2">
        <summary className="text-sm text-muted">What is said of the next files</summary>
        <MetadataFields metadata={metadata} onChange={setMetadata} />
      </details>
      {uploads.list.length > 0 && (
        <>
          <ul
            aria-label="Uploads"
            className="mt-3 max-h-64 divide-y divide-line overflow-y-auto"
            tabIndex={0}
          >
            {uploads.list.map((upload) => (
              <UploadRow key={upload.key} onCancel={uploads.cancel} upload={upload} />
            ))}
          </ul>
          <p className="sr-only" role="status">
            {uploads.list.filter(ended).length} of {uploads.list.length} files ended
          </p>
          {uploads.list.some(ended) && (
            <button className="button button-quiet -ms-2 text-sm" onClick={uploads.clear}>
              Clear what has ended
            </button>
          )}
        </>
      )}
    </section>
  );
}

function UploadRow({ upload, onCancel }: { upload: Upload; onCancel: (key: string) => void }) {
  const colour = upload.problem ? "text-bad" : upload.result ? "text-good" : "text-muted";
  return (
    <li className="lazy-row py-1.5">
      <div className="flex items-center gap-2">
        {upload.problem && <Icon name="alert" />}
        {upload.result && <Icon name="check" />}
        <span className="min-w-0 truncate font-medium" dir="auto">
          {upload.name}
        </span>
        <span className="ms-auto shrink-0 text-sm text-muted">{bytes(upload.size)}</span>
        {!ended(upload) && (
          <button
            aria-label={`Cancel ${upload.name}`}
            className="button button-quiet min-h-6 px-1"
            onClick={() => {
              onCancel(upload.key);
            }}
          >
            <Icon name="cross" size={14} />
          </button>
        )}
      </div>
      <p className={`text-sm wrap-anywhere ${colour}`}>{words(upload)}</p>
      {!ended(upload) && (
        <div
          aria-label={`Progress of ${upload.name}`}
          aria-valuemax={100}
          aria-valuemin={0}
          aria-valuenow={Math.round(share(upload) * 100)}
          className="mt-1 h-1 overflow-hidden rounded-full bg-sunken"
          role="progressbar"
        >
          <div className="h-full bg-accent" style={{ width: `${share(upload) * 100}%` }} />
        </div>
      )}
    </li>
  );
}
