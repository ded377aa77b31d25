/** The kind of a file in a folder or an archive, by its name. */
export type Kind = "note" | "data" | "other";

const NOTE = /\.(md|markdown|txt)$/i;
const DATA = /\.(jsonl?|ndjson|csv|tsv|af|pdf|zip|zst)$/i;

/** Files of the kind `other` are not opened: chat exports contain thousands of images. */
export function kindOf(name: string): Kind {
  return NOTE.test(name) ? "note" : DATA.test(name) ? "data" : "other";
}

/** Sorts by name, with the files first that contain the names of projects. */
export function compareReadingOrder(a: { name: string }, b: { name: string }): number {
  return Number(hasProjects(b.name)) - Number(hasProjects(a.name)) || (a.name < b.name ? -1 : 1);
}

function hasProjects(name: string): boolean {
  return /(^|[/ ])projects(\.json$|\/)/.test(name);
}

/** The name of a file without its folders and its extension. */
export function stemOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1).replace(/\.\w+$/, "");
}
