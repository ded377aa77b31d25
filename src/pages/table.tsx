/** @jsxRuntime automatic @jsxImportSource #pages */
import { type Child, Fragment } from "./jsx-runtime.ts";

export interface Column<Row> {
  title: string;
  cell: (row: Row) => Child;
  isNumber?: boolean;
}

/** A table. The first cell of a row is its header for screen readers. On narrow screens every row becomes a card. */
export function Table<Row>({
  caption,
  columns: all,
  rows,
  actions,
}: {
  /** Describes the table for screen readers; not shown. */
  caption: string;
  /** `false` for a column that is left out. */
  columns: readonly (Column<Row> | false)[];
  rows: readonly Row[];
  /** The buttons of a row, in a last column. */
  actions?: (row: Row) => Child;
}) {
  const columns = all.filter((column) => column !== false);
  return (
    <table>
      <caption class="hidden-text">{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ title, isNumber }) => (
            <th scope="col" class={isNumber ? "number" : undefined}>
              {title}
            </th>
          ))}
          {actions && (
            <th scope="col">
              <span class="hidden-text">Actions</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr>
            {columns.map(({ title, cell, isNumber }, place) =>
              place === 0 ? (
                <th scope="row" data-label={title}>
                  {cell(row)}
                </th>
              ) : (
                <td data-label={title} class={isNumber ? "number" : undefined}>
                  {cell(row)}
                </td>
              ),
            )}
            {actions && <td class="end">{actions(row)}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Links to the previous and next page of a list. */
export function Pager({
  label,
  previous,
  next,
}: {
  /** Describes the links for screen readers. */
  label: string;
  previous?: string | null;
  next?: string | null;
}) {
  if (!previous && !next) return Fragment({});
  return (
    <nav class="pager" aria-label={label}>
      {previous && (
        <a class="button plain" href={previous} rel="prev">
          Previous
        </a>
      )}
      {next && (
        <a class="button plain" href={next} rel="next">
          Next
        </a>
      )}
    </nav>
  );
}

/** Rows per page. With more, a page would be larger than 50 KB. */
const ROWS = 33;

/**
 * The page of a list that the address asks for with `page`, counted from 1. The default is the first. The paths are
 * those of the pages before and after; null if there is none.
 */
export function listPage<T>(list: readonly T[], path: string, { searchParams }: URL) {
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
