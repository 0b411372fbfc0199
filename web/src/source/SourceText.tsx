/** The passage with the quoted words marked, between what stands before and after it. */
import type { Neighbourhood } from "../api";
import { pieces, visible } from "../spans";
import type { Citation } from "../types";
import type { Loaded } from "../useLoaded";

interface Props {
  citation: Citation;
  passage: Loaded<Neighbourhood>;
}

export function SourceText({ citation, passage }: Props) {
  const found = passage.state === "loaded" ? passage.value : undefined;
  return (
    <section aria-label="Text">
      <h3 className="heading mb-1">{found ? "The text around it" : "The quote"}</h3>
      {found && found.passage.heading_path.length > 0 && (
        <p className="mb-1 text-sm text-muted wrap-anywhere" dir="auto">
          {found.passage.heading_path.join(" › ")}
        </p>
      )}
      <div className="space-y-2 rounded-md border border-line bg-canvas px-3 py-2 wrap-anywhere">
        {found?.before.map((before) => (
          <Around key={before.id} text={before.text} />
        ))}
        {found && citation.span ? (
          <p className="whitespace-pre-line" dir="auto">
            {pieces(visible(found.passage.text).trimEnd(), [citation.span]).map((piece, at) =>
              piece.marked ? (
                <mark key={at}>{piece.text}</mark>
              ) : (
                <span key={at}>{piece.text}</span>
              ),
            )}
          </p>
        ) : (
          <p className="whitespace-pre-line" dir="auto">
            <mark>{visible(citation.quote)}</mark>
          </p>
        )}
        {found?.after.map((after) => (
          <Around key={after.id} text={after.text} />
        ))}
      </div>
      {passage.state === "failed" && passage.problem.status !== 404 && (
        <p className="mt-1 text-sm text-muted">
          What stands around it cannot be shown now: {passage.problem.detail}
        </p>
      )}
    </section>
  );
}

function Around({ text }: { text: string }) {
  return (
    <p className="whitespace-pre-line text-muted" dir="auto">
      {visible(text).trim()}
    </p>
  );
}
