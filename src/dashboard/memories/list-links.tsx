/** @jsxRuntime automatic @jsxImportSource #pages */
import { ButtonLink } from "../../pages/button.tsx";
import { Fragment } from "../../pages/jsx-runtime.ts";
import { type View, viewPath } from "./memories-view.ts";

/** Cursors of the pages before and after; `null` if there is none. */
export interface Cursors {
  nextCursor: string | null;
  previousCursor: string | null;
}

/** The orders of a list, as the address names them. */
const ORDER_LABELS = [
  ["", "Newest first"] as const,
  ["importance", "Most important first"] as const,
  ["most_found", "Most found first"] as const,
  ["never_found", "Never found first"] as const,
];

/** The orders of the list: its own, and links to the others. */
export function Orders({ view }: { view: View }) {
  return (
    <p class="orders">
      {ORDER_LABELS.map(([sort, label]) =>
        sort === view.sort ? (
          <span data-order={sort}>{label}</span>
        ) : (
          <a href={viewPath({ ...view, cursor: "", sort })}>{label}</a>
        ),
      )}
    </p>
  );
}

/** The links to other pages, by the order of the list. */
const PAGER = {
  newest: { first: "Newest", before: "Newer", after: "Older" },
  importance: { first: "Most important", before: "More important", after: "Less important" },
  most_found: { first: "Most found", before: "Found more", after: "Found less" },
  never_found: { first: "Never found", before: "Found less", after: "Found more" },
};
const isOrder = (sort: string): sort is keyof typeof PAGER => sort in PAGER;

/** Links to the pages before and after. */
export function CursorLinks({ view, cursors }: { view: View; cursors: Cursors }) {
  const { nextCursor, previousCursor } = cursors;
  if (nextCursor === null && previousCursor === null) return Fragment({});
  const to = (cursor: string) => viewPath({ ...view, cursor });
  const { first, before, after } = PAGER[isOrder(view.sort) ? view.sort : "newest"];
  return (
    <nav class="pager" aria-label="Pages of memories">
      <div class="actions">
        {previousCursor !== null && (
          <>
            <ButtonLink href={to("")}>{first}</ButtonLink>
            <ButtonLink href={to(previousCursor)}>{before}</ButtonLink>
          </>
        )}
      </div>
      {nextCursor !== null && <ButtonLink href={to(nextCursor)}>{after}</ButtonLink>}
    </nav>
  );
}
