import { expect, test } from "bun:test";
import { type StoredMemory, UNSET } from "../../src/memories/model/rows.ts";
import { WriterEnded } from "../../src/memories/table/writer.ts";
import { temporaryFolder } from "../support/database.ts";
import { fakeEmbedder } from "../support/fake-embedder.ts";
import { openData } from "../support/live-data.ts";
import { rejectionOf } from "../support/outcome.ts";

const fail = async () => {
  throw new Error("the disk is full");
};

test("no write succeeds after a second end, if the first one has failed", async () => {
  await using data = await openData(temporaryFolder());
  await data.store.use("acc_0123456789abcdef", async ({ writer }) => {
    const first = writer.end(fail).catch(() => {});
    const gate = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    const second = writer.end(() => {
      reached.resolve();
      return gate.promise;
    });
    await first;
    await reached.promise;
    const late = writer.change({ ids: [], apply() {} });
    expect(await rejectionOf(late)).toBeInstanceOf(WriterEnded);
    gate.resolve();
    await second;
    const later = writer.change({ ids: [], apply() {} });
    expect(await rejectionOf(later)).toBeInstanceOf(WriterEnded);
  });
});

test("no write succeeds after the end, however many wait", async () => {
  await using data = await openData(temporaryFolder());
  const embedding = await fakeEmbedder().embedContent("x");
  const memory = (id: string): StoredMemory => ({
    ...UNSET,
    id,
    ...embedding,
    content: "x",
    createdAt: 1,
    updatedAt: 1,
  });
  await data.store.use("acc_0123456789abcdef", async ({ table, writer }) => {
    const written = Array.from({ length: 1_500 }, (_, n) =>
      writer.change({ ids: [], apply: (draft) => draft.put(memory(`id ${n}`)) }),
    );
    const last = await writer.end(async () => table.usage.memories);
    const answers = await Promise.allSettled(written);
    const refused = answers.flatMap((answer) => (answer.status === "rejected" ? [answer] : []));
    expect(refused.length).toBe(written.length - last);
    expect(refused.every(({ reason }) => reason instanceof WriterEnded)).toBe(true);
    expect(refused.length).toBeGreaterThan(0);
    expect(table.usage.memories).toBe(last);
    expect(await table.select({})).toHaveLength(last);
  });
});
