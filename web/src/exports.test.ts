import { describe, expect, it } from "vitest";
import { escaped, fileName, json, markdown, source } from "./exports";
import { codePoints } from "./spans";
import { answer, citation, passage, statement } from "./samples.test-data";

describe("Markdown", () => {
  const given = answer({
    question: "Who\nmust submit?",
    trace_id: "f".repeat(32),
    statements: [
      statement("A UBO must.", [citation(), citation({ page_number: 55, page_label: "F-12" })]),
      statement("So it is.", [citation({ section_id: "" })]),
    ],
  });

  it("numbers citations through the answer and quotes each with its place and its hash", () => {
    const text = markdown(given);
    expect(text).toContain("# Who must submit?");
    expect(text).toContain("- A UBO must. \\[1\\]\\[2\\]");
    expect(text).toContain("- So it is. \\[3\\]");
    expect(text).toContain("1. Policy.pdf, page 42, section 4.2, authority high, effective from");
    expect(text).toContain("page 55 (printed F-12)");
    expect(text).toContain("   > must submit\n   > a notarized proof");
    expect(text).toContain("ab".repeat(32));
  });

  it("makes no markup, link or image of what it was given", () => {
    const nasty = '![x](https://evil.example/p.png) <img src=x onerror="a()"> [a](b) `c`\n# h\n- l';
    const text = markdown(answer({ statements: [statement(nasty, [citation({ quote: nasty })])] }));
    expect(text).not.toMatch(/(^|[^\\])!\[/);
    expect(text).not.toMatch(/[^\\]<img/);
    expect(text).not.toContain("https://evil");
    expect(text).not.toMatch(/^\s*> # h/m);
  });

  it("says what was searched where there is no answer", () => {
    const text = markdown(
      answer({
        status: "STATUS_ABSTAINED",
        abstention: { type: "TYPE_NO_EVIDENCE", message: "Nothing.", conflicting: [] },
        search: {
          collection: "c",
          document_count: 6,
          passage_count: 226,
          query: "late filing",
          nearest_misses: [passage()],
          as_of: "",
          ranking: "",
          exclusions: [],
          excluded_document_count: 0,
          included_out_of_force: false,
        },
      }),
    );
    expect(text).toContain("**Nothing in the sources answers.** Nothing.");
    expect(text).toContain("Searched 226 passages of 6 documents for: late filing");
    expect(text).toContain("nearest: Near.pdf, page 7");
  });
});

it("escapes what begins a list or a heading, and nothing else of a plain text", () => {
  expect(escaped("1. first")).toBe("\\1. first");
  expect(escaped("- dash")).toBe("\\- dash");
  expect(escaped("more than 25% of $3 (net)")).toBe("more than 25% of $3 (net)");
});

it("exports the answer as it came", () => {
  const given = answer({ question: "😀?" });
  expect(JSON.parse(json(given))).toEqual(given);
});

it("names a file after the question, without what a file system does not take", () => {
  expect(fileName(answer({ question: "../../What's <new>: Größe?" }), "md")).toBe(
    "what-s-new-größe.md",
  );
  expect(fileName(answer({ question: "???" }), "json")).toBe("answer.json");
  expect(codePoints(fileName(answer({ question: "😀漢".repeat(300) }), "md"))).toBe(63);
});

it("says in one line where a citation stands", () => {
  expect(source(citation({ effective_to: "2027-01-01" }))).toBe(
    "Policy.pdf, page 42, section 4.2, authority high, effective 2026-01-01 until 2027-01-01",
  );
});
