import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import { made } from "../api";
import { asked, cancelled, failed, stored, type Turn } from "../asking";
import { answer, citation, objection, statement } from "../samples.test-data";
import { TurnCard } from "./TurnCard";

afterEach(cleanup);

const REQUEST = { question: "Who?", conversation_id: "c", idempotency_key: "k" };
const CONFIDENCE = { citation_accuracy: 1, source_authority: 1, coverage: 1 };

function shown(turn: Turn) {
  const onOpen = vi.fn();
  const onAgain = vi.fn();
  const card = (
    <TurnCard onAgain={onAgain} onOpen={onOpen} open={undefined} tall={false} turn={turn} />
  );
  return { ...render(card), onOpen, onAgain };
}

describe("an answer", () => {
  it("that cites nothing is said to", () => {
    shown(stored(answer({ statements: [statement("So it is.", [])] })));
    expect(screen.getByText("This answer cites nothing")).toBeTruthy();
  });

  it("opens the source of the number that is clicked", () => {
    const two = [statement("A.", [citation()]), statement("B.", [citation(), citation()])];
    const { onOpen } = shown(stored(answer({ statements: two })));
    fireEvent.click(screen.getByRole("button", { name: /^Citation 3: Policy\.pdf, page 42/ }));
    expect(onOpen).toHaveBeenCalledWith({ pane: "source", turn: "a-1", number: 3 });
  });

  it.each([
    [0.8, "High confidence 0.800"],
    [0.6, "Medium confidence 0.600"],
    [0.59, "Low confidence 0.590"],
  ])("of confidence %f is said to be so in words", (grounding_confidence, words) => {
    shown(stored(answer({ confidence: { ...CONFIDENCE, grounding_confidence } })));
    expect(screen.getByText(words)).toBeTruthy();
  });

  it("shows markup as text, wherever it comes from", () => {
    const nasty = '<img src=x onerror="window.hit=1">';
    const rejected = objection(nasty, {
      reasons: [{ code: "CODE_NO_ENTAILMENT", message: nasty, closest_text: nasty }],
    });
    const { container } = shown(
      stored(
        answer({
          question: nasty,
          statements: [statement(nasty, [citation({ source_name: nasty, quote: nasty })])],
          objections: [rejected],
          standalone_question: nasty,
          compliance: "COMPLIANCE_UNKNOWN",
          compliance_gaps: [{ corpus: "CORPUS_FACTS", message: nasty }],
        }),
      ),
    );
    expect(container.querySelector("img")).toBeNull();
    expect(screen.getAllByText(nasty, { exact: false }).length).toBeGreaterThan(4);
  });

  it("says that the model was down and that it is not stored", () => {
    shown(stored(answer({ degraded: true, memory_degraded: true })));
    expect(screen.getByText("Drafted without the model")).toBeTruthy();
    expect(screen.getByText("Not stored")).toBeTruthy();
    expect(screen.queryByText("Printable")).toBeNull();
  });
});

describe("a question that came to nothing", () => {
  it("can be asked again after it failed, with what was wrong", () => {
    const turn = failed(asked("k", REQUEST), made("UNAVAILABLE", "x", "Generation is down."));
    const { onAgain } = shown(turn);
    expect(screen.getByRole("alert").textContent).toContain("Generation is down.");
    fireEvent.click(screen.getByRole("button", { name: "Ask again" }));
    expect(onAgain).toHaveBeenCalledWith(turn);
  });

  it("can be asked again after it was cancelled", () => {
    shown(cancelled(asked("k", REQUEST)));
    expect(screen.getByText("Cancelled")).toBeTruthy();
    expect(screen.getByRole("button", { name: "Ask again" })).toBeTruthy();
  });
});
