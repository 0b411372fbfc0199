import { describe, expect, it } from "vitest";
import { codePoints, pieces, shifted, slice, unitIndex, visible } from "./spans";

describe("offsets count code points", () => {
  it("is the same as UTF-16 inside the BMP", () => {
    expect(slice("Any UBO must submit", { start: 4, end: 7 })).toBe("UBO");
    expect(slice("Größe über 25 %", { start: 6, end: 10 })).toBe("über");
  });

  it("takes two units for a code point outside the BMP", () => {
    const text = "😀 the 𝒜 rule 🏦 holds";
    expect(slice(text, { start: 2, end: 5 })).toBe("the");
    expect(slice(text, { start: 6, end: 7 })).toBe("𝒜");
    expect(slice(text, { start: 8, end: 12 })).toBe("rule");
    expect(codePoints(text)).toBe(20);
    expect(text.length).toBe(23);
  });

  it("keeps combining marks and joined emoji apart, as the server does", () => {
    const text = "e\u0301 👩‍⚖️ x";
    expect(codePoints(text)).toBe(9);
    expect(slice(text, { start: 8, end: 9 })).toBe("x");
  });

  it("marks right-to-left text by its logical order", () => {
    expect(slice("يجب تقديم إثبات", { start: 4, end: 9 })).toBe("تقديم");
  });

  it("counts a lone surrogate as one", () => {
    expect(slice("\uD83D x", { start: 2, end: 3 })).toBe("x");
    expect(codePoints("\uD83D x")).toBe(3);
  });

  it("never leaves the text", () => {
    expect(unitIndex("abc", 99)).toBe(3);
    expect(unitIndex("😀", 99)).toBe(2);
    expect(unitIndex("abc", -1)).toBe(0);
    expect(slice("", { start: 0, end: 5 })).toBe("");
  });

  it("agrees with counting by iteration, for any cut of a mixed text", () => {
    const text = "a😀ß𝒜\u0301\n漢🏦z";
    const points = Array.from(text);
    for (let start = 0; start <= points.length; start++) {
      for (let end = start; end <= points.length; end++) {
        expect(slice(text, { start, end })).toBe(points.slice(start, end).join(""));
      }
    }
  });
});

describe("pieces", () => {
  it("puts the whole text together again", () => {
    const text = "🏦 Any UBO must submit a proof.";
    const cut = pieces(text, [
      { start: 2, end: 5 },
      { start: 6, end: 9 },
    ]);
    expect(cut.map((piece) => piece.text).join("")).toBe(text);
    expect(cut.filter((piece) => piece.marked).map((piece) => piece.text)).toEqual(["Any", "UBO"]);
  });

  it("makes one of spans that overlap or touch", () => {
    const cut = pieces("abcdef", [
      { start: 3, end: 5 },
      { start: 1, end: 4 },
      { start: 2, end: 3 },
      { start: 5, end: 6 },
    ]);
    expect(cut).toEqual([
      { text: "a", marked: false },
      { text: "bcdef", marked: true },
    ]);
  });

  it("passes over empty and impossible spans", () => {
    expect(pieces("abc", [{ start: 2, end: 2 }])).toEqual([{ text: "abc", marked: false }]);
    expect(pieces("abc", [{ start: 9, end: 12 }])).toEqual([{ text: "abc", marked: false }]);
    expect(pieces("", [{ start: 0, end: 1 }])).toEqual([]);
  });
});

it("shifts a span into another text", () => {
  expect(shifted({ start: 3, end: 5 }, 10)).toEqual({ start: 13, end: 15 });
});

it("shows the end of a page as the end of a line, and moves no offset", () => {
  const text = "😀 one\ftwo";
  expect(visible(text)).toBe("😀 one\ntwo");
  expect(slice(visible(text), { start: 6, end: 9 })).toBe("two");
});
