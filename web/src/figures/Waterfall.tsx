/** When each stage of an answer began and how long it took. */
import type { StageTiming } from "../types";
import { milliseconds, stageName, time } from "../words";

interface Props {
  timings: readonly StageTiming[];
  /** Milliseconds from the question's arrival to the answer. */
  total: number;
}

export function Waterfall({ timings, total }: Props) {
  const rows = timings.map((timing) => ({
    name: stageName(timing.stage) + (timing.attempt > 1 ? ` ${timing.attempt}` : ""),
    start: milliseconds(timing.start_offset),
    length: milliseconds(timing.duration),
  }));
  const end = Math.max(total, ...rows.map((row) => row.start + row.length), 1);
  return (
    <table className="mt-1 w-full table-fixed text-sm">
      <colgroup>
        <col className="w-36" />
        <col />
        <col className="w-20" />
      </colgroup>
      <thead className="sr-only">
        <tr>
          <th scope="col">Stage</th>
          <th scope="col">When</th>
          <th scope="col">Time</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row, at) => (
          <tr key={at}>
            <th className="w-36 whitespace-nowrap py-0.5 pe-2 text-start font-normal" scope="row">
              {row.name}
            </th>
            <td aria-label={`after ${time(row.start)}`}>
              <div className="relative h-2 rounded-sm bg-sunken">
                <div
                  className="absolute h-full min-w-0.5 rounded-sm bg-accent"
                  style={{
                    insetInlineStart: `${(row.start / end) * 100}%`,
                    width: `${Math.max(0.5, (row.length / end) * 100)}%`,
                  }}
                />
              </div>
            </td>
            <td className="ps-2 text-end whitespace-nowrap tabular-nums">{time(row.length)}</td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr className="font-semibold">
          <th className="pt-1 text-start font-semibold" scope="row">
            Whole
          </th>
          <td />
          <td className="pt-1 ps-2 text-end whitespace-nowrap tabular-nums">{time(total)}</td>
        </tr>
      </tfoot>
    </table>
  );
}
