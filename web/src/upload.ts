/** Sends one file; XMLHttpRequest, because fetch does not tell how much of a body has been sent. */
import { ApiError, broken, made, parsed, refusal } from "./api";
import { authorization } from "./credentials";
import { EventParser } from "./sse";
import type { IngestProgress, IngestResult, Problem } from "./types";
import { listed } from "./words";

/** What is said of a file, by the names of IngestMetadata. */
export interface Metadata {
  document_type: string;
  authority: string;
  published: string;
  effective_from: string;
  effective_to: string;
  /** These three with commas between. */
  tags: string;
  supersedes: string;
  readers: string;
}

const LISTS: ReadonlySet<string> = new Set(["tags", "supersedes", "readers"]);

export interface Told {
  /** The share of the file that has left this machine. */
  sent: (share: number) => void;
  progress: (progress: IngestProgress) => void;
}

export function upload(
  file: File,
  metadata: Metadata,
  signal: AbortSignal,
  told: Told,
): Promise<IngestResult> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const parser = new EventParser();
    let read = 0;
    const take = (): void => {
      const text = request.responseText;
      for (const event of parser.push(text.slice(read))) {
        if (event.name === "progress") told.progress(parsed(event).data as IngestProgress);
        if (event.name === "result") resolve(parsed(event).data as IngestResult);
        if (event.name === "error") {
          reject(new ApiError(parsed(event).data as Problem));
        }
      }
      read = text.length;
    };
    request.upload.onprogress = (event) => {
      told.sent(event.total > 0 ? event.loaded / event.total : 0);
    };
    request.onprogress = () => {
      if (request.status === 200) take();
    };
    request.onload = () => {
      if (request.status !== 200) {
        reject(new ApiError(refusal(request.status, request.responseText)));
        return;
      }
      take();
      reject(broken()); // Says nothing once there was a result.
    };
    request.onerror = () => {
      const detail = "The connection broke off while the file was sent. Send it again.";
      reject(new ApiError(made("UNREACHABLE", "It was not sent", detail)));
    };
    request.onabort = () => {
      reject(new DOMException("Cancelled", "AbortError"));
    };
    signal.addEventListener("abort", () => {
      request.abort();
    });
    request.open("POST", "/v1/documents");
    request.setRequestHeader("Accept", "text/event-stream");
    for (const [name, value] of Object.entries(authorization())) {
      request.setRequestHeader(name, value);
    }
    request.send(form(file, metadata));
  });
}

function form(file: File, metadata: Metadata): FormData {
  const data = new FormData();
  for (const [name, value] of Object.entries(metadata) as [string, string][]) {
    const values = LISTS.has(name) ? listed(value) : [value].filter(Boolean);
    for (const one of values) data.append(name, one);
  }
  data.append("size_bytes", file.size.toString());
  data.append("file", file); // Last: what is said of it must have come before.
  return data;
}
