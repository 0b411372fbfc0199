/** Server-sent events, read from the text of a response as it comes. */

export interface ServerEvent {
  name: string;
  data: string;
}

/** Cuts a stream into events; comments are heartbeats and say nothing. */
export class EventParser {
  private rest = "";
  private name = "";
  private lines: string[] = [];

  /** The events that ended within this piece of the stream. */
  push(piece: string): ServerEvent[] {
    const text = this.rest + piece;
    // A carriage return at the very end may be half of a line's end.
    const held = text.endsWith("\r") ? 1 : 0;
    const lines = text.slice(0, text.length - held).split(/\r\n|\n|\r/);
    this.rest = (lines.pop() ?? "") + text.slice(text.length - held);
    return lines.flatMap((line) => this.line(line));
  }

  private line(line: string): ServerEvent[] {
    if (line === "") return this.dispatched();
    const colon = line.indexOf(":");
    if (colon === 0) return [];
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.name = value;
    else if (field === "data") this.lines.push(value);
    return [];
  }

  private dispatched(): ServerEvent[] {
    const event = { name: this.name || "message", data: this.lines.join("\n") };
    const empty = this.lines.length === 0;
    this.name = "";
    this.lines = [];
    return empty ? [] : [event];
  }
}
