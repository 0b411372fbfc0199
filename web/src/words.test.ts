import { describe, expect, it } from "vitest";
import * as words from "./words";

describe("confidence", () => {
  it("is high from 0.8 and medium from 0.6", () => {
    const at = [1, 0.8, 0.7999, 0.6, 0.5999, 0].map(words.level);
    expect(at).toEqual(["high", "high", "medium", "medium", "low", "low"]);
  });
});

it("says durations in the unit that fits", () => {
  expect(words.milliseconds("0.023811523s")).toBeCloseTo(23.8, 1);
  expect(words.milliseconds(undefined)).toBe(0);
  expect(words.milliseconds("nonsense")).toBe(0);
  expect([0.2, 12.4, 1400].map(words.time)).toEqual(["<1 ms", "12 ms", "1.4 s"]);
});

it("never rounds a share up to all", () => {
  expect(words.percent(0.9996)).toBe("99%");
  expect(words.percent(1)).toBe("100%");
  expect(words.percent(0.29)).toBe("29%");
});

it("draws runs of pages together", () => {
  expect(words.ranges([3, 7, 8, 9, 12])).toBe("3, 7–9, 12");
  expect(words.ranges([])).toBe("");
});

it("says sizes, counts and dates", () => {
  expect([10, 2048, 5 * 1024 * 1024].map(words.bytes)).toEqual(["10 B", "2 KiB", "5.0 MiB"]);
  expect([words.count(1, "page"), words.count(1234, "page")]).toEqual(["1 page", "1,234 pages"]);
  expect(words.effective("2026-01-01", "")).toBe("from 2026-01-01");
  expect(words.effective("", "")).toBe("");
  expect(words.moment("2026-11-30T03:07:38.629811Z")).toMatch(/^2026-1[12]-\d\d \d\d:\d\d$/);
  expect(words.moment("never")).toBe("");
});

it("takes names that it does not know as they are", () => {
  expect(words.plain("VERDICT_SOMETHING_NEW", "VERDICT_")).toBe("something new");
  expect(words.stageName("dream")).toBe("Dream");
  expect(words.outcomeWords("OUTCOME_NEW")).toBe("not yet known");
});
