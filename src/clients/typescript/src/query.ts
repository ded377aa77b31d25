import { CtxdError } from "./error.ts";

type Value = string | number | boolean | Date | readonly string[] | null | undefined;

/**
 * Parameters as the server reads them. What is undefined, null or an empty list is left out.
 * @throws CtxdError `validation_failed` for what would be read as two tags
 */
export function toQuery(parameters: { readonly [name: string]: Value }): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined || value === null) continue;
    if (Array.isArray(value)) {
      if (value.some((tag: string) => tag.includes(","))) {
        throw new CtxdError("validation_failed", "A tag must have no comma.", {
          details: [{ path: `/${name}`, message: "must have no comma" }],
        });
      }
      if (value.length === 0) continue;
    }
    query.set(name, value instanceof Date ? value.toISOString() : String(value));
  }
  return query.size === 0 ? "" : `?${query}`;
}

/** What is no filter by itself. */
const isOpen = ([name, value]: [string, Value]) =>
  name === "tags_match" || (name === "project_only" && value === false) || value === null;

/**
 * Refuses a filter of what to delete that is wider than it looks: what is undefined or an empty list
 * would be left out.
 * @throws TypeError
 */
export function checkDeletion(filter: { readonly [name: string]: Value }): void {
  const entries = Object.entries(filter);
  for (const [name, value] of entries) {
    const isEmpty = value === undefined || (Array.isArray(value) && value.length === 0);
    if (isEmpty) throw new TypeError(`${name} is empty: leave it out, or more would be deleted.`);
  }
  if (entries.every(isOpen)) throw new TypeError("Name what to delete: this filter means all.");
}
