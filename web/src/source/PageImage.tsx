/** The page as it is printed, with the quoted words marked by the server that knows where they are. */
import { useRef, useState } from "react";
import { pageImage } from "../api";
import { pageName, pagesOf, topOf } from "../citations";
import type { Citation } from "../types";
import { Notice } from "../ui/Notice";

const DPI = 144;
const POINTS = 72;
/** Of what is shown above the first quoted line, in points. */
const ABOVE = 90;

export function PageImage({ citation }: { citation: Citation }) {
  const pages = pagesOf(citation);
  const [chosen, setChosen] = useState(0);
  const [broken, setBroken] = useState("");
  const [loaded, setLoaded] = useState("");
  const [large, setLarge] = useState(false);
  const frame = useRef<HTMLDivElement>(null);
  const one = pages[chosen] ?? pages[0];
  if (!one || !citation.document_span) return null;
  const source = pageImage(citation.document_id, one.page, citation.document_span);

  const onLoad = (image: HTMLImageElement): void => {
    setLoaded(source);
    const top = topOf(citation, one.page);
    const box = frame.current;
    if (top === undefined || !box) return;
    const scale = image.clientHeight / ((image.naturalHeight / DPI) * POINTS);
    box.scrollTop = Math.max(0, (top - ABOVE) * scale);
  };
  return (
    <figure>
      <figcaption className="mb-1 flex flex-wrap items-center gap-1 text-sm">
        <span className="heading me-auto">The page, with the quoted words marked</span>
        {pages.length > 1 &&
          pages.map(({ page, label }, at) => (
            <button
              aria-pressed={at === chosen}
              className="cite"
              key={page}
              onClick={() => {
                setChosen(at);
              }}
            >
              {pageName(page, label)}
            </button>
          ))}
        <button
          aria-pressed={large}
          className="button button-quiet aria-pressed:text-accent"
          onClick={() => {
            setLarge(!large);
          }}
        >
          {large ? "Fit width" : "Enlarge"}
        </button>
      </figcaption>
      {broken === source ? (
        <Notice title="The page cannot be drawn now" tone="warn">
          The text below is what stands on it.
        </Notice>
      ) : (
        <div
          aria-label="Page image"
          className="h-[26rem] overflow-auto rounded-md border border-line bg-sunken"
          ref={frame}
          role="region"
          tabIndex={0}
        >
          <img
            alt={`${citation.source_name}, ${pageName(one.page, one.label)}. Marked: ${citation.quote}`}
            className={`${large ? "w-[180%] max-w-none" : "w-full"} ${loaded === source ? "" : "pulse min-h-full"}`}
            onError={() => {
              setBroken(source);
            }}
            onLoad={(event) => {
              onLoad(event.currentTarget);
            }}
            src={source}
          />
        </div>
      )}
    </figure>
  );
}
