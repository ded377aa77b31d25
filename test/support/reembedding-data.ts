import { createEmbedders, type Embedders } from "../../src/embedding/chosen-model.ts";
import type { Embedder } from "../../src/embedding/embedder.ts";
import { wholeAccount } from "../../src/keys/reach.ts";
import { temporaryFolder } from "./database.ts";
import { fakeEmbedder } from "./fake-embedder.ts";
import { HASTY, openData } from "./live-data.ts";
import { until } from "./until.ts";

export const ACCOUNT = "acc_0123456789abcdef";
export const OLD = { id: "old", dimension: 16 };
export const NEW = { id: "new", dimension: 24 };

/** An embedder that embeds a number of contents and holds the next one until `go`. */
export function gated(model: typeof OLD, free: number) {
  const inner = fakeEmbedder(model);
  const gate = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  const embedder: Embedder = {
    ...inner,
    async embedContent(text) {
      if (inner.contents.length >= free) {
        reached.resolve();
        await gate.promise;
      }
      return await inner.embedContent(text);
    },
  };
  return { embedder, contents: inner.contents, reached: reached.promise, go: gate.resolve };
}

/** The new model, and the old one while it is needed. */
export function embeddersWith(
  wanted: Embedder,
): Embedders & { old: ReturnType<typeof fakeEmbedder> } {
  const old = fakeEmbedder(OLD);
  return { ...createEmbedders(wanted, () => old), old };
}

/** A data folder with a number of memories that the old model has embedded. */
export async function prepare(count: number): Promise<{ dataDir: string; ids: string[] }> {
  const dataDir = temporaryFolder();
  await using data = await openData(dataDir, HASTY, createEmbedders(fakeEmbedder(OLD)));
  const made = await data.memories.saveAll(
    wholeAccount(ACCOUNT),
    Array.from({ length: count }, (_, n) => ({ content: `note number${n} of many` })),
  );
  return { dataDir, ids: made.map(({ id }) => id) };
}

export type Data = Awaited<ReturnType<typeof openData>>;

/** Waits until the account's memories have vectors of a model. */
export async function untilDone({ store }: Data, wanted = NEW): Promise<void> {
  const present = () => store.use(ACCOUNT, async ({ table }) => table.model.id);
  await until(
    "the new model",
    async () => (await present()) === wanted.id && store.reembedded() === null,
  );
}

/** Closes the data while a text is being embedded. */
export async function breakOff(data: Data, go: () => void): Promise<void> {
  const closing = data.close();
  go();
  await closing;
}

/** The first result of a search. */
export async function best(
  { memories }: Data,
  query: string,
  mode: "semantic" | "hybrid" = "semantic",
) {
  const request = { query, mode, limit: 3, filter: {}, minScore: 0 };
  return (await memories.search(wholeAccount(ACCOUNT), request)).memories[0];
}
