import { firstInOrder, namesByValue } from "../indexes/largest.ts";
import type { Filter, Order, PageStart } from "../model/filter.ts";
import type { Columns } from "./columns.ts";

/** The parts of a view that list and count memories by a filter. */
export function createListing(columns: Columns) {
  /** Newest first; equals by the larger id. */
  const byAge = (a: number, b: number) =>
    columns.createdAt(b) - columns.createdAt(a) || (columns.id(a) < columns.id(b) ? 1 : -1);

  const byImportance = (a: number, b: number) =>
    columns.importance(b) - columns.importance(a) || byAge(a, b);

  const isBehind = ({ createdAt, id, importance }: PageStart, slot: number, order: Order) => {
    const own = columns.importance(slot);
    if (order === "importance" && own !== importance) return own < (importance ?? 0);
    const time = columns.createdAt(slot);
    return time < createdAt || (time === createdAt && columns.id(slot) < id);
  };

  const isOnPage = (from: PageStart, slot: number, order: Order) =>
    from.isBackward
      ? !isBehind(from, slot, order) && columns.id(slot) !== from.id
      : isBehind(from, slot, order);

  const passing = (filter: Filter) => {
    const accepts = columns.accepts(filter);
    return (slot: number) => columns.has(slot) && (accepts === null || accepts(slot));
  };

  const slotsOf = (filter: Filter, limit = Number.POSITIVE_INFINITY): number[] => {
    const passes = passing(filter);
    const slots: number[] = [];
    for (let slot = 0; slot < columns.end && slots.length < limit; slot++) {
      if (passes(slot)) slots.push(slot);
    }
    return slots;
  };

  return {
    /** Ids from a place in an order, and equals by the larger id. */
    list(
      filter: Filter,
      from: PageStart | null,
      limit?: number,
      order: Order = "newest",
    ): string[] {
      if (from === null && limit === undefined && order === "newest") {
        return namesByValue(slotsOf(filter), columns.createdAt, columns.id);
      }
      const passes = passing(filter);
      const isListed = (slot: number) =>
        passes(slot) && (from === null || isOnPage(from, slot, order));
      const forward = order === "newest" ? byAge : byImportance;
      const compare = from?.isBackward ? (a: number, b: number) => forward(b, a) : forward;
      const ids = firstInOrder(columns.end, isListed, compare, limit).map(columns.id);
      return from?.isBackward ? ids.reverse() : ids;
    },

    /** How many memories pass a filter. */
    count(filter: Filter): number {
      const passes = passing(filter);
      let count = 0;
      for (let slot = 0; slot < columns.end; slot++) if (passes(slot)) count++;
      return count;
    },

    /** Ids of memories that pass a filter, in no order; all without a limit. */
    select: (filter: Filter, limit?: number) => slotsOf(filter, limit).map(columns.id),
  };
}
