import { expect } from "bun:test";
import type { Memory, NewMemory } from "../../src/memories/model/memory.ts";
import { type Answer, type Client, createClient } from "../support/client.ts";
import type { Random } from "../support/random.ts";

/** A write that was sent and not answered. */
type Pending =
  | { kind: "create"; inputs: NewMemory[]; key: string | null }
  | { kind: "update"; id: string; changes: Partial<NewMemory> }
  | { kind: "remove"; ids: string[] };

type Content = Omit<Memory, "id" | "created_at" | "updated_at" | "supersedes" | "source">;

/** Milliseconds, at most, between two writes of a client. They leave the processor time for upkeep. */
const PAUSE = 40;

/** One client that writes, and knows exactly what must be there of its memories. */
export type Writer = ReturnType<typeof createWriter>;

/** @param agent its name: all its memories have it as their `agent_id` */
export function createWriter(agent: string, random: Random) {
  const expected = new Map<string, Memory>();
  const gone = new Set<string>();
  const keys = new Map<string, { inputs: NewMemory[]; ids: string[] }>();
  let pending: Pending | null = null;
  let writes = 0;
  let refused = 0;

  const input = (): Required<Omit<NewMemory, "supersedes">> => ({
    content: `${random.word()} ${random.word()}${random.below(4) ? "" : `\n\n${random.word()}`}`,
    tags: [random.word(), `group${random.below(3)}`],
    agent_id: agent,
    session_id: `session${random.below(3)}`,
    importance: random.below(100) / 100,
    metadata: { note: random.word() },
    project: random.below(2) ? random.word() : null,
    pinned: random.below(2) === 0,
    expires_at: random.below(2) ? "2100-01-01T00:00:00.000Z" : null,
  });

  const create = async (client: Client, inputs: NewMemory[], key: string | null) => {
    pending = { kind: "create", inputs, key };
    const headers = key === null ? {} : { "idempotency-key": key };
    const single = inputs.length === 1;
    const answer = single
      ? await client.send("POST", "/memories", { json: inputs[0], headers })
      : await client.send("POST", "/memories/batch", { json: { memories: inputs }, headers });
    if (!isAnswered(answer, 201)) return;
    const memories = single ? [memoryOf(answer.body)] : memoriesOf(answer.body);
    for (const memory of memories) expected.set(memory.id, memory);
    if (key !== null) keys.set(key, { inputs, ids: memories.map(({ id }) => id) });
  };

  const update = async (client: Client, id: string) => {
    const { content, tags, importance, metadata, project, pinned } = input();
    const changes = random.below(2) ? { tags, metadata, project } : { content, importance, pinned };
    pending = { kind: "update", id, changes } as Pending;
    const answer = await client.send("PUT", `/memories/${id}`, { json: changes });
    if (isAnswered(answer, 200)) expected.set(id, memoryOf(answer.body));
  };

  const remove = async (client: Client, ids: string[], path: string) => {
    pending = { kind: "remove", ids };
    if (isAnswered(await client.send("DELETE", path), 200)) forget(ids);
  };

  const forget = (ids: readonly string[]) => {
    for (const id of ids) {
      expected.delete(id);
      gone.add(id);
    }
  };

  /** A refused write has no effect, which is checked like everything else. */
  const isAnswered = ({ status }: Answer, wanted: number) => {
    pending = null;
    writes++;
    if (status === wanted) return true;
    expect(status).toBe(503);
    refused++;
    return false;
  };

  const step = async (client: Client) => {
    const ids = [...expected.keys()];
    const id = random.pick(ids);
    const choice = id === undefined ? 0 : random.below(20);
    if (choice < 6) return await create(client, [input()], null);
    if (choice < 9) return await create(client, [input()], random.word());
    if (choice < 11) {
      const inputs = Array.from({ length: 2 + random.below(12) }, input);
      return await create(client, inputs, random.below(2) ? random.word() : null);
    }
    if (id === undefined || choice < 16) return await update(client, id ?? "");
    if (choice < 19) return await remove(client, [id], `/memories/${id}`);
    const memory = expected.get(id);
    const group = memory?.tags[1] ?? "";
    const session = memory?.session_id ?? "";
    const matching = [...expected.values()]
      .filter(({ tags, session_id }) => tags.includes(group) && session_id === session)
      .map((each) => each.id);
    const query = `tags=${group}&session_id=${session}&agent_id=${agent}`;
    await remove(client, matching, `/memories?${query}`);
  };

  /** Holds what is there against what was answered, and goes on from there. */
  const check = async (client: Client) => {
    const actual = await readAll(client, agent);
    const unknown = [...actual.values()].filter(({ id }) => !expected.has(id));
    const was = pending;
    pending = null;
    if (was?.kind === "create" && unknown.length > 0) {
      // Whole, or not at all.
      expect(unknown.map(contentOf).sort(byText)).toEqual(was.inputs.map(completed).sort(byText));
      for (const memory of unknown) expected.set(memory.id, memory);
    }
    const found = was?.kind === "update" ? actual.get(was.id) : undefined;
    if (was?.kind === "update" && found && expected.get(was.id)?.updated_at !== found.updated_at) {
      const old = expected.get(was.id);
      expect(contentOf(found)).toEqual({ ...contentOf(old), ...was.changes } as Content);
      expected.set(was.id, found);
    }
    if (was?.kind === "remove" && was.ids.every((id) => !actual.has(id))) forget(was.ids);
    expect(sorted(actual)).toEqual(sorted(expected));

    await checkSome(client, was);
  };

  /** What can't be asked of every memory each time. */
  const checkSome = async (client: Client, was: Pending | null) => {
    for (const id of [...gone].slice(-5)) {
      expect((await client.send("GET", `/memories/${id}`)).status).toBe(404);
    }
    for (const [key, { inputs, ids }] of [...keys].slice(-3)) {
      const answer = await replay(client, inputs, key);
      if (ids.some((id) => gone.has(id))) expect(answer.status).toBe(409);
      else expect(idsOf(answer)).toEqual(ids);
    }
    if (was?.kind === "create" && was.key !== null) {
      // Whether it was made or not: now it is, once.
      const answer = await replay(client, was.inputs, was.key);
      for (const memory of answered(answer)) expected.set(memory.id, memory);
      keys.set(was.key, { inputs: was.inputs, ids: idsOf(answer) });
      expect(sorted(await readAll(client, agent))).toEqual(sorted(expected));
    }
    for (const memory of [...expected.values()].slice(-3)) {
      const [word = ""] = memory.content.split(" ");
      for (const mode of ["keyword", "hybrid"]) {
        const found = await client.search(word, { mode, limit: 100 });
        expect(found.find(({ id }) => id === memory.id)).toMatchObject(memory);
      }
    }
  };

  return {
    expected,
    gone,
    counts: () => ({ writes, refused }),
    /** The server may have forgotten which requests it has seen. */
    forgetKeys: () => keys.clear(),
    check,
    /** Writes until `isOver`, or until the server is gone. */
    async write(origin: string, key: string, isOver: () => boolean): Promise<void> {
      const client = createClient(origin, key);
      while (!isOver()) {
        try {
          await step(client);
          await Bun.sleep(random.below(PAUSE));
        } catch (error) {
          if (isDisconnected(error)) return;
          throw error;
        }
      }
    },
  };
}

function replay(client: Client, inputs: NewMemory[], key: string): Promise<Answer> {
  const headers = { "idempotency-key": key };
  return inputs.length === 1
    ? client.send("POST", "/memories", { json: inputs[0], headers })
    : client.send("POST", "/memories/batch", { json: { memories: inputs }, headers });
}

/** All memories of an agent, through the pages of the list; none may come twice. */
export async function readAll(client: Client, agent?: string): Promise<Map<string, Memory>> {
  const all = new Map<string, Memory>();
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<Client["list"]>> = await client.list({
      limit: 100,
      ...(agent !== undefined && { agent_id: agent }),
      ...(cursor !== null && { cursor }),
    });
    for (const memory of page.memories) {
      expect(all.has(memory.id)).toBe(false);
      all.set(memory.id, memory);
    }
    cursor = page.next_cursor;
  } while (cursor !== null);
  return all;
}

/** The connection ended before the answer came. */
function isDisconnected(error: unknown): boolean {
  return (
    error instanceof Error &&
    !("matcherResult" in error) &&
    /connect|socket|closed|reset|fetch|JSON/i.test(
      `${error.name} ${error.message} ${"code" in error ? error.code : ""}`,
    )
  );
}

const byText = (a: unknown, b: unknown) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
const sorted = (memories: Map<string, Memory>) =>
  [...memories.values()].sort((a, b) => (a.id < b.id ? -1 : 1));

function contentOf(memory: Memory | undefined) {
  const {
    id: _,
    created_at,
    updated_at,
    supersedes,
    superseded_by,
    source,
    ...content
  } = memory ?? ({} as Memory);
  return content;
}

const completed = (input: NewMemory) => ({ ...contentOf(input as Memory) });

// What `Client` checks against the published schema where it expects success.
const memoryOf = (body: unknown) => body as Memory;
const memoriesOf = (body: unknown) => (body as { memories: Memory[] }).memories;
const answered = ({ status, body }: Answer) => {
  expect(status).toBe(201);
  return typeof body === "object" && body !== null && "memories" in body
    ? memoriesOf(body)
    : [memoryOf(body)];
};
const idsOf = (answer: Answer) => answered(answer).map(({ id }) => id);
