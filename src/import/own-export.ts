import { ImportedMemory } from "../memories/model/memory.ts";
import type { Format } from "./format.ts";
import { objectsOf } from "./json-objects.ts";
import { placeIn, readTextLines } from "./source.ts";

/** Bytes of a line, the limit of `POST /api/memories/import`. */
const MAX_LINE_BYTES = 1 << 20;

const FIELDS = new Set(Object.keys(ImportedMemory.properties));

/** The output of `ctxd export` and `GET /api/memories/export`. The server checks the lines. */
export const ownExport: Format = {
  name: "an export of ctxd",
  origin: "ctxd",
  recognises: (head) =>
    objectsOf(head).some(
      (value) =>
        typeof value.content === "string" && Object.keys(value).every((key) => FIELDS.has(key)),
    ),
  async *read(source) {
    for await (const line of readTextLines(source, MAX_LINE_BYTES)) {
      const at = placeIn(source, `line ${line.number}`);
      if ("problem" in line) yield { at, problem: line.problem };
      else if (line.text.trim() !== "") yield { at, line: line.text };
    }
  },
};
