import { CtxdError } from "./error.ts";

type Value = string | number | boolean | Date | readonly string[] | null | undefined;

/**
 * The query string of parameters. Parameters that are undefined, null or empty lists are omitted.
 * @throws CtxdError `validation_failed` for a tag with a comma, which the server would read as two tags
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

/** Whether a parameter does not limit the deletion by itself. */
const isUnlimited = ([name, value]: [string, Value]) =>
  name === "tags_match" ||
  name === "space" ||
  (name === "project_only" && value === false) ||
  value === null;

/**
 * Checks the filter of a deletion. Fields that are undefined or empty lists would be omitted, and more
 * memories deleted than intended.
 * @throws TypeError for an empty filter, or one with an empty field
 */
export function checkDeletion(filter: { readonly [name: string]: Value }): void {
  const entries = Object.entries(filter);
  for (const [name, value] of entries) {
    const isEmpty = value === undefined || (Array.isArray(value) && value.length === 0);
    if (isEmpty)
      throw new TypeError(`${name} is empty and would be ignored. Omit it or give it a value.`);
  }
  if (entries.every(isUnlimited)) {
    throw new TypeError("This filter matches all memories. Say what to delete.");
  }
}
