/** Says what went wrong, or what there is to know, beside what can be done. */
import type { ReactNode } from "react";
import type { Problem } from "../types";
import { Icon, type IconName } from "./Icon";

type Tone = "bad" | "warn" | "plain";

const LOOK: Record<Tone, { classes: string; icon: IconName }> = {
  bad: { classes: "bg-bad-soft text-bad", icon: "alert" },
  warn: { classes: "bg-warn-soft text-warn", icon: "alert" },
  plain: { classes: "bg-sunken text-muted", icon: "circle" },
};

interface Props {
  tone: Tone;
  title: string;
  children?: ReactNode;
}

export function Notice({ tone, title, children }: Props) {
  const { classes, icon } = LOOK[tone];
  return (
    <div
      className={`flex gap-2 rounded-md px-3 py-2 ${classes}`}
      role={tone === "bad" ? "alert" : undefined}
    >
      <span className="pt-1">
        <Icon name={icon} />
      </span>
      <div className="min-w-0 wrap-anywhere">
        <p className="font-semibold">{title}</p>
        {children}
      </div>
    </div>
  );
}

export function ProblemNotice({ problem, children }: { problem: Problem; children?: ReactNode }) {
  return (
    <Notice title={titles[problem.code] ?? problem.title} tone="bad">
      <p>{problem.detail}</p>
      {problem.violations.map(({ field, description }) => (
        <p key={field + description}>
          <code className="font-mono">{field}</code>: {description}
        </p>
      ))}
      {problem.retry_after_seconds > 0 && (
        <p>Try again in {Math.ceil(problem.retry_after_seconds)} s.</p>
      )}
      {(problem.error_id || problem.trace_id) && (
        <p className="mt-1 font-mono text-xs">
          {problem.error_id ? `error ${problem.error_id}` : `trace ${problem.trace_id}`}
        </p>
      )}
      {children}
    </Notice>
  );
}

/** Statuses in words that a reader without a protocol's vocabulary knows. */
const titles: Record<string, string> = {
  UNAVAILABLE: "A part of the system is down",
  DEADLINE_EXCEEDED: "It took too long",
  RESOURCE_EXHAUSTED: "Too much at once",
  INVALID_ARGUMENT: "This cannot be taken as it is",
  INTERNAL: "Something failed inside",
};
