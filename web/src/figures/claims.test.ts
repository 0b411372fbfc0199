import { expect, it } from "vitest";
import { objection } from "../samples.test-data";
import { rejectedClaims } from "./claims";

it("counts each claim once that the last draft could not have verified", () => {
  const abandoned = { outcome: "OUTCOME_ABANDONED" };
  const objections = [
    objection("A.", { ...abandoned, attempt: 1 }),
    objection("B.", { ...abandoned, attempt: 2 }),
    objection("B.", { ...abandoned, attempt: 2 }),
    objection("C.", { outcome: "OUTCOME_CORRECTED", attempt: 2 }),
  ];
  expect(rejectedClaims({ objections })).toBe(1);
  expect(rejectedClaims({ objections: [] })).toBe(0);
});
