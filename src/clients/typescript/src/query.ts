type Value = string | number | boolean | Date | readonly string[] | null | undefined;

/** Parameters as the server reads them. What is undefined, null or an empty list is left out. */
export function toQuery(parameters: { readonly [name: string]: Value }): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined || value === null) continue;
    const text = value instanceof Date ? value.toISOString() : String(value);
    if (text !== "" || typeof value === "string") query.set(name, text);
  }
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}

/**
 * Refuses a filter of what to delete that is wider than it looks: what is undefined or an empty list
 * would be left out.
 * @throws TypeError
 */
export function checkDeletion(filter: { readonly [name: string]: Value }): void {
  const entries = Object.entries(filter);
  if (entries.length === 0) throw new TypeError("Name what to delete: an empty filter means all.");
  for (const [name, value] of entries) {
    const isEmpty = value === undefined || (Array.isArray(value) && value.length === 0);
    if (isEmpty) throw new TypeError(`${name} is empty: leave it out, or more would be deleted.`);
  }
}
