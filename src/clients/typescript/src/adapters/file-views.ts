/** A file below the folder that is shown. */
interface Entry {
  /** Path relative to the folder, such as `work/plan.md`. */
  path: string;
  text: string;
}

const NUMBER_WIDTH = 6;
const DEPTH = 2;

/**
 * A file with line numbers, in the format of the Claude API's memory tool.
 * @param range the first and the last line; -1 means the end
 */
export function showFile(path: string, text: string, range?: readonly number[]): string {
  const lines = text.split("\n");
  const [first = 1, last = -1] = range?.length === 2 ? range : [];
  const shown = showLines(lines, first, last === -1 ? lines.length : last);
  return `Here's the content of ${path} with line numbers:\n${shown}`;
}

/** The lines from `first` to `last`, counted from 1, with their numbers. */
export function showLines(lines: readonly string[], first: number, last: number): string {
  const start = Math.max(1, first);
  const shown = lines.slice(start - 1, Math.max(0, last));
  return shown
    .map((line, place) => `${String(start + place).padStart(NUMBER_WIDTH)}\t${line}`)
    .join("\n");
}

/** The contents of a folder with sizes, two levels deep and without hidden files. */
export function showFolder(path: string, files: readonly Entry[]): string {
  const sizes = new Map<string, number>();
  let total = 0;
  for (const { path: file, text } of files) {
    const bytes = new TextEncoder().encode(text).length;
    total += bytes;
    const names = file.split("/");
    if (names.some((name) => name.startsWith(".") || name === "node_modules")) continue;
    for (let depth = 1; depth <= Math.min(names.length, DEPTH); depth++) {
      const shown = names.slice(0, depth).join("/") + (depth < names.length ? "/" : "");
      sizes.set(shown, (sizes.get(shown) ?? 0) + bytes);
    }
  }
  const header = `Here're the files and directories up to ${DEPTH} levels deep in ${path}, excluding hidden items and node_modules:`;
  const entries = [...sizes].sort(([a], [b]) => compare(a, b));
  const lines = entries.map(([shown, bytes]) => `${showSize(bytes)}\t${path}/${shown}`);
  return [header, `${showSize(total)}\t${path}`, ...lines].join("\n");
}

/** Sorts each folder before its contents. */
function compare(a: string, b: string): number {
  const [first = [], second = []] = [a, b].map((path) => path.replace(/\/$/, "").split("/"));
  for (const [place, name] of first.entries()) {
    const other = second[place];
    if (other === undefined) return 1;
    if (name !== other) return name < other ? -1 : 1;
  }
  return first.length - second.length;
}

function showSize(bytes: number): string {
  let size = bytes;
  let unit = "B";
  for (const next of ["K", "M", "G"]) {
    if (size < 1024) break;
    [size, unit] = [size / 1024, next];
  }
  return (Number.isInteger(size) ? String(size) : size.toFixed(1)) + unit;
}
