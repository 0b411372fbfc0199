import { describe, expect, it } from "vitest";
import { firstNumbers, numbered, pageName, pagesOf, topOf } from "./citations";
import { citable } from "./shown";
import { stored } from "./asking";
import { answer, citation, passage, statement } from "./samples.test-data";

const box = { left: 70, top: 97.5, right: 500, bottom: 111 };
const region = (page: number, label: string) => ({
  span: { start: 0, end: 5 },
  page_number: page,
  page_label: label,
  box,
});

describe("citations", () => {
  const statements = [
    statement("A", [citation(), citation()]),
    statement("B", []),
    statement("C", [citation()]),
  ];

  it("are numbered through the answer, as its text numbers them", () => {
    expect(numbered(statements).map(({ number, statement: of }) => [number, of.text])).toEqual([
      [1, "A"],
      [2, "A"],
      [3, "C"],
    ]);
    expect(firstNumbers(statements)).toEqual([1, 3, 3]);
  });

  it("know each page that they stand on, once", () => {
    const over = citation({ regions: [region(7, "iv"), region(7, "iv"), region(8, "v")] });
    expect(pagesOf(over)).toEqual([
      { page: 7, label: "iv" },
      { page: 8, label: "v" },
    ]);
    expect(topOf(over, 8)).toBe(97.5);
    expect(topOf(over, 9)).toBeUndefined();
  });

  it("stand on no page where the source has none", () => {
    const textual = { span: { start: 0, end: 5 }, page_number: 1, page_label: "" };
    expect(pagesOf(citation({ regions: [textual] }))).toEqual([]);
  });

  it("name a page by its place, and by what is printed where that differs", () => {
    expect(pageName(42, "42")).toBe("page 42");
    expect(pageName(120, "F-12")).toBe("page 120 (printed F-12)");
    expect(pageName(3, "")).toBe("page 3");
  });

  it("are, where there is no answer, what disagrees and what came nearest", () => {
    const turn = stored(
      answer({
        abstention: { type: "TYPE_CONFLICTING", message: "", conflicting: [citation()] },
        search: {
          collection: "",
          document_count: 1,
          passage_count: 1,
          query: "",
          nearest_misses: [passage()],
          as_of: "",
          ranking: "",
          exclusions: [],
          excluded_document_count: 0,
          included_out_of_force: false,
        },
      }),
    );
    expect(citable(turn).map(({ number, name }) => [number, name])).toEqual([
      [1, "Conflicting source 1"],
      [2, "Nearest passage 1"],
    ]);
    expect(citable(turn)[1]?.citation.document_span).toEqual({ start: 50, end: 65 });
  });
});
