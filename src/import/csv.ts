import { Readable } from "node:stream";
import { CsvError, type Info, parse } from "csv-parse";
import { createPause } from "../pause.ts";
import type { Format, Found, SourceMemory } from "./format.ts";
import { placeIn, SourceError } from "./source.ts";

/** Bytes of a row. */
const MAX_ROW = 1 << 20;

/** Characters of an id that is one of its kind everywhere. */
const UNIQUE = 16;

type Part = Exclude<keyof SourceMemory, "metadata">;

/** What columns are called that have the parts of a memory, in lower case and without signs. */
const PARTS: readonly [Part, readonly string[]][] = [
  [
    "content",
    ["content", "memory", "text", "note", "fact", "body", "message", "value", "description"],
  ],
  ["key", ["id", "uuid", "key"]],
  ["subject", ["title", "subject", "name", "topic"]],
  ["tags", ["tags", "tag", "labels", "label", "categories", "category"]],
  ["agent", ["agentid", "agent"]],
  ["session", ["sessionid", "session", "conversationid", "conversation", "threadid", "runid"]],
  ["project", ["project", "workspace"]],
  ["importance", ["importance"]],
  ["createdAt", ["createdat", "created", "date", "timestamp", "time", "createtime"]],
  ["updatedAt", ["updatedat", "updated", "modified", "modifiedat", "lastmodified"]],
  ["expiresAt", ["expiresat", "expires"]],
];

/**
 * A table in CSV (RFC 4180), also with semicolons or tabs between its cells: a row is a memory. Without a
 * column that is known to have the text, the whole row is it, each cell after its column's name.
 */
export const csv: Format = {
  name: "a table in CSV",
  origin: "csv",
  recognises: (head, name) => /\.(csv|tsv)$/i.test(name) || isTable(head),
  async *read(source) {
    let parts: ReadonlyMap<string, Part> = new Map();
    const parser = parse({
      delimiter: delimiterOf(source.head),
      columns(names: string[]) {
        const columns = names.map((name, at) => name.trim() || `column ${at + 1}`);
        parts = partsOf(columns);
        return columns;
      },
      info: true,
      trim: true,
      relax_quotes: true,
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: MAX_ROW,
    });
    const input = Readable.from(source.bytes);
    input.on("error", (error) => parser.destroy(error));
    input.pipe(parser);
    const turn = createPause();
    let line = 1;
    try {
      for await (const row of parser) {
        await turn();
        const { record, info }: Row = row;
        const at = placeIn(source, `line ${line + 1}`);
        line = info.lines;
        const memory = toMemory(record, parts);
        const found: Found =
          memory === null ? { at, leftOut: "rows without a text" } : { at, memory };
        yield found;
      }
    } catch (cause) {
      if (!(cause instanceof CsvError)) throw cause;
      if (line === 1) throw new SourceError(source.name, "is a damaged table", { cause });
      const at = placeIn(source, `line ${line + 1}`);
      yield { at, problem: "is damaged: the rest was not read" };
    } finally {
      input.destroy();
    }
  },
};

interface Row {
  record: Record<string, string>;
  info: Info;
}

function toMemory(
  row: Record<string, string>,
  parts: ReadonlyMap<string, Part>,
): SourceMemory | null {
  const cells = Object.entries(row).filter(([, cell]) => cell !== "");
  const said = new Map(
    cells.flatMap(([name, cell]) => {
      const part = parts.get(name);
      return part === undefined ? [] : [[part, cell]];
    }),
  );
  const times = { createdAt: said.get("createdAt"), updatedAt: said.get("updatedAt") };
  if (![...parts.values()].includes("content")) {
    const text = cells.map(([name, cell]) => `${name}: ${cell}`).join("; ");
    return { content: text, ...times };
  }
  const content = said.get("content");
  if (content === undefined) return null;
  // Tables that count their rows would take each other's.
  const id = said.get("key") ?? "";
  return {
    content,
    subject: said.get("subject") ?? null,
    key: id.length < UNIQUE ? undefined : id,
    tags: said.get("tags")?.split(/[,;|]/),
    agent: said.get("agent"),
    session: said.get("session"),
    project: said.get("project"),
    importance: Number(said.get("importance") ?? Number.NaN),
    metadata: Object.fromEntries(cells.filter(([name]) => !parts.has(name))),
    expiresAt: said.get("expiresAt"),
    ...times,
  };
}

/** Which column has which part: of several that might, the one whose name says it best. */
function partsOf(columns: readonly string[]): Map<string, Part> {
  const plain = columns.map((column) => column.toLowerCase().replace(/[^\p{L}\p{N}]/gu, ""));
  const parts = new Map<string, Part>();
  for (const [part, names] of PARTS) {
    const place = names.map((name) => plain.indexOf(name)).find((at) => at >= 0) ?? -1;
    const column = columns[place];
    if (column !== undefined) parts.set(column, part);
  }
  return parts;
}

const DELIMITERS = [",", ";", "\t"];

function delimiterOf(head: string): string {
  const [first = ""] = head.split("\n", 1);
  const counts = DELIMITERS.map((delimiter) => cellsOf(first, delimiter).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ",";
}

/** Roughly: names of columns have no line breaks. */
function cellsOf(line: string, delimiter: string): string[] {
  return line
    .replace(/"[^"]*"/g, (quoted) => quoted.slice(1, -1).replaceAll(delimiter, " "))
    .split(delimiter);
}

/** Whether a text that is not called a table begins with names of known columns. */
function isTable(head: string): boolean {
  const [first = ""] = head.split("\n", 1);
  const names = cellsOf(first.trim(), delimiterOf(head));
  const parts = [...partsOf(names.map((name) => name.trim())).values()];
  return parts.includes("content") && parts.length > 1;
}
