/** Offsets in the API count code points; JavaScript's strings count UTF-16 units. */
import type { Span } from "./types";

const HIGH_SURROGATE = /[\uD800-\uDBFF]/;

/** The index of the UTF-16 unit at which the code point with this number begins. */
export function unitIndex(text: string, codePoint: number): number {
  if (!HIGH_SURROGATE.test(text)) return Math.min(Math.max(codePoint, 0), text.length);
  let unit = 0;
  for (let seen = 0; seen < codePoint && unit < text.length; seen++) {
    unit += (text.codePointAt(unit) ?? 0) > 0xffff ? 2 : 1;
  }
  return unit;
}

/** text[start:end], where start and end count code points. */
export function slice(text: string, span: Span): string {
  return text.slice(unitIndex(text, span.start), unitIndex(text, span.end));
}

/** How many code points a text has. */
export function codePoints(text: string): number {
  let count = 0;
  for (let unit = 0; unit < text.length; count++) {
    unit += (text.codePointAt(unit) ?? 0) > 0xffff ? 2 : 1;
  }
  return count;
}

export interface Piece {
  text: string;
  marked: boolean;
}

/** The text cut where spans begin and end; overlapping and touching spans are one. */
export function pieces(text: string, spans: readonly Span[]): Piece[] {
  const ranges = spans
    .map((span) => ({ start: unitIndex(text, span.start), end: unitIndex(text, span.end) }))
    .filter((range) => range.end > range.start)
    .sort((a, b) => a.start - b.start);
  const found: Piece[] = [];
  let at = 0;
  for (const range of ranges) {
    if (range.end <= at) continue;
    const start = Math.max(range.start, at);
    if (start > at) found.push({ text: text.slice(at, start), marked: false });
    const last = found.at(-1);
    const marked = text.slice(start, range.end);
    if (last?.marked) last.text += marked;
    else found.push({ text: marked, marked: true });
    at = range.end;
  }
  if (at < text.length) found.push({ text: text.slice(at), marked: false });
  return found;
}

/** A text as it can be shown: what ends a page ends a line. As long as it was. */
export function visible(text: string): string {
  return text.replaceAll("\f", "\n");
}

/** A span of one text as a span of another that begins where `shift` says. */
export function shifted(span: Span, shift: number): Span {
  return { start: span.start + shift, end: span.end + shift };
}
