/** The page as it is printed, with the quoted words marked by the server that knows where they are. */
import { useCallback, useRef, useState } from "react";
import { pageImage } from "../api";
import { pageName, pagesOf, topOf } from "../citations";
import type { Citation, Span } from "../types";
import { Notice } from "../ui/Notice";
import { useLoaded } from "../useLoaded";

const DPI = 144;
const POINTS = 72;
/** Of what is shown above the first quoted line, in points. */
const ABOVE = 90;

export function PageImage({ citation }: { citation: Citation }) {
  const pages = pagesOf(citation);
  const [chosen, setChosen] = useState(0);
  const [large, setLarge] = useState(false);
  const one = pages[chosen] ?? pages[0];
  if (!one || !citation.document_span) return null;
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
      <Picture
        alt={`${citation.source_name}, ${pageName(one.page, one.label)}. Marked: ${citation.quote}`}
        document={citation.document_id}
        large={large}
        page={one.page}
        span={citation.document_span}
        top={topOf(citation, one.page)}
      />
    </figure>
  );
}

interface PictureProps {
  document: string;
  page: number;
  span: Span;
  /** Where the first quoted line stands, in points from the page's top. */
  top: number | undefined;
  alt: string;
  large: boolean;
}

function Picture({ document, page, span, top, alt, large }: PictureProps) {
  const key = `${document}/${page}/${span.start}-${span.end}`;
  const image = useLoaded(key, (signal) => pageImage(document, page, span, signal));
  const frame = useRef<HTMLDivElement>(null);
  if (image.state === "failed") {
    return (
      <Notice title="The page cannot be drawn now" tone="warn">
        {image.problem.detail} The text below is what stands on it.
      </Notice>
    );
  }
  const onLoad = (drawn: HTMLImageElement): void => {
    if (top === undefined || !frame.current) return;
    const scale = drawn.clientHeight / ((drawn.naturalHeight / DPI) * POINTS);
    frame.current.scrollTop = Math.max(0, (top - ABOVE) * scale);
  };
  return (
    <div
      aria-busy={image.state === "loading"}
      aria-label="Page image"
      className={`h-[26rem] overflow-auto rounded-md border border-line bg-sunken ${
        image.state === "loading" ? "pulse" : ""
      }`}
      ref={frame}
      role="region"
      tabIndex={0}
    >
      {image.state === "loaded" && (
        <Drawn
          alt={alt}
          blob={image.value}
          className={large ? "w-[180%] max-w-none" : "w-full"}
          onLoad={onLoad}
        />
      )}
    </div>
  );
}

interface DrawnProps {
  blob: Blob;
  alt: string;
  className: string;
  onLoad: (image: HTMLImageElement) => void;
}

/** An image element can send no token; what was fetched with one is shown from memory. */
function Drawn({ blob, alt, className, onLoad }: DrawnProps) {
  const show = useCallback(
    (element: HTMLImageElement | null) => {
      if (!element) return;
      const url = URL.createObjectURL(blob);
      element.src = url;
      return () => {
        URL.revokeObjectURL(url);
      };
    },
    [blob],
  );
  return (
    <img
      alt={alt}
      className={className}
      onLoad={(event) => {
        onLoad(event.currentTarget);
      }}
      ref={show}
    />
  );
}
