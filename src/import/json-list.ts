import type { Format, Found } from "./format.ts";
import { readEntries } from "./json-document.ts";
import { readMemory } from "./mem0.ts";

/** A JSON list, or an object with one, of texts or of objects with a `content` or a `text`. */
export const jsonList: Format = {
  name: "a list in JSON",
  origin: "json",
  recognises: (head) =>
    /^\s*\[\s*"/.test(head) || (/^\s*[[{]/.test(head) && /"(content|text)"\s*:\s*"/.test(head)),
  read: (source) =>
    readEntries(source, function* (entry, at): Iterable<Found> {
      if (typeof entry === "string") yield { at, memory: { content: entry } };
      else yield* readMemory(entry, at);
    }),
};
