import { createAccounts } from "../../src/accounts/accounts.ts";
import { wholeAccount } from "../../src/keys/reach.ts";
import { LIMITS, type MemorySource, type NewMemory } from "../../src/memories/model/memory.ts";
import type { ImportLine } from "../../src/memories/rules/import/import.ts";
import { openPrepared } from "../bench/prepared-data.ts";
import { createSentences } from "../bench/sentences.ts";
import { idOf } from "../support/bases.ts";
import { until } from "../support/until.ts";
import { type Access, accessOf, addAccess } from "./access-rows.ts";

/** An account at a limit, with what requests about it need. */
export interface Edge extends Access {
  readonly name: string;
  /** Fields that many of its memories have. */
  readonly tag: string;
  readonly project: string;
  readonly agent: string;
  readonly sessionId: string;
  /** A text that is found. */
  readonly question: string;
  /** Some of its memories. */
  readonly ids: readonly string[];
}

type Data = Awaited<ReturnType<typeof openPrepared>>;

/** Memories of one commit, and commits that may wait for a flush. */
const BATCH = LIMITS.batch;
const WAITING = 64;

const named = (name: string, length: number) => `${name}-`.padEnd(length, "x");
const SHARED = {
  tag: named("tag", LIMITS.tag),
  project: named("project", LIMITS.identifier),
  agent: named("agent", LIMITS.identifier),
  sessionId: named("session", LIMITS.identifier),
};

/**
 * Fills a data folder with accounts that hold as much as an account can, each in another way, and with an
 * owner who has as many rows of everything else.
 * @param scale 1 for what the limits allow; less for a quick test
 */
export async function fillEdges(
  dataDir: string,
  scale: number,
): Promise<{ edges: Edge[]; owner: Access }> {
  const data = await openPrepared(dataDir);
  try {
    const count = (most: number, least: number = LIMITS.batch) =>
      Math.max(least, Math.round(most * scale));
    const edges = [
      await fill(data, "many memories", ordinary(count(100_000))),
      await fill(data, "longest labels", labelled(count(20_000))),
      await fill(data, "equal texts", equal(count(60_000))),
      // Half a batch of them is more than a page and more bytes than wait for a flush.
      await fill(data, "longest texts", long(count(2_000, LIMITS.batch / 2))),
      await fill(data, "one session", oneSession(count(20_000)), CAPTURED),
      await fillHistories(data, "longest histories", count(20_000)),
    ];
    const { id } = await addAccount(data, "owner");
    data.db.sqlite.run("UPDATE accounts SET role = iif(id = ?, 'owner', 'member')", [id]);
    addAccess(data.db, id, count(10_000));
    return { edges, owner: await accessOf(data.db, id) };
  } finally {
    await data.close();
  }
}

const addAccount = ({ db }: Data, name: string) =>
  createAccounts({ db, clock: Date.now }).add({
    email: `${name.replaceAll(" ", "-")}@example.com`,
    password: null,
  });

function* ordinary(count: number): Generator<NewMemory> {
  const sentences = createSentences(1);
  for (let n = 0; n < count; n++) {
    const { tags = [], ...memory } = sentences.memory();
    yield {
      ...memory,
      tags: [...tags, SHARED.tag],
      project: SHARED.project,
      session_id: `${n % 1_000}`,
    };
  }
}

/** Each memory has labels of its own, as many and as long as allowed. */
function* labelled(count: number): Generator<NewMemory> {
  const sentences = createSentences(2);
  for (let n = 0; n < count; n++) {
    const tags = Array.from({ length: LIMITS.tags - 1 }, (_, at) =>
      named(`${n}-${at}`, LIMITS.tag),
    );
    yield {
      content: sentences.memory().content,
      tags: [...tags, SHARED.tag],
      project: named(`${n}`, LIMITS.identifier),
      agent_id: named(`${n}`, LIMITS.identifier),
      session_id: named(`${n}`, LIMITS.identifier),
      metadata: { text: named(`${n}`, LIMITS.metadata - 20) },
    };
  }
}

function* equal(count: number): Generator<NewMemory> {
  for (let n = 0; n < count; n++) {
    yield { content: "The lazy dog sleeps.", tags: [SHARED.tag], project: SHARED.project };
  }
}

function* long(count: number): Generator<NewMemory> {
  const sentences = createSentences(3);
  for (let n = 0; n < count; n++) {
    let content = "";
    while (content.length < LIMITS.content) content += `${sentences.memory().content} `;
    yield {
      content: content.slice(0, LIMITS.content).trim(),
      tags: [SHARED.tag],
      project: SHARED.project,
    };
  }
}

function* oneSession(count: number): Generator<NewMemory> {
  const sentences = createSentences(4);
  for (let n = 0; n < count; n++) {
    yield {
      content: sentences.memory().content,
      tags: [SHARED.tag],
      agent_id: SHARED.agent,
      session_id: SHARED.sessionId,
      project: SHARED.project,
    };
  }
}

/** The source of turns of conversations. */
const CAPTURED = { via: "capture", by: "test", id: "key_test" } as const;

/** @param source who has saved them; null if nobody knows */
async function fill(
  data: Data,
  name: string,
  memories: Iterable<NewMemory>,
  source: MemorySource | null = null,
): Promise<Edge> {
  const { id: accountId } = await addAccount(data, name);
  const reach = wholeAccount(accountId);
  const ids: string[] = [];
  let batch: NewMemory[] = [];
  let question = "";
  const write = async () => {
    const made = await data.memories.saveAll(reach, batch, { source });
    for (const { id } of made.slice(0, 8)) ids.push(id);
    question = batch[0]?.content.slice(0, 300) ?? "";
    batch = [];
    await until("commits are flushed", async () => (await data.log.size()) <= WAITING, 20);
  };
  for (const memory of memories) {
    batch.push(memory);
    if (batch.length === BATCH) await write();
  }
  if (batch.length > 0) await write();
  return { name, question, ids, ...SHARED, ...(await accessOf(data.db, accountId)) };
}

/** Histories as long as they may be, as an import brings them. */
async function fillHistories(data: Data, name: string, count: number): Promise<Edge> {
  const { id: accountId } = await addAccount(data, name);
  const contentOf = (n: number) => `The meeting is in room ${n}.`;
  async function* lines(): AsyncGenerator<ImportLine> {
    for (let n = 0; n < count; n++) {
      const memory = {
        ...{ id: idOf(n), content: contentOf(n), tags: [SHARED.tag], project: SHARED.project },
        ...(n % LIMITS.history > 0 && { supersedes: idOf(n - 1) }),
      };
      yield { number: n + 1, memory };
    }
  }
  const report = await data.memories.import(wholeAccount(accountId), lines(), {
    source: { via: "import", by: "test", id: "key_test" },
    dryRun: false,
    stillAllowed: async () => {},
  });
  if (report.created < count) throw new Error("not all histories are imported");
  const last = Math.min(count, LIMITS.history) - 1;
  const ids = [last, last >> 1, 0, 1, 2, 3, 4, 5].map(idOf);
  return {
    ...{ name, question: contentOf(last), ids, ...SHARED },
    ...(await accessOf(data.db, accountId)),
  };
}
