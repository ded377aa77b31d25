import { betaMemoryTool, type MemoryToolHandlers } from "@anthropic-ai/sdk/helpers/beta/memory";
import type { BetaRunnableTool } from "@anthropic-ai/sdk/lib/tools/BetaRunnableTool";
import type {
  BetaMemoryTool20250818,
  BetaMemoryTool20250818Command,
} from "@anthropic-ai/sdk/resources/beta";
import type { Client } from "../client.ts";
import type { Memory } from "../types.ts";
import { showFile, showFolder, showLines } from "./file-views.ts";
import { createNamedMemories, type NamedContent, type NamedMemories } from "./named.ts";

/** The field `metadata.memory_tool` of a memory. `blank` is the text of a blank file: memories can't be blank. */
interface Kept {
  path: string;
  blank?: string;
}

const ROOT = "/memories";
const EMPTY = "(an empty file)";

/**
 * The memory tool of the Claude API: each file that Claude writes is a memory, which can be found by its
 * path, by meaning and in the dashboard. A file has at most 32,768 characters.
 * @param extra further properties of the tool, such as `cache_control`
 */
export function memoryTool(
  client: Client,
  extra?: Omit<BetaMemoryTool20250818, "type" | "name">,
): BetaRunnableTool<BetaMemoryTool20250818Command> {
  return betaMemoryTool(createHandlers(client), extra);
}

/** The six commands of the tool. They throw errors whose messages are for Claude. */
export function createHandlers(client: Client): MemoryToolHandlers {
  const files = createNamedMemories(client);

  /** Changes the text of a file. Fails if another program has changed it in the meantime. */
  const edit = async (path: string, change: (text: string) => string): Promise<string> => {
    const found = await files.find(path);
    if (!found) throw new Error(await describeMissing(files, path));
    const file = await client.get(found.id);
    const text = change(textOf(file));
    await files.change(file, path, foldersOf(path), toContent(path, text));
    return text;
  };

  return {
    async view({ path: given, view_range }) {
      const path = parsePath(given);
      const file = await files.find(path);
      if (file) return showFile(path, textOf(file), view_range);
      const inside = await collect(files.list([`${path}/`]));
      if (inside.length === 0 && path !== ROOT) throw new Error(await describeMissing(files, path));
      const entries = inside.map((each) => ({
        path: pathOf(each).slice(path.length + 1),
        text: textOf(each),
      }));
      return showFolder(path, entries);
    },

    async create({ path: given, file_text }) {
      const path = parsePath(given);
      await checkFree(files, path, `File ${path} already exists`);
      await files.create(path, foldersOf(path), toContent(path, file_text));
      return `File created successfully at: ${path}`;
    },

    async str_replace({ path: given, old_str, new_str = "" }) {
      const path = parsePath(given);
      let line = 1;
      const text = await edit(path, (before) => {
        line = lineOf(before, old_str, path);
        return before.replace(old_str, () => new_str);
      });
      const snippet = showLines(text.split("\n"), line - 2, line + 2);
      return `The memory file has been edited. Here is the snippet showing the change (with line numbers):\n${snippet}`;
    },

    async insert({ path: given, insert_line, insert_text }) {
      const path = parsePath(given);
      await edit(path, (before) => {
        const lines = before.split("\n");
        if (insert_line < 0 || insert_line > lines.length) {
          const range = `It should be within the range of lines of the file: [0, ${lines.length}]`;
          throw new Error(`Invalid \`insert_line\` parameter: ${insert_line}. ${range}`);
        }
        return lines.toSpliced(insert_line, 0, insert_text.replace(/\n$/, "")).join("\n");
      });
      return `The file ${path} has been edited.`;
    },

    async delete({ path: given }) {
      const path = parsePath(given);
      if (path === ROOT) throw new Error("Cannot delete the /memories directory itself");
      const deleted = await files.delete([path, `${path}/`]);
      if (deleted === 0) throw new Error(`The path ${path} does not exist`);
      return `Successfully deleted ${path}`;
    },

    async rename({ old_path, new_path }) {
      const [from, to] = [parsePath(old_path), parsePath(new_path)];
      if (from === ROOT) throw new Error("Cannot rename the /memories directory itself");
      await checkFree(files, to, `The destination ${to} already exists`);
      const found = await collect(files.list([from, `${from}/`]));
      if (found.length === 0) throw new Error(`The path ${from} does not exist`);
      if (to.startsWith(`${from}/`)) throw new Error(`The destination ${to} is within ${from}`);
      for (const file of found) {
        const path = to + pathOf(file).slice(from.length);
        await files.change(file, path, foldersOf(path), toContent(path, textOf(file)));
      }
      return `Successfully renamed ${from} to ${to}`;
    },
  };
}

/** @throws Error for a path that is not below `/memories` */
function parsePath(path: string): string {
  const names: string[] = [];
  for (const name of path.split("/")) {
    if (name === "..") names.pop();
    else if (name !== "" && name !== ".") names.push(name);
  }
  const parsed = `/${names.join("/")}`;
  if (!path.startsWith(ROOT)) throw new Error(`Path must start with ${ROOT}, got: ${path}`);
  if (`${parsed}/`.startsWith(`${ROOT}/`)) return parsed;
  throw new Error(`Path ${path} would escape ${ROOT} directory`);
}

/** The folders above a file, as names of groups: `/memories/`, `/memories/work/`. */
function foldersOf(path: string): string[] {
  const names = path.split("/").slice(1, -1);
  return names.map((_, depth) => `/${names.slice(0, depth + 1).join("/")}/`);
}

async function describeMissing(files: NamedMemories, path: string): Promise<string> {
  for await (const _ of files.list([`${path}/`])) return `The path ${path} is not a file.`;
  return `The path ${path} does not exist. Please provide a valid path.`;
}

/** @throws Error when a path is taken or lies below a file */
async function checkFree(files: NamedMemories, path: string, taken: string): Promise<void> {
  if (path === ROOT) throw new Error(taken);
  for await (const _ of files.list([path, `${path}/`])) throw new Error(taken);
  const above = foldersOf(path).map((folder) => folder.slice(0, -1));
  for await (const file of files.list(above)) throw new Error(`${pathOf(file)} is not a directory`);
}

function toContent(path: string, text: string): NamedContent {
  const isBlank = text.trim() === "";
  const kept: Kept = isBlank ? { path, blank: text } : { path };
  return { content: isBlank ? EMPTY : text, metadata: { memory_tool: kept } };
}

function keptOf({ metadata }: Memory): Partial<Kept> {
  return (metadata.memory_tool ?? {}) as Partial<Kept>;
}

function pathOf(file: Memory): string {
  return keptOf(file).path ?? "";
}

function textOf(file: Memory): string {
  // A user may have given a blank file a text in the dashboard.
  return (file.content === EMPTY ? keptOf(file).blank : undefined) ?? file.content;
}

/**
 * The line, counted from 1, on which a text begins that occurs exactly once.
 * @throws Error for a text that does not occur, or occurs several times
 */
function lineOf(text: string, wanted: string, path: string): number {
  const before = wanted === "" ? [] : text.split(wanted).slice(0, -1);
  let line = 1;
  const lines = before.map((part, place) => {
    line += part.split("\n").length - 1 + (place > 0 ? wanted.split("\n").length - 1 : 0);
    return line;
  });
  const [only] = lines;
  if (only !== undefined && lines.length === 1) return only;
  const problem =
    lines.length === 0
      ? `, old_str \`${wanted}\` did not appear verbatim in ${path}.`
      : `. Multiple occurrences of old_str \`${wanted}\` in lines: ${[...new Set(lines)].join(", ")}. Please ensure it is unique`;
  throw new Error(`No replacement was performed${problem}`);
}

async function collect<Each>(all: AsyncIterable<Each>): Promise<Each[]> {
  const collected: Each[] = [];
  for await (const each of all) collected.push(each);
  return collected;
}
