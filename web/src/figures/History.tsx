/** The grounding confidence of a conversation's answers, oldest first, as a small chart. */
import { figure } from "../words";

const WIDTH = 320;
const HEIGHT = 64;
const EDGE = 5;

export function History({ recent }: { recent: readonly number[] }) {
  const step = (WIDTH - 2 * EDGE) / Math.max(1, recent.length - 1);
  const points = recent.map((share, at) => ({
    x: recent.length === 1 ? WIDTH / 2 : EDGE + at * step,
    y: EDGE + (1 - share) * (HEIGHT - 2 * EDGE),
    share,
  }));
  const words =
    recent.length === 0
      ? "Nothing known yet"
      : `Grounding confidence of ${recent.length} answers, oldest first: ${recent.map(figure).join(", ")}`;
  const y = (share: number): number => EDGE + (1 - share) * (HEIGHT - 2 * EDGE);
  return (
    <svg
      aria-label={words}
      className="mt-2 block w-full overflow-visible"
      role="img"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
    >
      {[0, 0.6, 0.8, 1].map((share) => (
        <line
          className="stroke-line"
          key={share}
          strokeDasharray={share === 0 || share === 1 ? undefined : "3 3"}
          x1="0"
          x2={WIDTH}
          y1={y(share)}
          y2={y(share)}
        />
      ))}
      <polyline
        className="fill-none stroke-accent"
        points={points.map((point) => `${point.x},${point.y}`).join(" ")}
        strokeLinejoin="round"
        strokeWidth="1.5"
      />
      {points.map((point, at) => (
        <circle className="fill-accent" cx={point.x} cy={point.y} key={at} r="2.75">
          <title>{figure(point.share)}</title>
        </circle>
      ))}
    </svg>
  );
}
