import { expect, it } from "vitest";
import { route, toAnswer, toConversation } from "./route";

it("reads what it writes, whatever is in a name", () => {
  expect(route(toConversation("kyc-7.a"))).toEqual({ view: "ask", conversation: "kyc-7.a" });
  expect(route(toAnswer("a/b#c%"))).toEqual({ view: "answer", id: "a/b#c%" });
});

it("knows its views and nothing else", () => {
  expect(route("")).toEqual({ view: "ask", conversation: "" });
  expect(route("#/documents")).toEqual({ view: "documents" });
  expect(route("#/conversations/")).toEqual({ view: "conversations" });
  for (const hash of ["#/nonsense", "#/documents/x", "#/conversations/a/b", "#/answers/%E0%A4%A"]) {
    expect(route(hash)).toEqual({ view: "nowhere" });
  }
});
