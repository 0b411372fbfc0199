/** A view that scrolls in itself, named for who does not see it. */
import type { ReactNode } from "react";

interface Props {
  label: string;
  /** How wide it becomes. */
  width: "max-w-3xl" | "max-w-6xl";
  children: ReactNode;
}

export function Region({ label, width, children }: Props) {
  return (
    <div
      aria-label={label}
      className="h-full overflow-y-auto px-3 py-5 sm:px-5 print:h-auto print:p-0"
      role="region"
      tabIndex={0}
    >
      <div className={`mx-auto space-y-4 ${width}`}>{children}</div>
    </div>
  );
}
