import { expect, it } from "vitest";
import { codePoints } from "./spans";
import { noted, parse } from "./recent";

const T = "2026-11-30T03:00:00Z";

it("puts a conversation first when it is asked again, under its first question", () => {
  let list = noted([], "a", "First?", T);
  list = noted(list, "b", "Other?", T);
  list = noted(list, "a", "And then?", T);
  expect(list.map(({ id, title, questions }) => [id, title, questions])).toEqual([
    ["a", "First?", 2],
    ["b", "Other?", 1],
  ]);
});

it("is bounded in length and in each title", () => {
  let list = noted([], "0", "😀".repeat(4000), T);
  expect(codePoints(list[0]?.title ?? "")).toBe(300);
  for (let at = 1; at < 300; at++) list = noted(list, at.toString(), "?", T);
  expect(list).toHaveLength(200);
});

it("takes nothing of another form from the store", () => {
  expect(parse("")).toEqual([]);
  expect(parse('{"id":1}')).toEqual([]);
  const good = { id: "a", title: "t", questions: 1, time: T };
  expect(parse(JSON.stringify([null, 7, { id: "a" }, good]))).toEqual([good]);
});
