/** The documents that were found, each in a row that unfolds. */
import { memo, useState } from "react";
import type { DocumentQuery } from "../api";
import type { Document } from "../types";
import { Icon } from "../ui/Icon";
import { AUTHORITY, bytes, count, effective, moment } from "../words";
import { pageProblems, standing, today, type Standing } from "./standing";

interface Props {
  documents: readonly Document[];
  query: DocumentQuery;
  onDelete: (document: Document) => void;
}

const TONES: Record<Standing["tone"], string> = {
  good: "bg-good-soft text-good",
  warn: "bg-warn-soft text-warn",
  plain: "bg-sunken text-muted",
};

export function DocumentTable({ documents, query, onDelete }: Props) {
  const day = query.as_of || today();
  return (
    <ul aria-label="Documents" className="panel divide-y divide-line">
      {documents.map((document) => (
        <Row day={day} document={document} key={document.id} onDelete={onDelete} />
      ))}
    </ul>
  );
}

interface RowProps {
  document: Document;
  day: string;
  onDelete: (document: Document) => void;
}

const Row = memo(function Row({ document, day, onDelete }: RowProps) {
  const [open, setOpen] = useState(false);
  const is = standing(document, day);
  const problems = pageProblems(document);
  const when = effective(document.effective_from, document.effective_to);
  return (
    <li className="lazy-row px-4 py-2">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <button
          aria-expanded={open}
          className="flex min-w-0 flex-1 basis-72 items-center gap-2 text-start font-medium hover:text-accent"
          onClick={() => {
            setOpen(!open);
          }}
        >
          <span className={open ? "rotate-90" : ""}>
            <Icon name="right" size={12} />
          </span>
          <span className="min-w-0 wrap-anywhere" dir="auto">
            {document.source_name}
          </span>
        </button>
        <span className={`chip ${TONES[is.tone]}`}>{is.words}</span>
        {problems.length > 0 && (
          <span className="chip bg-warn-soft text-warn">
            <Icon name="alert" size={13} />
            Pages with problems
          </span>
        )}
        <button
          aria-label={`Delete ${document.source_name}`}
          className="button button-quiet"
          onClick={() => {
            onDelete(document);
          }}
          title="Delete"
        >
          <Icon name="bin" />
        </button>
      </div>
      <p className="ps-5 text-sm text-muted">
        {[
          document.document_type,
          `${AUTHORITY[document.authority]} authority`,
          `version ${document.version}`,
          count(document.page_count, "page"),
          count(document.passage_count, "passage"),
          when && `effective ${when}`,
        ]
          .filter(Boolean)
          .join(" · ")}
      </p>
      {document.superseded_by.length > 0 && (
        <p className="ps-5 text-sm text-warn wrap-anywhere" dir="auto">
          Superseded by {document.superseded_by.join(", ")}
        </p>
      )}
      {open && <Whole document={document} problems={problems} />}
    </li>
  );
});

function Whole({ document, problems }: { document: Document; problems: string[] }) {
  const facts: [string, string][] = [
    ["Pages with problems", problems.join("; ") || "none"],
    ["Takes the place of", document.supersedes.join(", ") || "nothing"],
    ["May be read by", document.readers.join(", ") || "everybody"],
    ["Tags", document.tags.join(", ") || "none"],
    ["Published", document.published || "not stated"],
    ["Read as", `${document.content_type}, ${bytes(Number(document.size_bytes))}`],
    ["Taken in", moment(document.ingest_time)],
    ["SHA-256", document.sha256],
    ["Id", document.id],
  ];
  return (
    <dl className="mt-2 grid gap-x-6 gap-y-1.5 ps-5 pb-1 text-sm sm:grid-cols-2">
      {facts.map(([name, value]) => (
        <div className="min-w-0" key={name}>
          <dt className="text-muted">{name}</dt>
          <dd className="wrap-anywhere" dir="auto">
            {value}
          </dd>
        </div>
      ))}
    </dl>
  );
}
