/** @jsxRuntime automatic @jsxImportSource #pages */
import { type Reach, requireScope } from "../../keys/reach.ts";
import type { Memory } from "../../memories/model/memory.ts";
import { Choice } from "../../pages/field.tsx";
import { titleOf } from "../../text/excerpt.ts";
import { memoryCount } from "../../text/number-text.ts";
import { withTimeLimit } from "../../timing/time-limit.ts";
import { knownOn, pastDay } from "../memories/as-of.tsx";
import { MEMORY_PATHS, memoryPath, PATHS } from "../navigation.tsx";
import type { Parts } from "../parts.ts";
import { ownSource } from "../session.ts";
import { EditMemoryPage, NewMemoryPage } from "./memory-edit-page.tsx";
import {
  changesOf,
  entriesAfter,
  entriesOf,
  MAX_FORM,
  NOTHING_ENTERED,
  newMemoryOf,
  readEntries,
  secretNotice,
} from "./memory-form.ts";
import { MAX_VERSIONS } from "./memory-history.tsx";
import { type Context, MAX_SESSION_MEMORIES, MAX_SIMILAR, MemoryPage } from "./memory-page.tsx";

/** The page for editing a memory. */
export function addMemoryEditPage({ pages, memories, etags }: Parts): void {
  pages.get(`${PATHS.memories}/:id/edit`, async (visit, id) => {
    requireScope(visit.reach, "memories:write");
    const memory = await memories.get(visit.reach, id);
    const etag = (await etags.maker())(memory);
    const entries = entriesOf(memory);
    return <EditMemoryPage visit={visit} memory={memory} etag={etag} entries={entries} />;
  });
  pages.post(
    `${PATHS.memories}/:id`,
    async ({ account, reach }, form, id) => {
      const present = await memories.get(reach, id);
      const changes = changesOf(readEntries(form), present);
      const etagOf = await etags.maker();
      const isShown = (memory: Memory) => etagOf(memory) === form.get("etag");
      if (changes) {
        const source = ownSource(account);
        await memories.update(reach, id, changes, { source, isExpected: isShown });
      }
      const notice = changes
        ? `The changes are saved.${secretNotice(memories, changes)}`
        : "Nothing has changed.";
      return { to: memoryPath(present.id), notice };
    },
    async (visit, problem, form, id) => {
      const memory = await memories.get(visit.reach, id);
      // The ETag stays the old one, so that sending the form again does not overwrite a change the person has not seen.
      const etag = form.get("etag") ?? "";
      const entries = readEntries(form);
      return (
        <EditMemoryPage
          visit={visit}
          memory={memory}
          etag={etag}
          entries={entries}
          problem={problem}
        />
      );
    },
    MAX_FORM,
  );
}

/** The page for adding a memory. */
export function addNewMemoryPage({ pages, memories }: Parts): void {
  pages.get(MEMORY_PATHS.new, async (visit) => {
    requireScope(visit.reach, "memories:write");
    const { searchParams } = visit.url;
    const replaced = searchParams.get("supersedes");
    const former = replaced ? await memories.get(visit.reach, replaced) : null;
    const project = searchParams.get("project") ?? "";
    const entries = former ? entriesAfter(former) : { ...NOTHING_ENTERED, project };
    return <NewMemoryPage visit={visit} entries={entries} former={former} />;
  });
  pages.post(
    PATHS.memories,
    async ({ account, reach }, form) => {
      const input = newMemoryOf(readEntries(form));
      const { memory, isNew } = await memories.save(reach, input, { source: ownSource(account) });
      const notice = isNew ? "The memory is saved." : "You already have this memory.";
      return { to: memoryPath(memory.id), notice: notice + secretNotice(memories, input) };
    },
    async (visit, problem, form) => {
      const entries = readEntries(form);
      const former = await memories.find(visit.reach, entries.supersedes);
      return <NewMemoryPage visit={visit} entries={entries} former={former} problem={problem} />;
    },
    MAX_FORM,
  );
}

/** Milliseconds that the page waits for similar memories. After a start the server must load the memories first. */
const SIMILAR_TIMEOUT_MS = 1_000;

/** The page of a memory, and its forms. */
export function addMemoryPages({ pages, memories, clock }: Parts): void {
  /** The newest versions; if the memory is not among them, the versions from it on. */
  const historyOf = async (
    reach: Reach,
    memory: Memory,
    day: string,
  ): Promise<Pick<Context, "history" | "current">> => {
    const { id, supersedes, superseded_by } = memory;
    if (supersedes === null && superseded_by === null) return { history: [], current: null };
    const limit = MAX_VERSIONS;
    const read = async (from?: string) =>
      (await memories.history(reach, id, { limit, from, ...knownOn(day) })).memories;
    const newest = await read();
    const { knownAt = Number.POSITIVE_INFINITY } = knownOn(day);
    const isLater = Date.parse(memory.created_at) > knownAt;
    const isShown = isLater || newest.some((each) => each.id === id);
    const history = isShown ? newest : await read(id);
    const [current = null] = newest;
    return { history, current: current?.id === id ? null : current };
  };

  const contextOf = async (reach: Reach, memory: Memory, day: string): Promise<Context> => {
    const isPast = day !== "";
    const { knownAt = clock() } = knownOn(day);
    const wasKnown = ({ created_at }: Memory) => !isPast || Date.parse(created_at) <= knownAt;
    const [{ history, current }, inSession, near, secrets] = await Promise.all([
      historyOf(reach, memory, day),
      memories.inSession(reach, memory.id, MAX_SESSION_MEMORIES),
      isPast ? [] : withTimeLimit(memories.near(reach, memory.id), SIMILAR_TIMEOUT_MS, () => null),
      memories.secrets.kindsIn([memory]),
    ]);
    const shown = new Set([...history, ...(current ? [current] : [])].map(({ id }) => id));
    return {
      history,
      current,
      before: inSession.before.filter(wasKnown),
      after: inSession.after.filter(wasKnown),
      fading: memories.fading(memory),
      secrets: secrets.get(memory.id),
      similar: near?.filter((each) => !shown.has(each.memory.id)).slice(0, MAX_SIMILAR) ?? null,
    };
  };

  pages.get(`${PATHS.memories}/:id`, async (visit, id) => {
    const memory = await memories.get(visit.reach, id);
    const day = pastDay(visit.url.searchParams, clock());
    const context = await contextOf(visit.reach, memory, day);
    return <MemoryPage visit={visit} memory={memory} day={day} context={context} />;
  });
  pages.post(`${PATHS.memories}/:id/pin`, async ({ account, reach }, form, id) => {
    const pinned = form.get("pinned") === "1";
    const memory = await memories.update(reach, id, { pinned }, { source: ownSource(account) });
    const notice = pinned
      ? "The memory is pinned: it never fades."
      : "The memory is no longer pinned: it fades.";
    return { to: memoryPath(memory.id), notice };
  });
  pages.confirmed(
    `${PATHS.memories}/:id/delete`,
    "memories",
    async ({ reach }, id) => {
      const { content, supersedes, superseded_by } = await memories.get(reach, id);
      return {
        title: "Delete this memory?",
        confirm: "Delete the memory",
        cancel: memoryPath(id),
        text: (
          <>
            <p>
              “<bdi>{titleOf(content)}</bdi>” will be deleted permanently. You can't undo this.
            </p>
            {(supersedes !== null || superseded_by !== null) && (
              <Choice name="history" value="1">
                Delete its older and newer versions too
              </Choice>
            )}
          </>
        ),
      };
    },
    async ({ reach }, form, id) => {
      const withHistory = form.has("history");
      const count = await memories.remove(reach, id, withHistory);
      const notice = withHistory
        ? `Deleted permanently: ${memoryCount(count)}.`
        : "The memory is deleted permanently.";
      return { to: PATHS.memories, notice };
    },
  );
}
