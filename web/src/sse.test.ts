import { describe, expect, it } from "vitest";
import { EventParser } from "./sse";

const STREAM =
  ': keep-alive\n\nevent: stage_started\ndata: {"stage":"recall"}\n\n' +
  'event: answer\ndata: {"text":"ä 😀"}\n\n';
const EVENTS = [
  { name: "stage_started", data: '{"stage":"recall"}' },
  { name: "answer", data: '{"text":"ä 😀"}' },
];

describe("EventParser", () => {
  it("reads events and passes over heartbeats", () => {
    expect(new EventParser().push(STREAM)).toEqual(EVENTS);
  });

  it("reads the same wherever the stream is cut, and whatever ends its lines", () => {
    for (const stream of [STREAM, STREAM.replaceAll("\n", "\r\n"), STREAM.replaceAll("\n", "\r")]) {
      for (let cut = 0; cut <= stream.length; cut++) {
        const parser = new EventParser();
        const events = [...parser.push(stream.slice(0, cut)), ...parser.push(stream.slice(cut))];
        // A last lone carriage return is held back: its line feed may still come.
        events.push(...parser.push("\n"));
        expect(events).toEqual(EVENTS);
      }
    }
  });

  it("joins lines of data and gives a nameless event its default name", () => {
    expect(new EventParser().push("data: a\ndata:b\nid: 7\nretry\n\n")).toEqual([
      { name: "message", data: "a\nb" },
    ]);
  });

  it("does not give out half an event", () => {
    expect(new EventParser().push('event: answer\ndata: {"text":')).toEqual([]);
  });
});
