import { expect, test } from "bun:test";
import { createHighlighter } from "../../../src/memories/matched/highlights.ts";

/** A text with brackets around what is marked. */
const marked = (question: string, text: string) =>
  createHighlighter(question)(text)
    .map((piece) => (piece.isAsked ? `[${piece.text}]` : piece.text))
    .join("");

test.each([
  ["where is the key?", "The key, all keys.", "The [key], all [keys]."],
  ["blue key", "A blue key.", "A [blue] [key]."],
  ["getUserById", "Call getUserById(1) or get user.", "Call [getUserById](1) or [get] [user]."],
  ["src/app.ts", "In src/app.ts.", "In [src/app.ts]."],
  ["李明", "我和李明说", "我和[李明]说"],
  ["the of and", "the of and", "the of and"],
  ["?", "what?", "what?"],
  ["<b>", "<b>bold</b>", "<[b]>bold</[b]>"],
  ["key", "", ""],
])("words of “%s” are marked in “%s”", (question, text, expected) => {
  expect(marked(question, text)).toBe(expected);
});

test("the pieces are the text again, whatever it is", () => {
  for (const text of ["key 🦜 key", "\0key\0", "key".repeat(500), "שלום key עולם", "👨‍👩‍👧‍👦key"]) {
    expect(marked("key 🦜 שלום", text).replaceAll(/[[\]]/g, "")).toBe(text);
  }
});
