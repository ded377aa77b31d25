/** Rows of a list at the most: with more, a page would have more than 50 KB. */
const ROWS = 34;

/** A part of a list, with the ways to those around it. */
export interface ListPage<T> {
  readonly items: readonly T[];
  readonly previous: string | null;
  readonly next: string | null;
}

/** The part of a list, shown at `path`, that an address asks for by `page`, counted from 1; the first by default. */
export function listPage<T>(list: readonly T[], path: string, { searchParams }: URL): ListPage<T> {
  const last = Math.max(1, Math.ceil(list.length / ROWS));
  const asked = Number(/^\d{1,6}$/.exec(searchParams.get("page") ?? "")?.[0] ?? 1);
  const page = Math.min(Math.max(1, asked), last);
  const to = (number: number) => (number < 1 || number > last ? null : `${path}?page=${number}`);
  return {
    items: list.slice((page - 1) * ROWS, page * ROWS),
    previous: to(page - 1),
    next: to(page + 1),
  };
}
