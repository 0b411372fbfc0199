/** A share as a bar, with its figure beside it. */
import { figure } from "../words";

interface Props {
  name: string;
  share: number;
  strong?: boolean;
}

export function Bar({ name, share, strong = false }: Props) {
  return (
    <div>
      <p className={`flex justify-between ${strong ? "font-semibold" : ""}`}>
        {name}
        <span className="tabular-nums">{figure(share)}</span>
      </p>
      <div
        aria-label={name}
        aria-valuemax={1}
        aria-valuemin={0}
        aria-valuenow={share}
        className="h-1.5 overflow-hidden rounded-full bg-sunken"
        role="meter"
      >
        <div className="h-full rounded-full bg-accent" style={{ width: `${share * 100}%` }} />
      </div>
    </div>
  );
}
