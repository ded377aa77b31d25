import { CsvError, parse } from "csv-parse";
import { createPause } from "../../timing/pause.ts";
import { inSlices, locationIn, SourceError } from "../files/source.ts";
import type { Format, FoundEntry, SourceMemory } from "./format.ts";

const MAX_ROW_BYTES = 1 << 20;
const SLICE_BYTES = 1 << 16;
/** As many as spreadsheets have. */
const MAX_COLUMNS = 16_384;

/** From this many characters on, an id counts as globally unique. */
const MIN_UNIQUE_ID = 16;

type Field = Exclude<keyof SourceMemory, "metadata">;

/** Names of the columns for each field of a memory, in lower case, letters and digits only. */
const COLUMN_NAMES: readonly [Field, readonly string[]][] = [
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
 * A table in CSV (RFC 4180), also separated by semicolons or tabs: each row is a memory. Without a
 * known column for the text, the memory consists of all cells, each after its column's name.
 */
export const csv: Format = {
  name: "a table in CSV",
  origin: "csv",
  recognises: (head, name) => /\.(csv|tsv)$/i.test(name) || isTable(head),
  async *read(source) {
    let fields: ReadonlyMap<string, Field> = new Map();
    // Collected here, because the parser's own queue is lost where the table is damaged.
    let rows: Row[] = [];
    let damage: Error | null = null;
    const parser = parse({
      delimiter: delimiterOf(source.head),
      columns(names: string[]) {
        if (names.length > MAX_COLUMNS) {
          throw new SourceError(source.name, `has more than ${MAX_COLUMNS} columns`);
        }
        const columns = names.map((name, at) => name.trim() || `column ${at + 1}`);
        fields = fieldsOf(columns);
        return columns;
      },
      on_record(record: Record<string, string>, { lines }) {
        rows.push({ record, lines });
        return null;
      },
      trim: true,
      relax_quotes: true,
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: MAX_ROW_BYTES,
    });
    parser.on("error", (error) => {
      damage = error;
    });
    parser.resume();
    const pause = createPause();
    let line = 1;
    const takeRows = function* (): Generator<FoundEntry> {
      for (const { record, lines } of rows) {
        const at = locationIn(source, `line ${line + 1}`);
        line = lines;
        const memory = toMemory(record, fields);
        yield memory === null ? { at, leftOut: "rows without a text" } : { at, memory };
      }
      rows = [];
    };
    for await (const bytes of inSlices(source.bytes, SLICE_BYTES)) {
      await pause();
      await new Promise<unknown>((resolve) => parser.write(bytes, resolve));
      yield* takeRows();
      if (damage !== null) break;
    }
    if (damage === null) {
      await new Promise<void>((resolve) => parser.once("close", resolve).end());
      yield* takeRows();
    }
    if (damage === null) return;
    if (!((damage as Error) instanceof CsvError)) throw damage;
    if (line === 1) throw new SourceError(source.name, "is a damaged table", { cause: damage });
    const at = locationIn(source, `line ${line + 1}`);
    yield { at, problem: "is damaged: the rest was not read" };
  },
};

interface Row {
  record: Record<string, string>;
  lines: number;
}

function toMemory(
  row: Record<string, string>,
  fields: ReadonlyMap<string, Field>,
): SourceMemory | null {
  const cells = Object.entries(row).filter(([, cell]) => cell !== "");
  const values = new Map(
    cells.flatMap(([name, cell]) => {
      const field = fields.get(name);
      return field === undefined ? [] : [[field, cell]];
    }),
  );
  const times = { createdAt: values.get("createdAt"), updatedAt: values.get("updatedAt") };
  if (![...fields.values()].includes("content")) {
    const text = cells.map(([name, cell]) => `${name}: ${cell}`).join("; ");
    return { content: text, ...times };
  }
  const content = values.get("content");
  if (content === undefined) return null;
  // Row numbers as ids would be the same in every table.
  const id = values.get("key") ?? "";
  return {
    content,
    subject: values.get("subject") ?? null,
    key: id.length < MIN_UNIQUE_ID ? undefined : id,
    tags: values.get("tags")?.split(/[,;|]/),
    agent: values.get("agent"),
    session: values.get("session"),
    project: values.get("project"),
    importance: Number(values.get("importance") ?? Number.NaN),
    metadata: Object.fromEntries(cells.filter(([name]) => !fields.has(name))),
    expiresAt: values.get("expiresAt"),
    ...times,
  };
}

/** The field of each known column. Of several columns for a field, the first name in the list wins. */
function fieldsOf(columns: readonly string[]): Map<string, Field> {
  const plain = columns.map((column) => column.toLowerCase().replace(/[^\p{L}\p{N}]/gu, ""));
  const fields = new Map<string, Field>();
  for (const [field, names] of COLUMN_NAMES) {
    const index = names.map((name) => plain.indexOf(name)).find((at) => at >= 0) ?? -1;
    const column = columns[index];
    if (column !== undefined) fields.set(column, field);
  }
  return fields;
}

const DELIMITERS = [",", ";", "\t"];

function delimiterOf(head: string): string {
  const [first = ""] = head.split("\n", 1);
  const counts = DELIMITERS.map((delimiter) => cellsOf(first, delimiter).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ",";
}

/** Splits a header line into cells. An approximation: column names contain no line breaks. */
function cellsOf(line: string, delimiter: string): string[] {
  return line
    .replace(/"[^"]*"/g, (quoted) => quoted.slice(1, -1).replaceAll(delimiter, " "))
    .split(delimiter);
}

/** Whether a text begins with the names of known columns. */
function isTable(head: string): boolean {
  const [first = ""] = head.split("\n", 1);
  const names = cellsOf(first.trim(), delimiterOf(head));
  const fields = [...fieldsOf(names.map((name) => name.trim())).values()];
  return fields.includes("content") && fields.length > 1;
}
