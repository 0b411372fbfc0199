/** Small pictures beside words; the words say the same. */

const PATHS = {
  check: "M4.5 10.5l3.5 3.5 7.5-8",
  plus: "M10 4v12M4 10h12",
  cross: "M5.5 5.5l9 9m0-9l-9 9",
  alert: "M10 4.5v6.5m0 3v.5M10 1.8L18.6 17H1.4L10 1.8z",
  circle: "M10 6v5m0 2.5v.5m7.5-4a7.5 7.5 0 1 1-15 0 7.5 7.5 0 0 1 15 0z",
  left: "M12 4.5L6.5 10l5.5 5.5",
  right: "M8 4.5l5.5 5.5L8 15.5",
  copy: "M7 7V3.5h9.5V13H13M3.5 7H13v9.5H3.5V7z",
  down: "M10 3v9.5m-4-4l4 4 4-4M3.5 16.5h13",
  print: "M6 8V3h8v5M6 14H3.5V8h13v6H14M6 12h8v5H6v-5z",
  file: "M5 2.5h6.5l4 4v11H5v-15zM11.5 2.5v4h4",
  bin: "M3.5 5.5h13M8 5.5V3.5h4v2M5 5.5l.8 11.5h8.4L15 5.5M8.2 8.5v5.5m3.6-5.5v5.5",
  sun: "M10 6.5a3.5 3.5 0 1 1 0 7 3.5 3.5 0 0 1 0-7zM10 1.5v2m0 13v2M1.5 10h2m13 0h2M4 4l1.4 1.4m9.2 9.2L16 16M4 16l1.4-1.4m9.2-9.2L16 4",
  moon: "M16.5 12A7 7 0 0 1 8 3.5a7 7 0 1 0 8.5 8.5z",
  half: "M10 2.5a7.5 7.5 0 1 1 0 15v-15zm0 0a7.5 7.5 0 0 0 0 15",
  up: "M10 16.5V7m-4 4l4-4 4 4M3.5 3.5h13",
  scale: "M10 3v14m-4 0h8M4 6h12M4 6l-2.5 6h5L4 6zm12 0l-2.5 6h5L16 6z",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      aria-hidden="true"
      className="shrink-0"
      fill="none"
      height={size}
      stroke="currentColor"
      strokeLinecap="round"
      strokeLinejoin="round"
      strokeWidth="1.75"
      viewBox="0 0 20 20"
      width={size}
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
