import type { Interned } from "../indexes/interned.ts";
import type { Accepts } from "../indexes/largest.ts";
import { type Filter, wasCaptured } from "../model/filter.ts";
import type { Fields } from "./fields.ts";

type Condition = Exclude<Accepts, null>;

/**
 * A filter as a function of a slot; `null` when all memories pass.
 * @param slotOf the slot of an id
 */
export function filterConditions(
  fields: Fields,
  filter: Filter,
  slotOf: (id: string) => number | undefined,
): Accepts {
  const conditions = [
    ...valueConditions(fields, filter),
    ...tagConditions(fields, filter),
    ...stateConditions(fields, filter),
  ];
  if (filter.except?.length) {
    const excluded = new Set(filter.except.map(slotOf));
    conditions.push((slot) => !excluded.has(slot));
  }
  const [first, ...rest] = conditions;
  if (!first) return null;
  return rest.length === 0 ? first : (slot) => conditions.every((condition) => condition(slot));
}

/** Conditions for single values of a memory: agent, session, project, source, capture and time of creation. */
function* valueConditions(
  { columns, strings, sources, counts }: Fields,
  filter: Filter,
): Generator<Condition> {
  const { agentId, sessionId, projects, sourceId, isCaptured } = filter;
  const { createdAfter, createdBefore } = filter;
  const { agent, session, project, source, createdAt } = columns;
  if (agentId !== undefined) {
    const wanted = strings.find(agentId);
    yield (slot) => agent[slot] === wanted;
  }
  if (sessionId !== undefined) {
    const wanted = strings.find(sessionId);
    yield (slot) => session[slot] === wanted;
  }
  if (projects) {
    const wanted = projects.map(strings.find);
    yield (slot) => wanted.includes(project[slot] ?? 0);
  }
  if (sourceId !== undefined) {
    const isWanted = once(sources, ({ id }) => id === sourceId);
    yield (slot) => isWanted(source[slot] ?? 0);
  }
  if (isCaptured !== undefined && (isCaptured || counts.captured > 0)) {
    const isWanted = once(sources, (source) => wasCaptured({ source }));
    yield (slot) => isWanted(source[slot] ?? 0) === isCaptured;
  }
  if (createdAfter !== undefined) yield (slot) => (createdAt[slot] ?? 0) >= createdAfter;
  if (createdBefore !== undefined) yield (slot) => (createdAt[slot] ?? 0) < createdBefore;
}

function* tagConditions(
  { columns, tagLists }: Fields,
  { tags = [], tagsMatch }: Filter,
): Generator<Condition> {
  if (tags.length === 0) return;
  const lists = columns.tags;
  const has = (own: readonly string[]) => (tag: string) => own.includes(tag);
  const isTagged = once(tagLists, (own) =>
    tagsMatch === "all" ? tags.every(has(own)) : tags.some(has(own)),
  );
  yield (slot) => isTagged(lists[slot] ?? 0);
}

/** Conditions that all memories of most accounts meet. Those accounts are spared the test of each memory. */
function* stateConditions(
  { columns, counts }: Fields,
  { isCurrent, aliveAt }: Filter,
): Generator<Condition> {
  const { supersededBy, expiresAt } = columns;
  if (isCurrent && counts.superseded > 0) yield (slot) => supersededBy[slot] === 0;
  if (aliveAt !== undefined && counts.expiring > 0) {
    // Memories that never expire have NaN here, which is not less than any number.
    yield (slot) => !((expiresAt[slot] ?? 0) <= aliveAt);
  }
}

/** Tests interned values by their numbers: each value once, when it is first met. */
function once<Value>(values: Interned<Value>, passes: (value: Value) => boolean) {
  const results = new Int8Array(values.end);
  return (number: number): boolean => {
    if (results[number] === 0) {
      const value = values.value(number);
      results[number] = value !== null && passes(value) ? 1 : -1;
    }
    return results[number] === 1;
  };
}
