/** Rows per page. With more, a page would be larger than 50 KB. */
const ROWS = 34;

/** One page of a list, with the paths of the pages before and after; null if there is none. */
export interface ListPage<T> {
  readonly items: readonly T[];
  readonly previous: string | null;
  readonly next: string | null;
}

/** The page of a list that the address asks for with `page`, counted from 1. The default is the first. */
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
