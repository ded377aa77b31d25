import { type Accepts, firstInOrder } from "../indexes/largest.ts";
import { createGroups, createSlots } from "../indexes/slots.ts";
import { createTexts } from "../indexes/texts.ts";
import type { Among } from "../indexes/words.ts";
import type { Filter } from "../model/filter.ts";
import { type Expiring, isSameText, type MemoryRow } from "../model/rows.ts";
import { createFields, filterConditions, textHash } from "./fields.ts";

/**
 * Places of a cache, a power of two. Each slot has one place, which it shares with others. Successive searches of an
 * account share most of their rows.
 */
const PLACES = 1 << 13;
/** Characters up to which the row of a text is cached. */
const MAX_CHARACTERS = 2_000;

/** Caches rows by slot. */
export function createRowCache(make: (slot: number) => MemoryRow) {
  let rows: (MemoryRow | undefined)[] = [];
  /** Of each place: the slot whose row is there. */
  let slots: number[] = [];

  const peek = (slot: number): MemoryRow | undefined => {
    const place = slot & (PLACES - 1);
    return slots[place] === slot ? rows[place] : undefined;
  };

  return {
    /** The row of a slot if it is cached. */
    peek,

    get(slot: number): MemoryRow {
      const known = peek(slot);
      if (known) return known;
      const row = make(slot);
      if (row.content.length > MAX_CHARACTERS) return row;
      const place = slot & (PLACES - 1);
      rows[place] = row;
      slots[place] = slot;
      return row;
    },

    remove(slot: number): void {
      if (peek(slot)) rows[slot & (PLACES - 1)] = undefined;
    },

    clear(): void {
      rows = [];
      slots = [];
    },
  };
}

/** Memories with one text that a save compares itself with. Reading 60,000 of them would take 0.1 s. */
const MAX_EQUAL = 1_000;

/** The number of each text of a slot among all texts. */
const idAt = (slot: number) => 3 * slot;
const contentAt = (slot: number) => 3 * slot + 1;
const metadataAt = (slot: number) => 3 * slot + 2;
/** The metadata of most memories. It is not stored. */
const NO_METADATA = "{}";

export type Columns = ReturnType<typeof createColumns>;

/**
 * The memories of a view, one column for each field. So a million memories take little space, and filters are
 * fast. Each memory has a slot, a small whole number. The slot of a removed memory is used again.
 */
export function createColumns() {
  const texts = createTexts();
  const idOf = (slot: number): string => rows.peek(slot)?.id ?? texts.get(idAt(slot));
  const slots = createSlots(idOf);
  const sessions = createGroups();
  const fields = createFields();
  const { columns, strings, counts } = fields;

  const row = (slot: number): MemoryRow =>
    fields.row(slot, {
      id: texts.get(idAt(slot)),
      content: texts.get(contentAt(slot)),
      metadata: texts.get(metadataAt(slot)) || NO_METADATA,
    });
  const rows = createRowCache(row);

  /** Whether the memory in a slot passes a filter, as a function; `null` when all pass. */
  const accepts = (filter: Filter) => filterConditions(fields, filter, slots.find);

  return {
    get size() {
      return slots.size;
    },
    /** All slots are below this number. */
    get end() {
      return slots.end;
    },
    get bytes() {
      return fields.bytes + slots.bytes + texts.bytes + sessions.bytes;
    },
    slotOf: slots.find,
    has: slots.has,
    accepts,

    /** Slots of memories that were saved, not captured, with the same text; at most `MAX_EQUAL` of them. */
    withText(content: string): number[] {
      const wanted = textHash(content);
      const passes = accepts({ isCaptured: false });
      const found: number[] = [];
      const { text } = columns;
      for (let slot = 0; slot < slots.end && found.length < MAX_EQUAL; slot++) {
        if (text[slot] !== wanted || !slots.has(slot) || passes?.(slot) === false) continue;
        if (isSameText(texts.get(contentAt(slot)), content)) found.push(slot);
      }
      return found;
    },

    /** Slots of a session that pass a filter, the last added first. */
    ofSession(sessionId: string, accepts: Accepts, limit: number): number[] {
      const found: number[] = [];
      let slot = sessions.first(strings.find(sessionId));
      for (; slot >= 0 && found.length < limit; slot = sessions.after(slot)) {
        if (accepts === null || accepts(slot)) found.push(slot);
      }
      return found;
    },

    /** Memories that expire, the earliest first. */
    expiring(limit: number): Expiring[] {
      if (counts.expiring === 0) return [];
      const at = (slot: number) => columns.expiresAt[slot] ?? 0;
      const expires = (slot: number) => slots.has(slot) && !Number.isNaN(at(slot));
      const found = firstInOrder(slots.end, expires, (a, b) => at(a) - at(b), limit);
      return found.map((slot) => ({ id: texts.get(idAt(slot)), expiresAt: at(slot) }));
    },

    /** The memories in which the rareness of a word is measured; `undefined` when they are all memories. */
    among({ isCaptured, projects, isBound }: Filter): Among | undefined {
      // Captured memories must not make the words of saved ones less rare.
      const ofSaved = isCaptured === false && counts.captured > 0 ? { isCaptured } : {};
      const ofProjects = isBound && projects ? { projects } : {};
      const has = accepts({ ...ofSaved, ...ofProjects });
      if (has === null) return undefined;
      if (!isBound) return { texts: slots.size - counts.captured, has, isAll: false };
      let texts = 0;
      for (let slot = 0; slot < slots.end; slot++) if (slots.has(slot) && has(slot)) texts++;
      return { texts, has, isAll: true };
    },

    id: idOf,
    content: (slot: number) => texts.get(contentAt(slot)),
    createdAt: (slot: number) => columns.createdAt[slot] ?? 0,
    importance: (slot: number) => columns.importance[slot] ?? 0,

    row,
    /** The same for searches, which read many rows again: the row is cached. */
    cachedRow: rows.get,

    /** Adds a memory whose id is new, and returns its slot: that of the last removed memory, if any is free. */
    add(memory: MemoryRow): number {
      const slot = slots.add(memory.id);
      texts.put(idAt(slot), memory.id);
      texts.put(contentAt(slot), memory.content);
      if (memory.metadata !== NO_METADATA) texts.put(metadataAt(slot), memory.metadata);
      fields.put(slot, memory);
      fields.noteNewer(memory.id, memory.createdAt);
      if (memory.supersededBy !== null) {
        const newer = slots.find(memory.supersededBy);
        const createdAt = newer === undefined ? undefined : columns.createdAt[newer];
        fields.noteNewer(memory.supersededBy, createdAt ?? Number.NaN);
      }
      sessions.add(columns.session[slot] ?? 0, slot);
      return slot;
    },

    remove(slot: number): void {
      fields.noteNewer(idOf(slot), Number.NaN);
      rows.remove(slot);
      sessions.remove(columns.session[slot] ?? 0, slot);
      fields.remove(slot);
      slots.remove(slot);
      for (const number of [idAt(slot), contentAt(slot), metadataAt(slot)]) texts.remove(number);
    },

    close(): void {
      texts.close();
      rows.clear();
    },
  };
}
