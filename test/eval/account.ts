import { createId } from "../../src/db/id.ts";
import { wholeAccount } from "../../src/keys/reach.ts";
import type { Filter } from "../../src/memories/model/filter.ts";
import type { FoundMemory } from "../../src/memories/model/found-memory.ts";
import type { SearchMode } from "../../src/memories/ranking/question.ts";
import type { TestServer } from "../support/server.ts";
import type { EvaluationSet } from "./set.ts";

const DAY = 24 * 3_600_000;

export type SetMemory = EvaluationSet["memories"][number];

/** What a search found, by the ids of the set. */
export type Found = Omit<FoundMemory, "id"> & { id: string };

/** An account that is asked in process: what HTTP adds does not change what is found. */
export type EvaluationAccount = Awaited<ReturnType<typeof createAccount>>;

/**
 * Makes an account of a test server with a set's memories, created when they were said; those of one
 * moment keep their order. The server's clock moves past the last memory.
 */
export async function createAccount(server: TestServer, memories: readonly SetMemory[]) {
  const client = await server.account();
  const { accountId } = client;
  const names = new Map<string, string>();

  const add = async (added: readonly SetMemory[]) => {
    const inOrder = added.toSorted((a, b) => Date.parse(a.said_at) - Date.parse(b.said_at));
    const lines = inOrder.map(({ id: name, said_at, ...memory }) => {
      const id = createId("mem", Date.parse(said_at));
      names.set(id, name);
      return `${JSON.stringify({ id, ...memory, created_at: said_at })}\n`;
    });
    const { status, body } = await client.send("POST", "/memories/import", {
      body: lines.join(""),
      headers: { "content-type": "application/x-ndjson" },
    });
    if (status !== 200) throw new Error(`the import failed: ${JSON.stringify(body)}`);
    const dayAfter = Math.max(...inOrder.map(({ said_at }) => Date.parse(said_at))) + DAY;
    server.clock.advance(Math.max(0, dayAfter - server.clock()));
  };
  await add(memories);

  return {
    accountId,
    add,
    async ask(
      query: string,
      {
        mode = "hybrid",
        filter = {},
        limit = 20,
        decay = false,
        versions = true,
        reads = false,
      }: AskOptions = {},
    ): Promise<Found[]> {
      const { memories: found } = await server.memories.search(wholeAccount(accountId), {
        ...{ query, mode, filter, limit },
        ...{ minScore: 0, decay, versions, reads },
      });
      return found.map((memory) => ({ ...memory, id: names.get(memory.id) ?? "" }));
    },
  };
}

interface AskOptions {
  mode?: SearchMode;
  filter?: Filter;
  limit?: number;
  decay?: boolean;
  /** Whether of versions of one fact the one asked for comes first. */
  versions?: boolean;
  /** Whether the first results are read with the question, as for what is known. */
  reads?: boolean;
}
