/** A citation in its source: where it stands, the page with the quoted words marked, the text. */
import { documentOf, passageOf } from "../api";
import { pageName, pagesOf } from "../citations";
import type { Citation, Document } from "../types";
import { CopyButton } from "../ui/CopyButton";
import { Notice, ProblemNotice } from "../ui/Notice";
import { useLoaded, type Loaded } from "../useLoaded";
import { AUTHORITY, effective, sentence } from "../words";
import { PageImage } from "./PageImage";
import { SourceText } from "./SourceText";

const NOT_FOUND = 404;
const MATCHES: Record<string, string> = {
  MATCH_EXACT: "letter for letter",
  MATCH_FOLDED: "but for line breaks and typography",
};

export function SourceView({ citation }: { citation: Citation }) {
  const document = useLoaded(citation.document_id, (signal) =>
    documentOf(citation.document_id, signal),
  );
  const passage = useLoaded(citation.passage_id, (signal) =>
    passageOf(citation.passage_id, signal),
  );
  const same = document.state === "loaded" && document.value.sha256 === citation.document_sha256;
  const onPaper = pagesOf(citation).length > 0 && citation.document_span !== undefined;
  return (
    <div
      aria-label="Source"
      className="min-h-0 flex-1 space-y-4 overflow-y-auto px-4 py-3"
      role="region"
      tabIndex={0}
    >
      <h2 className="text-lg/snug font-semibold wrap-anywhere" dir="auto">
        {citation.source_name}
      </h2>
      <Facts citation={citation} document={document} />
      <Standing citation={citation} document={document} />
      {same && onPaper && <PageImage citation={citation} />}
      <SourceText citation={citation} passage={passage} />
    </div>
  );
}

function Facts({ citation, document }: { citation: Citation; document: Loaded<Document> }) {
  const type = document.state === "loaded" ? document.value.document_type : "";
  const version = document.state === "loaded" ? document.value.version : 0;
  const facts: [string, string][] = [
    ["Page", sentence(pageName(citation.page_number, citation.page_label).replace("page ", ""))],
    ["Section", citation.section_id || "none"],
    ["Authority", sentence(AUTHORITY[citation.authority])],
    ["Effective", effective(citation.effective_from, citation.effective_to) || "not stated"],
    ["Published", citation.published || "not stated"],
    ["Document", type ? `${sentence(type)}, version ${version}` : "…"],
  ];
  if (document.state === "failed") facts.pop();
  if (MATCHES[citation.match]) facts.push(["Quote found", MATCHES[citation.match] ?? ""]);
  return (
    <dl className="grid grid-cols-2 gap-x-4 gap-y-2 text-sm sm:grid-cols-3">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt className="text-muted">{name}</dt>
          <dd className="wrap-anywhere" dir="auto">
            {value}
          </dd>
        </div>
      ))}
      <div className="col-span-full">
        <dt className="text-muted">SHA-256 of the file</dt>
        <dd className="flex items-center gap-1">
          <code className="min-w-0 truncate font-mono text-xs" title={citation.document_sha256}>
            {citation.document_sha256}
          </code>
          <CopyButton label="Copy the hash" text={() => citation.document_sha256} />
        </dd>
      </div>
    </dl>
  );
}

/** Says when the source is not what it was when the answer was given. */
function Standing({ citation, document }: { citation: Citation; document: Loaded<Document> }) {
  if (document.state === "failed") {
    if (document.problem.status === NOT_FOUND) {
      return (
        <Notice title="This source has been deleted since" tone="warn">
          The quote below is what it said when the answer was given.
        </Notice>
      );
    }
    return <ProblemNotice problem={document.problem} />;
  }
  if (document.state === "loading") return null;
  if (document.value.sha256 !== citation.document_sha256) {
    return (
      <Notice title="This source has been replaced since" tone="warn">
        Now there is version {document.value.version}, with other bytes. The quote below is what it
        said when the answer was given.
      </Notice>
    );
  }
  if (document.value.superseded_by.length > 0) {
    return (
      <Notice title="Superseded" tone="warn">
        <span dir="auto">Its place was taken by {document.value.superseded_by.join(", ")}.</span>
      </Notice>
    );
  }
  return null;
}
