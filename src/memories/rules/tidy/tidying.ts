import type { Reach } from "../../../keys/reach.ts";
import type { MemoryRow } from "../../model/rows.ts";
import type { OpenTable } from "../../store/pooled-table.ts";
import type { MemoryTable } from "../../table/table.ts";
import { type Parts, toVisibleMemories } from "../visible.ts";
import { createCensus } from "./census.ts";
import {
  createListings,
  decodeTidyCursor,
  encodeTidyCursor,
  groupId,
  groupsHaveChanged,
  type Listing,
  readGroupId,
  type TidySources,
} from "./groups.ts";
import { createProposals } from "./proposals.ts";
import { TIDY_KINDS, type TidyGroup, type TidyKind, type TidyReport } from "./report.ts";

/** What tidying is asked. */
interface Asking {
  sources: TidySources;
  /** Ids of memories that a pending change hides. */
  except?: readonly string[];
}

/** The page of a report. */
interface TidyPage extends Asking {
  kind?: TidyKind | undefined;
  limit: number;
  cursor?: string | undefined;
}

/** Groups of memories that could be tidied; see `createMemories`. */
export function createTidying({
  store,
  clock,
  withSecrets,
  kindsIn,
}: Parts & {
  withSecrets: (reach: Reach) => Promise<string[]>;
  kindsIn: (
    memories: readonly TidyGroup["memories"][number][],
  ) => Promise<ReadonlyMap<string, string>>;
}) {
  const census = createCensus();
  const propose = createProposals({ clock });

  /** @param isExact whether the census must be that of the table as it is */
  const listingsOf = (
    open: OpenTable,
    reach: Reach,
    { sources, except = [] }: Asking,
    isExact = false,
  ) => {
    const censusOf = (table: MemoryTable, now: number) => census(table, now, isExact);
    const asked = { open, reach, now: clock(), sources, except, withSecrets };
    return createListings({ ...asked, census: censusOf });
  };

  const describe = async (
    open: OpenTable,
    reach: Reach,
    kind: TidyKind,
    rows: readonly MemoryRow[],
  ): Promise<TidyGroup> => {
    const memories = await toVisibleMemories(open.table, reach, rows);
    const proposed = await propose(open, kind, rows);
    const secrets = kind === "secrets" ? [...(await kindsIn(memories)).values()].join(", ") : "";
    if (secrets) proposed.reason = `It contains what looks like a secret: ${secrets}.`;
    return { id: groupId(kind, rows), kind, memories, ...proposed };
  };

  /** The share of memories that have been compared. */
  const comparedOf = async ({ table, likenesses }: OpenTable): Promise<number | null> => {
    const state = await likenesses.state();
    if (!state) return null;
    const { comparedTo, parcel } = state;
    const all = table.usage.memories;
    if (all === 0 || (comparedTo === null && !parcel)) return 1;
    const isLater = comparedTo ? await table.count({ createdAfter: comparedTo.createdAt }) : 0;
    const done = comparedTo === null ? all - (parcel?.ids.length ?? 0) : isLater;
    return Math.max(0, Math.min(0.99, done / all));
  };

  /** A page of groups of the given kinds, in this order. */
  const pageOf = async (
    { open, reach }: { open: OpenTable; reach: Reach },
    listings: ReadonlyMap<TidyKind, Listing>,
    { limit, cursor }: Pick<TidyPage, "limit" | "cursor">,
  ): Promise<Pick<TidyReport, "groups" | "next_cursor">> => {
    const start = cursor === undefined ? null : decodeTidyCursor(cursor);
    const kinds = [...listings.keys()];
    const found: { kind: TidyKind; rows: MemoryRow[] }[] = [];
    for (const kind of start ? kinds.slice(kinds.indexOf(start.kind)) : kinds) {
      const from = kind === start?.kind ? start.from : null;
      // One more than asked for tells whether there is another page.
      const page = await listings.get(kind)?.page(from, limit + 1 - found.length);
      found.push(...(page ?? []).map((rows) => ({ kind, rows })));
      if (found.length > limit) break;
    }
    const shown = found.slice(0, limit);
    const groups: TidyGroup[] = [];
    for (const { kind, rows } of shown) groups.push(await describe(open, reach, kind, rows));
    const last = shown.at(-1);
    const isMore = found.length > limit && last?.rows[0];
    return { groups, next_cursor: isMore ? encodeTidyCursor(last.kind, isMore) : null };
  };

  return {
    /** How many groups of memories say the same, and how many change earlier ones. */
    likenessCounts: (reach: Reach, asking: Asking) =>
      store.use(reach.accountId, async (open) => {
        const { restatements, contradictions } = listingsOf(open, reach, asking);
        const [same, changed] = await Promise.all([restatements(), contradictions()]);
        return { restatements: await same.count(), contradictions: await changed.count() };
      }),

    /** What there is to tidy: how much of each kind, and a page of groups. */
    tidyReport: (reach: Reach, { kind, limit, cursor, ...asking }: TidyPage): Promise<TidyReport> =>
      store.use(reach.accountId, async (open) => {
        const listings = listingsOf(open, reach, asking);
        const counts: [TidyKind, number | null][] = [];
        const wanted = new Map<TidyKind, Listing>();
        for (const each of TIDY_KINDS) {
          const listing = await listings[each]();
          const count = await listing.count();
          counts.push([each, count]);
          // Without a kind, a page does not wait for the search for secrets.
          if (kind === undefined ? count !== null : kind === each) wanted.set(each, listing);
        }
        const kinds = Object.fromEntries(counts) as TidyReport["kinds"];
        const page = await pageOf({ open, reach }, wanted, { limit, cursor });
        return { kinds, compared: await comparedOf(open), ...page };
      }),

    /**
     * Groups by their ids, as they are now.
     * @throws AppError `conflict` if one of them has changed or has gone
     */
    tidyGroups: (reach: Reach, ids: readonly string[], asking: Asking): Promise<TidyGroup[]> =>
      store.use(reach.accountId, async (open) => {
        const listings = listingsOf(open, reach, asking, true);
        const opened = new Map<TidyKind, Awaited<ReturnType<(typeof listings)[TidyKind]>>>();
        const groups: TidyGroup[] = [];
        for (const id of ids) {
          const { kind, first } = readGroupId(id);
          const listing = opened.get(kind) ?? (await listings[kind]());
          opened.set(kind, listing);
          const rows = await listing.find(first);
          if (!rows || groupId(kind, rows) !== id) throw groupsHaveChanged();
          groups.push(await describe(open, reach, kind, rows));
        }
        return groups;
      }),
  };
}
