import type { Client } from "../client.ts";
import { CtxdError } from "../error.ts";
import type { Memory, SavedMemory } from "../types.ts";

/** What a memory under a name says. */
export interface NamedContent {
  content: string;
  metadata: { [field: string]: unknown };
}

/** Memories with unique names. A name is a tag that no other memory has. */
export interface NamedMemories {
  find(name: string): Promise<Memory | null>;
  /** Memories with one of these names, or in one of these groups, newest first. */
  list(names: readonly string[]): AsyncGenerator<Memory, void>;
  /** The best matches in a group, at most 100. Only 2,000 characters of the question count. */
  search(group: string, question: string, limit: number): Promise<Memory[]>;
  /** @param groups the groups of the memory, at most 31 */
  create(name: string, groups: readonly string[], content: NamedContent): Promise<void>;
  /**
   * Changes a memory and its name.
   * @throws CtxdError `precondition_failed` if it has changed since `memory` was read with `get`
   */
  change(
    memory: Memory,
    name: string,
    groups: readonly string[],
    content: NamedContent,
  ): Promise<void>;
  /** Creates or changes the memory with a name. Of two calls at the same time, the later one wins. */
  put(name: string, groups: readonly string[], content: NamedContent): Promise<void>;
  /**
   * Deletes memories with one of these names, or in one of these groups.
   * @returns the number of deleted memories
   */
  delete(names: readonly string[]): Promise<number>;
}

const MAX_TAG = 64;
const MAX_PAGE = 100;
const MAX_QUESTION = 2_000;

/** Names are unique in the client's project; without a project, in all memories of its key. */
export function createNamedMemories(client: Client): NamedMemories {
  // Memories without a project do not belong to the client's project.
  const scope = client.project === undefined ? {} : { project_only: true };
  const tagged = (tags: readonly string[]) => ({ tags, ...scope });
  const tagsOf = (names: readonly string[]) => Promise.all(names.map(toTag));

  const find = async (name: string): Promise<Memory | null> => {
    const page = await client.listPage({ ...tagged([await toTag(name)]), limit: 1 });
    return page.memories[0] ?? null;
  };

  /** @returns false if another memory has the name, or had it within the last day */
  const createOnce = async (
    name: string,
    tags: readonly string[],
    content: NamedContent,
  ): Promise<boolean> => {
    // A batch, because a single save would return an existing memory with the same text. With the
    // key, programs that create the same name at the same time create one memory.
    const idempotencyKey = await digest(`ctxd name ${client.project ?? ""} ${name}`);
    try {
      const saved = await client.saveAll([{ ...content, tags: [...tags] }], { idempotencyKey });
      const [tag = ""] = tags;
      // The memory may have been renamed since. A key that may not read receives no tags.
      return saved.some((each: Partial<SavedMemory>) => each.tags?.includes(tag) ?? true);
    } catch (error) {
      if (isOneOf(error, "validation_failed", "conflict")) return false;
      throw error;
    }
  };

  const create: NamedMemories["create"] = async (name, groups, content) => {
    const tags = await tagsOf([name, ...groups]);
    if (await createOnce(name, tags, content)) return;
    const found = await find(name);
    if (found) await client.update(found.id, { ...content, tags });
    else await client.saveAll([{ ...content, tags }]);
  };

  return {
    find,

    async *list(names) {
      yield* client.list(tagged(await tagsOf(names)));
    },

    search: async (group, question, limit) =>
      client.search([...question].slice(0, MAX_QUESTION).join(""), {
        ...tagged([await toTag(group)]),
        limit: Math.max(1, Math.min(limit, MAX_PAGE)),
      }),

    create,

    async change(memory, name, groups, content) {
      const tags = await tagsOf([name, ...groups]);
      const ifMatch = client.etag(memory) === null ? undefined : memory;
      await client.update(memory.id, { ...content, tags }, { ifMatch });
    },

    async put(name, groups, content) {
      const found = await find(name);
      if (!found) return create(name, groups, content);
      const tags = await tagsOf([name, ...groups]);
      try {
        await client.update(found.id, { ...content, tags });
      } catch (error) {
        if (!isOneOf(error, "memory_not_found")) throw error;
        await create(name, groups, content);
      }
    },

    delete: async (names) => client.deleteWhere({ tags: await tagsOf(names) }),
  };
}

function isOneOf(error: unknown, ...codes: string[]) {
  return error instanceof CtxdError && codes.includes(error.code);
}

/** A name as a tag. A name that is no valid tag is replaced by its hash. */
async function toTag(name: string): Promise<string> {
  const isTag = [...name].length <= MAX_TAG && name === name.trim() && !/[,\p{C}]/u.test(name);
  return isTag ? name : `#${(await digest(name)).slice(0, MAX_TAG - 1)}`;
}

async function digest(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
