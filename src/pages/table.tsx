/** @jsxRuntime automatic @jsxImportSource #pages */
import { type Child, Fragment, type Markup } from "./jsx-runtime.ts";

export interface Column<Row> {
  title: string;
  cell: (row: Row) => Child;
  /** The cell names its row for screen readers. */
  isHeader?: boolean;
  /** Numbers, to be compared by their digits. */
  isNumber?: boolean;
  /** What can be done with the row, which needs no title to be seen. */
  isActions?: boolean;
}

/** Rows with the same facts of each. On a narrow screen every row becomes a card. */
export function Table<Row>({
  caption,
  columns,
  rows,
}: {
  /** What the rows are; read out, not shown. */
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

/** The way to the pages before and after this one. */
export function Pager({
  label,
  previous,
  next,
}: {
  /** What is paged through. */
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
