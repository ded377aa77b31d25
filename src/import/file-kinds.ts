/** What a file of a folder or an archive may be, by its name. */
export type Kind = "note" | "data" | "other";

const NOTE = /\.(md|markdown|txt)$/i;
const DATA = /\.(jsonl?|ndjson|csv|tsv|af|pdf|zip|zst)$/i;

/** Images and programs are not opened at all: an export of a chat has thousands of them. */
export function kindOf(name: string): Kind {
  return NOTE.test(name) ? "note" : DATA.test(name) ? "data" : "other";
}

/** Files that say what the ids in the others are called come first. */
export function inReadingOrder(a: { name: string }, b: { name: string }): number {
  return Number(isIndex(b.name)) - Number(isIndex(a.name)) || (a.name < b.name ? -1 : 1);
}

function isIndex(name: string): boolean {
  return /(^|[/ ])projects(\.json$|\/)/.test(name);
}
