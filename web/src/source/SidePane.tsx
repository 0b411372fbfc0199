/** What stands beside an answer: the source of a citation, or the answer's figures. */
import { useEffect, useRef, type KeyboardEvent } from "react";
import type { Turn } from "../asking";
import { Figures } from "../figures/Figures";
import type { Citable, Open } from "../shown";
import { Icon } from "../ui/Icon";
import { SourceView } from "./SourceView";

interface Props {
  turn: Turn;
  open: Open;
  citations: Citable[];
  /** Whether it lies over the answers, for want of room beside them. */
  covering: boolean;
  closable: boolean;
  onOpen: (open: Open) => void;
  onClose: () => void;
}

export function SidePane(props: Props) {
  const { turn, open, citations, covering, closable, onOpen, onClose } = props;
  const at = open.pane === "source" ? citations.findIndex((one) => one.number === open.number) : -1;
  const shown = citations[at];
  const pane = useRef<HTMLElement>(null);
  const move = (step: number): void => {
    const next = citations[at + step];
    if (next) onOpen({ pane: "source", turn: turn.key, number: next.number });
  };
  // Over the answers it takes the focus; beside them the focus stays on the number that was clicked.
  useEffect(() => {
    if (covering) pane.current?.focus();
  }, [covering]);
  useEffect(() => {
    const onKey = (event: globalThis.KeyboardEvent): void => {
      if (event.defaultPrevented || document.querySelector("dialog[open]")) return;
      if (event.key === "Escape" && closable) onClose();
    };
    window.addEventListener("keydown", onKey);
    return () => {
      window.removeEventListener("keydown", onKey);
    };
  }, [closable, onClose]);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (!event.altKey) return;
    if (event.key === "ArrowLeft") move(-1);
    else if (event.key === "ArrowRight") move(1);
    else return;
    event.preventDefault();
  };
  return (
    <aside
      aria-label={shown ? "Source" : "Figures"}
      className={`flex flex-col bg-surface outline-none ${
        covering ? "fixed inset-0 z-30" : "w-[44%] max-w-3xl shrink-0 border-s border-line"
      }`}
      onKeyDown={onKeyDown}
      ref={pane}
      tabIndex={-1}
    >
      <div className="flex min-h-12 items-center gap-1 border-b border-line px-3">
        {shown ? (
          <>
            <button
              aria-label="Previous citation"
              className="button button-quiet"
              aria-disabled={at <= 0}
              onClick={() => {
                move(-1);
              }}
              title="Previous citation (Alt+Left)"
            >
              <Icon name="left" />
            </button>
            <p aria-live="polite" className="tabular-nums">
              {shown.name} <span className="text-muted">of {citations.length}</span>
            </p>
            <button
              aria-label="Next citation"
              className="button button-quiet"
              aria-disabled={at >= citations.length - 1}
              onClick={() => {
                move(1);
              }}
              title="Next citation (Alt+Right)"
            >
              <Icon name="right" />
            </button>
          </>
        ) : (
          <p className="ps-1 font-semibold">Figures of this answer</p>
        )}
        {closable && (
          <button
            aria-label={shown ? "Close the source" : "Close the figures"}
            className="button button-quiet ms-auto"
            onClick={onClose}
            title="Close (Escape)"
          >
            <Icon name="cross" />
          </button>
        )}
      </div>
      {shown ? (
        <SourceView citation={shown.citation} key={turn.key + shown.name} />
      ) : turn.answer ? (
        <Figures answer={turn.answer} key={turn.key} />
      ) : (
        <p className="px-4 py-4 text-muted">They come with the answer.</p>
      )}
    </aside>
  );
}
