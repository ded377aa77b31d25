import { expect, test } from "bun:test";
import { memoryCodec } from "../../../src/memories/base/memory-codec.ts";
import { idOf, model, storedMemories, storedMemory } from "../../support/bases.ts";
import { asEarlier, earlierEntry } from "../../support/earlier-tables.ts";

const memories = async () => [
  await storedMemory(1, {
    content: "two\n\npassages, and \u0000 and 緑",
    source: { via: "api", by: "laptop", id: "key_1" },
    project: "ctxd",
    supersedes: idOf(9),
    pinned: true,
    expiresAt: 5,
  }),
  ...(await storedMemories(2, 5)),
];

test("what the log gets is what comes back", async () => {
  const bytes = memoryCodec.encode(await memories(), model);
  expect(memoryCodec.decode(bytes)).toEqual(await memories());
  // A database gives bytes at any address.
  const shifted = new Uint8Array(bytes.length + 1);
  shifted.set(bytes, 1);
  expect(memoryCodec.decode(shifted.subarray(1))).toEqual(await memories());
});

test("an entry of the earlier version is read", async () => {
  const plain = [await storedMemory(1, { content: "two\n\npassages" }), await storedMemory(2)];
  expect(memoryCodec.decode(earlierEntry(plain))).toEqual(plain.map(asEarlier));
});

test("an entry without starts and states, as this version wrote it before, is read", async () => {
  const memory = asEarlier(await storedMemory(1));
  const bytes = Buffer.from(memoryCodec.encode([memory], model));
  const json = bytes.subarray(8, 8 + bytes.readUInt32LE(4)).toString();
  const before = Buffer.from(json.replace('"starts":[],', "").replace(',"states":0', ""));
  expect(before.length).toBeLessThan(json.length - 20);
  const entry = Buffer.concat([bytes.subarray(0, 8), before, bytes.subarray(8 + json.length)]);
  entry.writeUInt32LE(before.length, 4);
  expect(memoryCodec.decode(entry)).toEqual([memory]);
});

test("an entry is little longer than texts and vectors", async () => {
  const [memory] = await storedMemories(0, 1);
  const bytes = memoryCodec.encode([memory ?? (await storedMemory(0))], model);
  expect(bytes.length).toBeLessThan(4 * model.dimension + (memory?.states.length ?? 0) + 500);
});

test("a vector of another length is refused", async () => {
  const short = await storedMemory(1, { vectors: [new Float32Array(3)] });
  expect(() => memoryCodec.encode([short], model)).toThrow(RangeError);
});

test("a memory without any vector is refused, as a base would have no row of it", async () => {
  const memory = { ...(await storedMemory(1)), vectors: [] };
  expect(() => memoryCodec.encode([memory], model)).toThrow(RangeError);
});
