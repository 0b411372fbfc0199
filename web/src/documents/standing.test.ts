import { expect, it } from "vitest";
import { document } from "../samples.test-data";
import { pageProblems, standing } from "./standing";

it("says what a document is on a day, its last day not included", () => {
  const dated = document({ effective_from: "2026-01-01", effective_to: "2027-01-01" });
  const days = ["2025-12-31", "2026-01-01", "2026-12-31", "2027-01-01"];
  expect(days.map((day) => standing(dated, day).words)).toEqual([
    "Not yet effective",
    "In force",
    "In force",
    "No longer effective",
  ]);
  expect(standing(document({ superseded_by: ["B.pdf"] }), "2026-01-01").words).toBe("Superseded");
});

it("names the pages that have problems", () => {
  const bad = document({
    pages_without_text: [2, 3, 9],
    ocr_pages: [{ page_number: 5, confidence: 0.734 }],
  });
  expect(pageProblems(bad)).toEqual([
    "3 pages without text: 2–3, 9",
    "1 page read in a picture: 5 (worst recognition 73%)",
  ]);
  expect(pageProblems(document())).toEqual([]);
});
