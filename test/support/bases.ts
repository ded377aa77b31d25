import { join } from "node:path";
import type { Base, Bases } from "../../src/memories/base/base.ts";
import { createDiskVault } from "../../src/memories/base/base-folder.ts";
import { createBases, type OnStep } from "../../src/memories/base/bases.ts";
import { type StoredMemory, UNSET } from "../../src/memories/model/rows.ts";
import { loadLanceDb } from "../../src/native/lancedb.ts";
import { temporaryFolder } from "./database.ts";
import { testCacheDir } from "./embedder.ts";
import { fakeEmbedder } from "./fake-embedder.ts";

const embedder = fakeEmbedder();
export const { model } = embedder;
export const embedContent = async (text: string) => (await embedder.embedContent(text)).vectors;
export const askedOf = embedder.embedQuery;
export const embedQuery = async (text: string) => (await embedder.embedQuery(text)).vector;

/** The id of the memory with a number. */
export const idOf = (number: number) => `mem_${number.toString(16).padStart(32, "0")}`;

/** A memory with a vector for each paragraph of its content. */
export async function storedMemory(
  number: number,
  fields: Partial<StoredMemory> = {},
): Promise<StoredMemory> {
  const content = fields.content ?? `number ${number}`;
  return {
    ...UNSET,
    id: idOf(number),
    content,
    tags: [`tag${number % 10}`],
    createdAt: number,
    updatedAt: number,
    ...(await embedder.embedContent(content)),
    ...fields,
  };
}

/** Memories with numbers from `start` to before `end`. */
export async function storedMemories(start: number, end: number): Promise<StoredMemory[]> {
  const numbers = Array.from({ length: end - start }, (_, index) => start + index);
  return await Promise.all(numbers.map((number) => storedMemory(number)));
}

/** The changes that write these memories and remove those with these ids. */
export function changesOf(written: readonly StoredMemory[], removed: readonly string[] = []) {
  return new Map<string, StoredMemory | null>([
    ...written.map((memory) => [memory.id, memory] as const),
    ...removed.map((id) => [id, null] as const),
  ]);
}

/** Bases in a temporary folder, closed after the test. */
export async function testBases(
  step?: OnStep,
  folder = join(temporaryFolder(), "memories"),
): Promise<Bases & { folder: string; vault: ReturnType<typeof createDiskVault> }> {
  const lancedb = await loadLanceDb(testCacheDir);
  const vault = createDiskVault(folder);
  const bases = createBases({ lancedb, folder, vault, ...(step && { step }) });
  return { ...bases, folder, vault };
}

/** Ids of memories as a base lists them. */
export async function listed(base: Base, ...args: Parameters<Base["list"]>): Promise<string[]> {
  return (await base.list(...args)).map(({ id }) => id);
}

/** All memories of a base, by id. */
export async function allOf(base: Base): Promise<StoredMemory[]> {
  const read = (await Array.fromAsync(base.read())).flat();
  return read.sort((a, b) => (a.id < b.id ? -1 : 1));
}
