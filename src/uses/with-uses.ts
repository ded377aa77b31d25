import type { Reach } from "../keys/reach.ts";
import type { Memories } from "../memories/rules/memories.ts";
import type { Uses } from "./uses.ts";

type Recorder = Pick<Uses, "record">;

/** The accounts in which a caller's memories may be. */
function placesOf({ accountId, spaces = [] }: Reach): string[] {
  return [accountId, ...spaces.map(({ id }) => id)];
}

/** Wraps the memories so that changing and superseding a memory counts as a use of it. */
export function withChangesCounted(memories: Memories, uses: Recorder): Memories {
  return {
    ...memories,

    async save(reach, input, saving) {
      const saved = await memories.save(reach, input, saving);
      const { supersedes } = saved.memory;
      if (saved.isNew && supersedes) uses.record("changed", [reach.accountId], [supersedes]);
      return saved;
    },

    async saveAll(reach, inputs, saving) {
      const made = await memories.saveAll(reach, inputs, saving);
      const replaced = made.flatMap(({ supersedes }) => supersedes ?? []);
      uses.record("changed", [reach.accountId], replaced);
      return made;
    },

    async update(reach, id, ...rest) {
      const memory = await memories.update(reach, id, ...rest);
      uses.record("changed", [reach.accountId], [id]);
      return memory;
    },
  };
}

/** Wraps the memories so that what a search finds and what is opened by its id are counted. Searches while typing are not. */
export function withFindsCounted(memories: Memories, uses: Recorder): Memories {
  return {
    ...memories,

    async search(reach, request) {
      const answer = await memories.search(reach, request);
      if (!request.isTyped) {
        const ids = answer.memories.map(({ id }) => id);
        uses.record("found", placesOf(reach), ids);
      }
      return answer;
    },

    async get(reach, id) {
      const memory = await memories.get(reach, id);
      uses.record("opened", placesOf(reach), [id]);
      return memory;
    },
  };
}

/** Makes a function that counts what is recalled. */
export function countRecalled(uses: Recorder) {
  return (reach: Reach, ids: readonly string[]): void =>
    uses.record("recalled", placesOf(reach), ids);
}
