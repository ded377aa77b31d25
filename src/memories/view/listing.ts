import { firstInOrder } from "../indexes/first-in-order.ts";
import type { Filter, PageStart } from "../model/filter.ts";
import type { Columns } from "./columns.ts";
import type { View } from "./view.ts";

/** The parts of a view that list and count memories by a filter. */
export function createListing(columns: Columns): Pick<View, "list" | "count" | "select"> {
  /** Newest first; equals by the larger id. */
  const byAge = (a: number, b: number) =>
    columns.createdAt(b) - columns.createdAt(a) || (columns.id(a) < columns.id(b) ? 1 : -1);

  const isBehind = ({ createdAt, id }: PageStart, slot: number) => {
    const time = columns.createdAt(slot);
    return time < createdAt || (time === createdAt && columns.id(slot) < id);
  };

  const isOnPage = (from: PageStart, slot: number) =>
    from.isBackward ? !isBehind(from, slot) && columns.id(slot) !== from.id : isBehind(from, slot);

  const passing = (filter: Filter) => {
    const accepts = columns.accepts(filter);
    return (slot: number) => columns.has(slot) && (accepts === null || accepts(slot));
  };

  return {
    list(filter, from, limit) {
      const passes = passing(filter);
      const isListed = (slot: number) => passes(slot) && (from === null || isOnPage(from, slot));
      if (!from?.isBackward) {
        return firstInOrder(columns.end, isListed, byAge, limit).map(columns.id);
      }
      const oldestFirst = (a: number, b: number) => byAge(b, a);
      return firstInOrder(columns.end, isListed, oldestFirst, limit).map(columns.id).reverse();
    },

    count(filter) {
      const passes = passing(filter);
      let count = 0;
      for (let slot = 0; slot < columns.end; slot++) if (passes(slot)) count++;
      return count;
    },

    select(filter) {
      const passes = passing(filter);
      const ids: string[] = [];
      for (let slot = 0; slot < columns.end; slot++) if (passes(slot)) ids.push(columns.id(slot));
      return ids;
    },
  };
}
