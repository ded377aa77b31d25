import { CtxdError, readJson } from "./error.ts";
import { exportMemories } from "./export.ts";
import { type ImportSource, importMemories } from "./import.ts";
import { checkDeletion, toQuery } from "./query.ts";
import { createSend, type Fetch, type Sending } from "./send.ts";
import type {
  AboutOptions,
  Calling,
  DeletionFilter,
  ExportOptions,
  ForgetOptions,
  FoundAbout,
  FoundMemory,
  HistoryOptions,
  ImportReport,
  ListOptions,
  Memory,
  MemoryChanges,
  NewMemory,
  Page,
  PageOptions,
  Receipt,
  SavedMemory,
  SearchOptions,
  Stats,
  TidyGroups,
  TidyOptions,
  TidyOutcome,
  TidyReport,
} from "./types.ts";

export interface ClientOptions {
  /** The server's URL. Default: `http://127.0.0.1:7733`. */
  url?: string | undefined;
  /** An API key (`ctxd key create`), or an OAuth access token. */
  key: string;
  /**
   * The project of all calls that name none. Memories are saved to it, and searched, listed, exported
   * and deleted in it. `project: null` in a call means no project when saving, and all projects otherwise.
   */
  project?: string | undefined;
  /**
   * The space of all calls that name none, by its name or id, or `personal`. By default a search finds what is in the
   * person's spaces too, and other calls are about the person's own memories.
   */
  space?: string | undefined;
  /** Replaces the runtime's own `fetch`. */
  fetch?: Fetch | undefined;
  /** How often a call is repeated when the server is busy or can't be reached. Default: 4. */
  retries?: number | undefined;
  /** Milliseconds to wait for each response. Default: 60,000. */
  timeout?: number | undefined;
}

/** The memories of one account. All calls throw `CtxdError`. */
export interface Client {
  /** The client's project. */
  readonly project: string | undefined;
  /**
   * Saves a memory. If a memory with exactly the same text exists, returns that one. A call may be
   * repeated with the same `idempotencyKey`. Default key: a new one for each call.
   * @param options `similar`: return memories that say nearly the same, too
   */
  save(memory: NewMemory, options?: SaveOptions): Promise<SavedMemory>;
  /**
   * Saves memories in the given order, in batches of at most 256. Each batch is saved completely or not at all.
   * After a failure, the same call with the same `idempotencyKey` saves the missing ones.
   */
  saveAll(
    memories: readonly NewMemory[],
    options?: Omit<SaveOptions, "similar">,
  ): Promise<SavedMemory[]>;
  /** Finds memories by meaning, best match first. */
  search(query: string, options?: SearchOptions): Promise<FoundMemory[]>;
  /** All memories that match the filter, newest first. Pages are requested as the loop needs them. */
  list(options?: ListOptions): AsyncGenerator<Memory, void>;
  /** One page of the list. Its `next_cursor` is the `cursor` of the next page. */
  listPage(options?: PageOptions): Promise<Page>;
  /** @throws CtxdError `memory_not_found` */
  get(id: string, options?: Calling): Promise<Memory>;
  /**
   * Changes a memory. Omitted fields stay as they are.
   * @param options `ifMatch`: the memory that `get`, `save` or `update` returned, or its ETag
   * @throws CtxdError `memory_not_found`, or `precondition_failed` if the memory has changed since
   */
  update(
    id: string,
    changes: MemoryChanges,
    options?: Calling & { ifMatch?: Memory | SavedMemory | string | undefined },
  ): Promise<SavedMemory>;
  /**
   * Deletes a memory permanently.
   * @param options `history`: also delete the memories that it superseded and that superseded it
   * @throws CtxdError `memory_not_found`
   */
  delete(id: string, options?: Calling & { history?: boolean | undefined }): Promise<void>;
  /**
   * Permanently deletes all memories that match a filter. With `project`, only those of that project.
   * @returns the number of deleted memories
   * @throws TypeError for an empty filter, or one with an empty field
   */
  deleteWhere(filter: DeletionFilter, options?: Calling): Promise<number>;
  /**
   * The memory, all memories that it superseded, and all that superseded it, newest first.
   * @param options `as_of`: only those that were saved by then
   */
  history(id: string, options?: HistoryOptions): Promise<Memory[]>;
  stats(options?: InSpace): Promise<Stats>;
  /** A page of what could be tidied, with proposals. */
  tidy(options?: TidyOptions): Promise<TidyReport>;
  /**
   * Applies proposals of a report in ten seconds, unless they are undone.
   * @param options `dry_run`: only say what would change
   * @throws CtxdError `conflict` if a group has changed since the report
   */
  applyTidy(
    groups: TidyGroups,
    options?: InSpace & { dry_run?: boolean | undefined },
  ): Promise<TidyOutcome>;
  /**
   * Undoes what `applyTidy` is about to do.
   * @param change `undo` of its outcome
   * @throws CtxdError `conflict` if it is too late
   */
  undoTidy(change: string, options?: InSpace): Promise<void>;
  /** All memories that name a person or a subject, and those that may be about it. */
  about(subject: string, options?: AboutOptions): Promise<FoundAbout>;
  /**
   * Deletes memories permanently, at most 1,000 at once. Ids that no memory has are ignored.
   * @param options `wait`: until the data has left the server's files, some 20 seconds
   */
  forget(ids: readonly string[], options?: ForgetOptions): Promise<Receipt>;
  /** All memories that match the filter, oldest first, streamed in one response. */
  export(options?: ExportOptions): AsyncGenerator<Memory, void>;
  /**
   * Imports memories with their ids and times, such as those of `export`; only `content` is required.
   * The source is read while it is sent. Importing the same memory again changes nothing, so after a
   * failure the same call continues. The client's project is not added.
   * @param options `dry_run`: only report what would be done
   */
  import(
    source: ImportSource,
    options?: InSpace & { dry_run?: boolean | undefined },
  ): Promise<ImportReport>;
  /** The ETag of a memory that `get`, `save` or `update` returned; null for any other object. */
  etag(memory: object): string | null;
}

/** Options of calls that may name a space, instead of the client's. */
interface InSpace extends Calling {
  space?: string | undefined;
}

interface SaveOptions extends InSpace {
  similar?: boolean | undefined;
  idempotencyKey?: string | undefined;
}

/** Most memories of a batch, and the characters after which it takes no further one: the server accepts 8 MiB. */
const BATCH = { memories: 256, characters: 2 << 20 };
const LARGEST_PAGE = 100;

/** Creates a client for a ctxd server. It opens no connection before the first call. */
export function createClient(options: ClientOptions): Client {
  const { project, space, url = "http://127.0.0.1:7733", key } = options;
  const { retries = 4, timeout = 60_000 } = options;
  // Browsers refuse to call `fetch` as a method of an object.
  const fetch: Fetch = options.fetch ?? ((to, request) => globalThis.fetch(to, request));
  const send = createSend({ url, key, space, fetch, retries, timeout });
  const etags = new WeakMap<object, string>();

  const ask = <Answer>(sending: Omit<Sending, "body"> & { json?: unknown }): Promise<Answer> => {
    const { json, headers, ...rest } = sending;
    const body = json === undefined ? undefined : JSON.stringify(json);
    const type = body === undefined ? {} : { "content-type": "application/json" };
    return send({ ...rest, body, headers: { ...type, ...headers } }, async (response) => {
      const answer = await readJson<Answer & object>(response);
      const etag = response.headers.get("etag");
      if (etag !== null) etags.set(answer, etag);
      return answer;
    });
  };
  const read = <Answer>(path: string, signal: AbortSignal | undefined) =>
    ask<Answer>({ method: "GET", path, isRepeatable: true, signal });
  const withProject = <Fields extends { project?: string | null | undefined }>(fields: Fields) =>
    fields.project === undefined ? { ...fields, project } : fields;

  const listPage = ({ signal, ...filter }: PageOptions = {}) =>
    read<Page>(`/memories${toQuery(withProject(filter))}`, signal);

  return {
    project,

    save: (memory, { similar, space, idempotencyKey = newKey(), signal } = {}) =>
      ask<SavedMemory>({
        method: "POST",
        path: `/memories${toQuery({ similar, space })}`,
        json: withProject(memory),
        headers: { "idempotency-key": idempotencyKey },
        isRepeatable: true,
        signal,
      }),

    async saveAll(memories, { space, idempotencyKey = newKey(), signal } = {}) {
      const saved: SavedMemory[] = [];
      for (let start = 0; start < memories.length; ) {
        const part = batchFrom(memories, start);
        const answer = await ask<{ memories: SavedMemory[] }>({
          method: "POST",
          path: `/memories/batch${toQuery({ space })}`,
          json: { memories: part.map(withProject) },
          headers: { "idempotency-key": start ? `${idempotencyKey}.${start}` : idempotencyKey },
          isRepeatable: true,
          signal,
        });
        for (const memory of answer.memories) saved.push(memory);
        start += part.length;
      }
      return saved;
    },

    async search(q, { signal, ...filter } = {}) {
      const path = `/memories/search${toQuery({ q, ...withProject(filter) })}`;
      return (await read<{ memories: FoundMemory[] }>(path, signal)).memories;
    },

    async *list(filter = {}) {
      let cursor: string | null | undefined;
      do {
        const page: Page = await listPage({
          ...filter,
          limit: LARGEST_PAGE,
          cursor: cursor ?? undefined,
        });
        yield* page.memories;
        cursor = page.next_cursor;
      } while (cursor !== null);
    },

    listPage,
    get: async (id, { signal } = {}) => read<Memory>(pathOf(id), signal),

    async update(id, changes, { ifMatch, signal } = {}) {
      const etag = typeof ifMatch === "object" ? etags.get(ifMatch) : ifMatch;
      if (ifMatch && etag === undefined) {
        throw new TypeError("The ETag of this memory is unknown. Read the memory with get first.");
      }
      const headers = etag === undefined ? {} : { "if-match": etag };
      const sending = { method: "PUT", path: pathOf(id), json: changes, headers };
      return ask<SavedMemory>({ ...sending, isRepeatable: false, signal });
    },

    async delete(id, { history, signal } = {}) {
      const path = pathOf(id) + toQuery({ history });
      await ask({ method: "DELETE", path, isRepeatable: false, signal });
    },

    async deleteWhere(filter, { signal } = {}) {
      checkDeletion(filter);
      const path = `/memories${toQuery(withProject(filter))}`;
      const sending = { method: "DELETE", path, isRepeatable: false, signal };
      return (await ask<{ deleted: number }>(sending)).deleted;
    },

    async history(id, { signal, ...filter } = {}) {
      const memories: Memory[] = [];
      let cursor: string | null | undefined;
      do {
        const page: Page = await read(
          `${pathOf(id)}/history${toQuery({ ...filter, cursor })}`,
          signal,
        );
        memories.push(...page.memories);
        cursor = page.next_cursor;
      } while (cursor !== null);
      return memories;
    },

    stats: ({ space, signal } = {}) => read<Stats>(`/stats${toQuery({ space })}`, signal),

    ...careOf(ask, read),

    export: ({ signal, ...filter } = {}) =>
      exportMemories(send, toQuery(withProject(filter)), signal),
    import: (source, { dry_run = false, space, signal } = {}) =>
      importMemories(send, source, { dry_run, space, signal }),
    etag: (memory) => etags.get(memory) ?? null,
  };
}

/** The calls that tidy, and that forget what is kept about a subject. */
function careOf(
  ask: <Answer>(sending: Omit<Sending, "body"> & { json?: unknown }) => Promise<Answer>,
  read: <Answer>(path: string, signal: AbortSignal | undefined) => Promise<Answer>,
): Pick<Client, "tidy" | "applyTidy" | "undoTidy" | "about" | "forget"> {
  return {
    tidy: ({ signal, ...query } = {}) =>
      read<TidyReport>(`/memories/tidy${toQuery(query)}`, signal),

    async applyTidy(groups, { dry_run = false, space, signal } = {}) {
      const path = `/memories/tidy${toQuery({ space })}`;
      const json = { groups, dry_run };
      return ask<TidyOutcome>({ method: "POST", path, json, isRepeatable: false, signal });
    },

    async undoTidy(change, { space, signal } = {}) {
      const path = `/memories/tidy${toQuery({ undo: change, space })}`;
      await ask({ method: "DELETE", path, isRepeatable: false, signal });
    },

    about: (subject, { signal, ...options } = {}) =>
      read<FoundAbout>(`/memories/about${toQuery({ q: subject, ...options })}`, signal),

    async forget(ids, { about, signal, ...options } = {}) {
      const path = `/memories/forget${toQuery(options)}`;
      const json = { ids, about };
      return ask<Receipt>({ method: "POST", path, json, isRepeatable: false, signal });
    },
  };
}

/** The memories of one batch, from a place in the list on. */
function batchFrom(memories: readonly NewMemory[], start: number): readonly NewMemory[] {
  let [end, characters] = [start, 0];
  while (end < memories.length && end - start < BATCH.memories && characters < BATCH.characters) {
    characters += JSON.stringify(memories[end++]).length;
  }
  return memories.slice(start, end);
}

/** @throws CtxdError `memory_not_found` for an id that could lead to another path */
function pathOf(id: string): string {
  if (!id.startsWith("mem_")) {
    throw new CtxdError("memory_not_found", "Ids of memories begin with mem_.", { status: 404 });
  }
  return `/memories/${encodeURIComponent(id)}`;
}

/** A random key. `crypto.randomUUID` does not exist on pages that were loaded over plain HTTP. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
