/** @jsxRuntime automatic @jsxImportSource #pages */
import { type Child, Fragment, type Markup } from "./jsx-runtime.ts";

export interface Column<Row> {
  title: string;
  cell: (row: Row) => Child;
  /** The cell is the header of its row for screen readers. */
  isHeader?: boolean;
  /** The column contains numbers. */
  isNumber?: boolean;
  /** The column contains buttons. Its title is only read by screen readers. */
  isActions?: boolean;
}

/** A table. On narrow screens every row becomes a card. */
export function Table<Row>({
  caption,
  columns,
  rows,
}: {
  /** Describes the table for screen readers; not shown. */
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
}): Markup {
  return (
    <table>
      <caption class="hidden-text">{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ title, isNumber, isActions }) => (
            <th scope="col" class={isNumber ? "number" : undefined}>
              {isActions ? <span class="hidden-text">{title}</span> : title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr>{columns.map((column) => Cell(column, row))}</tr>
        ))}
      </tbody>
    </table>
  );
}

function Cell<Row>(column: Column<Row>, row: Row): Markup {
  const { title, cell, isHeader, isNumber, isActions } = column;
  const kind = isNumber ? "number" : isActions ? "end" : undefined;
  return isHeader ? (
    <th scope="row" data-label={title}>
      {cell(row)}
    </th>
  ) : (
    <td data-label={isActions ? undefined : title} class={kind}>
      {cell(row)}
    </td>
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
}): Markup {
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
