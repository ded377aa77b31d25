import { CtxdError, readJson } from "./error.ts";
import { exportMemories } from "./export.ts";
import { type ImportSource, importMemories } from "./import.ts";
import { checkDeletion, toQuery } from "./query.ts";
import { createSend, type Fetch, type Sending } from "./send.ts";
import type {
  Calling,
  DeletionFilter,
  ExportOptions,
  FoundMemory,
  ImportReport,
  ListOptions,
  Memory,
  MemoryChanges,
  NewMemory,
  Page,
  PageOptions,
  SavedMemory,
  SearchOptions,
  Stats,
} from "./types.ts";

export interface ClientOptions {
  /** The server's address: `http://127.0.0.1:7733` by default. */
  url?: string | undefined;
  /** An API key (`ctxd key create`), or an OAuth access token. */
  key: string;
  /**
   * What memories are saved to, and searched, listed, exported and deleted in, unless a call says
   * otherwise: `project: null` in one stands for no project, or for all.
   */
  project?: string | undefined;
  /** In the place of the runtime's own `fetch`. */
  fetch?: Fetch | undefined;
  /** How often a call is sent again when the server is busy or can't be reached: 4 by default. */
  retries?: number | undefined;
  /** Milliseconds to wait for an answer, each time it is asked for: 60,000 by default. */
  timeout?: number | undefined;
}

/** The memories of one account. All calls throw `CtxdError`. */
export interface Client {
  /** The project that it was made for. */
  readonly project: string | undefined;
  /**
   * Saves a memory. What says exactly the same already is returned as it is. A call is safe to repeat
   * with the same `idempotencyKey`; without one, it gets its own.
   * @param options `similar` has the answer name memories that say nearly the same
   */
  save(memory: NewMemory, options?: SaveOptions): Promise<SavedMemory>;
  /**
   * Saves memories in the order given, all or none of each 256. When it fails, the same call with the
   * same `idempotencyKey` saves what is missing.
   */
  saveAll(
    memories: readonly NewMemory[],
    options?: Pick<SaveOptions, "idempotencyKey" | "signal">,
  ): Promise<SavedMemory[]>;
  /** Finds memories by meaning, the best first. */
  search(query: string, options?: SearchOptions): Promise<FoundMemory[]>;
  /** All memories that pass, the newest first. They are fetched as the loop needs them. */
  list(options?: ListOptions): AsyncGenerator<Memory, void>;
  /** One page of them; its `next_cursor` is the `cursor` of the next one. */
  listPage(options?: PageOptions): Promise<Page>;
  /** @throws CtxdError `memory_not_found` */
  get(id: string, options?: Calling): Promise<Memory>;
  /**
   * Changes a memory. Fields that are left out stay as they are.
   * @param options `ifMatch`: the memory as `get`, `save` or `update` returned it, or its ETag; refused
   *   with `precondition_failed` if it has changed since
   * @throws CtxdError `memory_not_found`
   */
  update(
    id: string,
    changes: MemoryChanges,
    options?: Calling & { ifMatch?: Memory | SavedMemory | string | undefined },
  ): Promise<SavedMemory>;
  /**
   * Deletes a memory for good.
   * @param options `history` deletes what it superseded and what superseded it too
   * @throws CtxdError `memory_not_found`
   */
  delete(id: string, options?: Calling & { history?: boolean | undefined }): Promise<void>;
  /**
   * Deletes all memories that pass a filter, for good. With `project`, that one alone.
   * @returns how many there were
   * @throws TypeError for a filter that is empty, or has an empty field
   */
  deleteWhere(filter: DeletionFilter, options?: Calling): Promise<number>;
  /** What a memory superseded, and what superseded it, with itself; the newest first. */
  history(id: string, options?: Calling): Promise<Memory[]>;
  stats(options?: Calling): Promise<Stats>;
  /** All memories that pass, the oldest first, as a stream of one request. */
  export(options?: ExportOptions): AsyncGenerator<Memory, void>;
  /**
   * Brings memories in, with their ids and times: those of `export`, or with no more than `content`.
   * They are read as they are sent. To import the same twice changes nothing, so that after a failure
   * the same call goes on. The client's project is not added to them.
   * @param options `dry_run` only tells what would be done
   */
  import(
    source: ImportSource,
    options?: Calling & { dry_run?: boolean | undefined },
  ): Promise<ImportReport>;
  /** The ETag of a memory that `get`, `save` or `update` returned; null of others. */
  etag(memory: object): string | null;
}

interface SaveOptions extends Calling {
  similar?: boolean | undefined;
  idempotencyKey?: string | undefined;
}

const BATCH = 256;
const LARGEST_PAGE = 100;

/** Speaks to a ctxd server as the holder of a key. Opens nothing until it is asked for something. */
export function createClient(options: ClientOptions): Client {
  const { project, url = "http://127.0.0.1:7733", key, retries = 4, timeout = 60_000 } = options;
  // Browsers refuse to have it called as anything's method.
  const fetch: Fetch = options.fetch ?? ((to, request) => globalThis.fetch(to, request));
  const send = createSend({ url, key, fetch, retries, timeout });
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

    save: (memory, { similar, idempotencyKey = newKey(), signal } = {}) =>
      ask<SavedMemory>({
        ...{ method: "POST", path: `/memories${toQuery({ similar })}` },
        json: withProject(memory),
        headers: { "idempotency-key": idempotencyKey },
        ...{ isRepeatable: true, signal },
      }),

    async saveAll(memories, { idempotencyKey = newKey(), signal } = {}) {
      const saved: SavedMemory[] = [];
      for (let start = 0; start < memories.length; start += BATCH) {
        const part = memories.slice(start, start + BATCH);
        const answer = await ask<{ memories: SavedMemory[] }>({
          ...{ method: "POST", path: "/memories/batch" },
          json: { memories: part.map(withProject) },
          headers: { "idempotency-key": start ? `${idempotencyKey}.${start}` : idempotencyKey },
          ...{ isRepeatable: true, signal },
        });
        for (const memory of answer.memories) saved.push(memory);
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
        throw new TypeError("The ETag of this memory is not known: read it with get.");
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

    async history(id, { signal } = {}) {
      const memories: Memory[] = [];
      let cursor: string | null | undefined;
      do {
        const page: Page = await read(`${pathOf(id)}/history${toQuery({ cursor })}`, signal);
        memories.push(...page.memories);
        cursor = page.next_cursor;
      } while (cursor !== null);
      return memories;
    },

    stats: ({ signal } = {}) => read<Stats>("/stats", signal),
    export: ({ signal, ...filter } = {}) =>
      exportMemories(send, toQuery(withProject(filter)), signal),
    import: (source, { dry_run = false, signal } = {}) =>
      importMemories(send, source, { dry_run, signal }),
    etag: (memory) => etags.get(memory) ?? null,
  };
}

/** @throws CtxdError `memory_not_found` for what would be another path */
function pathOf(id: string): string {
  if (!id.startsWith("mem_")) {
    throw new CtxdError("memory_not_found", "Ids of memories begin with mem_.", { status: 404 });
  }
  return `/memories/${encodeURIComponent(id)}`;
}

/** Random: `crypto.randomUUID` is not there on pages that came over plain HTTP. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
