/** The stages of answering with their times, on one line whose height never changes. */
import { useEffect, useState } from "react";
import type { Stage, Turn } from "../asking";
import { Icon } from "../ui/Icon";
import { milliseconds, stageName, time } from "../words";

export function Stages({ turn }: { turn: Turn }) {
  const again = turn.stages.some((stage) => stage.attempt > 1);
  return (
    <ol
      aria-label="Stages"
      className="fades flex h-8 items-center gap-1.5 overflow-x-auto overflow-y-hidden text-sm text-muted"
      tabIndex={0}
    >
      {turn.stages.map((stage, at) => (
        <li className="chip shrink-0 bg-sunken text-muted" key={at}>
          <Mark running={!stage.timing && turn.phase === "asking"} stage={stage} />
          <span>
            {stageName(stage.stage)}
            {again && stage.attempt > 1 && ` ${stage.attempt}`}
          </span>
          <span className="min-w-11 text-end tabular-nums">
            {stage.timing ? (
              time(milliseconds(stage.timing.duration))
            ) : turn.phase === "asking" ? (
              <Elapsed />
            ) : (
              "stopped"
            )}
          </span>
        </li>
      ))}
      {turn.stages.length === 0 && turn.phase === "asking" && (
        <li className="chip pulse bg-sunken">Sent</li>
      )}
    </ol>
  );
}

function Mark({ stage, running }: { stage: Stage; running: boolean }) {
  if (running) return <span aria-hidden="true" className="pulse size-2 rounded-full bg-accent" />;
  return <Icon name={stage.timing ? "check" : "cross"} size={12} />;
}

/** Time since this came up. */
function Elapsed() {
  const [ms, setMs] = useState(0);
  useEffect(() => {
    const began = performance.now();
    const timer = window.setInterval(() => {
      setMs(performance.now() - began);
    }, 100);
    return () => {
      window.clearInterval(timer);
    };
  }, []);
  return <>{ms < 100 ? "…" : `${(ms / 1000).toFixed(1)} s`}</>;
}
