import type { Client } from "../client.ts";
import { CtxdError } from "../error.ts";
import type { Memory, SavedMemory } from "../types.ts";

/** What a memory under a name says. */
export interface Said {
  content: string;
  metadata: { [field: string]: unknown };
}

/** Memories under names: tags of their own, which no other memory has. */
export interface NamedMemories {
  find(name: string): Promise<Memory | null>;
  /** Those with one of these names, or in one of these groups, the newest first. */
  list(names: readonly string[]): AsyncGenerator<Memory, void>;
  /** The best of a group for a question, of which 2,000 characters count: at most 100. */
  search(group: string, question: string, limit: number): Promise<Memory[]>;
  /** @param groups that it is to be found in: at most 31 */
  create(name: string, groups: readonly string[], said: Said): Promise<void>;
  /**
   * Changes what is under a name, or gives it another one.
   * @throws CtxdError `precondition_failed` if it is not as `memory` was read with `get` any more
   */
  change(memory: Memory, name: string, groups: readonly string[], said: Said): Promise<void>;
  /** Creates it, or changes the one that is there. Of two at once, the later one holds. */
  put(name: string, groups: readonly string[], said: Said): Promise<void>;
  /**
   * Deletes those with one of these names, or in one of these groups.
   * @returns how many there were
   */
  delete(names: readonly string[]): Promise<number>;
}

const LONGEST_TAG = 64;
const LARGEST_PAGE = 100;
const LONGEST_QUESTION = 2_000;

/** Keeps names in a client's project; without one, in all that its key reaches. */
export function createNamedMemories(client: Client): NamedMemories {
  // What belongs to no project is of no project's program.
  const scope = client.project === undefined ? {} : { project_only: true };
  const tagged = (tags: readonly string[]) => ({ tags, ...scope });
  const tagsOf = (names: readonly string[]) => Promise.all(names.map(toTag));

  const find = async (name: string): Promise<Memory | null> => {
    const page = await client.listPage({ ...tagged([await toTag(name)]), limit: 1 });
    return page.memories[0] ?? null;
  };

  /** @returns false where another memory has the name already, or had it within a day */
  const createOnce = async (
    name: string,
    tags: readonly string[],
    said: Said,
  ): Promise<boolean> => {
    // A batch, since what says the same as another memory is not saved once more by itself. The key
    // makes one memory of what several programs put under a new name at the same moment.
    const idempotencyKey = await digest(`ctxd name ${client.project ?? ""} ${name}`);
    try {
      const saved = await client.saveAll([{ ...said, tags: [...tags] }], { idempotencyKey });
      const [tag = ""] = tags;
      // It may have been renamed since. Who may not read is told no tags.
      return saved.some((each: Partial<SavedMemory>) => each.tags?.includes(tag) ?? true);
    } catch (error) {
      if (isOneOf(error, "validation_failed", "conflict")) return false;
      throw error;
    }
  };

  const create: NamedMemories["create"] = async (name, groups, said) => {
    const tags = await tagsOf([name, ...groups]);
    if (await createOnce(name, tags, said)) return;
    const found = await find(name);
    if (found) await client.update(found.id, { ...said, tags });
    else await client.saveAll([{ ...said, tags }]);
  };

  return {
    find,

    async *list(names) {
      yield* client.list(tagged(await tagsOf(names)));
    },

    search: async (group, question, limit) =>
      client.search([...question].slice(0, LONGEST_QUESTION).join(""), {
        ...tagged([await toTag(group)]),
        limit: Math.max(1, Math.min(limit, LARGEST_PAGE)),
      }),

    create,

    async change(memory, name, groups, said) {
      const tags = await tagsOf([name, ...groups]);
      const ifMatch = client.etag(memory) === null ? undefined : memory;
      await client.update(memory.id, { ...said, tags }, { ifMatch });
    },

    async put(name, groups, said) {
      const found = await find(name);
      if (!found) return create(name, groups, said);
      const tags = await tagsOf([name, ...groups]);
      try {
        await client.update(found.id, { ...said, tags });
      } catch (error) {
        if (!isOneOf(error, "memory_not_found")) throw error;
        await create(name, groups, said);
      }
    },

    delete: async (names) => client.deleteWhere({ tags: await tagsOf(names) }),
  };
}

function isOneOf(error: unknown, ...codes: string[]) {
  return error instanceof CtxdError && codes.includes(error.code);
}

/** A name as a tag; one that none can be is replaced by what follows from it. */
async function toTag(name: string): Promise<string> {
  const isTag = [...name].length <= LONGEST_TAG && name === name.trim() && !/[,\p{C}]/u.test(name);
  return isTag ? name : `#${(await digest(name)).slice(0, LONGEST_TAG - 1)}`;
}

async function digest(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
