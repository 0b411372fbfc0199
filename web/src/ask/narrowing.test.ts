import { describe, expect, it } from "vitest";
import { lacking, narrowing, NOTHING_SAID, summary, type Corpus } from "./narrowing";

const PACKET = { id: "d-1", source_name: "Packet.pdf" };
const NONE = NOTHING_SAID.one;
const FACTS: Corpus = { ...NONE, documents: [PACKET] };
const RULES: Corpus = { ...NONE, types: " Policy, ,law " };
const APART = { ...NOTHING_SAID, apart: true, facts: FACTS, rules: RULES };

describe("what may be cited", () => {
  it("is everything where nothing is said", () => {
    expect(narrowing(NOTHING_SAID)).toEqual({});
    expect(summary(NOTHING_SAID)).toBe("");
    expect(lacking(NOTHING_SAID)).toBe("");
  });

  it("is narrowed by what is said of one body of documents and by the day", () => {
    const one: Corpus = { documents: [PACKET], types: "kyc", authority: "AUTHORITY_HIGH" };
    const said = { ...NOTHING_SAID, as_of: "2026-03-01", one };
    expect(narrowing(said)).toEqual({
      as_of: "2026-03-01",
      filter: { document_ids: ["d-1"], document_types: ["kyc"], min_authority: "AUTHORITY_HIGH" },
    });
    expect(summary(said)).toBe("Packet.pdf, type kyc, authority high or more; as of 2026-03-01");
  });

  it("is two bodies of documents for a question of compliance, and then not a third", () => {
    expect(narrowing({ ...APART, one: FACTS })).toEqual({
      facts: { document_ids: ["d-1"] },
      rules: { document_types: ["policy", "law"] },
    });
    expect(summary(APART)).toBe("facts from Packet.pdf; rules from type Policy or law");
    expect(lacking(APART)).toBe("");
  });

  it.each([
    [NONE, RULES, "Choose where the facts are"],
    [FACTS, { ...NONE, types: " , " }, "Choose where the rules are"],
    [NONE, NONE, "Choose where the facts and the rules are"],
  ])("is not asked for while one of the two is lacking", (facts, rules, words) => {
    expect(lacking({ ...NOTHING_SAID, apart: true, facts, rules })).toBe(words);
  });

  it("comes back as it was when the two are put together again", () => {
    expect(narrowing({ ...APART, apart: false, one: FACTS })).toEqual({
      filter: { document_ids: ["d-1"] },
    });
  });
});
