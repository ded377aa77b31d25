import { afterAll, beforeAll, expect, test } from "bun:test";
import { createObjects } from "../../src/objects/objects.ts";
import { until } from "../support/until.ts";
import { type LyingCluster, listing, startLyingCluster } from "./support/lying-store.ts";

/** What an object store lists that was not asked for, or was written by somebody else. */

let cluster: LyingCluster;
beforeAll(async () => {
  cluster = await startLyingCluster();
}, 120_000);
afterAll(() => cluster?.[Symbol.asyncDispose]());

const ROOT = "memories";

/** An account with one memory, in the object store alone. */
async function addMemory(content: string) {
  const { accountId, key } = await cluster.addAccount();
  const client = cluster.client(1, key);
  const { id } = await client.save({ content });
  await until("the memory is flushed", cluster.isFlushed);
  return { client, id, base: await cluster.baseOf(accountId) };
}

const isRecorded = async (base: string) =>
  (await cluster.rows(`select 1 from bases where base = '${base}'`)).length > 0;

/** The names of all objects of a base that are really there. */
async function objectsOf(base: string): Promise<string[]> {
  const pages = await Array.fromAsync(createObjects(cluster.objects.place()).list(`${base}/`));
  return pages.flat().map(({ name }) => name);
}

/** How many sweeps and chores have failed by what the store answered. */
const failures = () =>
  cluster.replicas.flatMap((replica) => [
    ...replica.errors().matchAll(/(sweep_failed|upkeep_failed) .*(ForeignAnswer|OtherContent)/g),
  ]).length;
const removedSoFar = () =>
  cluster.calls.filter(({ method }) => method === "DELETE").map(({ name }) => name);

test("a base is forgotten, and the objects of others that are listed with it stay", async () => {
  const [ana, ben] = [await addMemory("Ana keeps bees"), await addMemory("Ben eats fish")];
  const [ofAna, ofBen] = [await objectsOf(ana.base), await objectsOf(ben.base)];
  cluster.lieInThisTest(({ method, query }) => {
    if (method !== "GET" || query.get("prefix") !== `${ROOT}/${ana.base}/`) return null;
    const keys = [...ofAna, ...ofBen].map((name) => `${ROOT}/${name}`);
    const dotted = ofBen.map((name) => `${ROOT}/${ana.base}/../${name}`);
    const far = `${ROOT}/${ana.base}/../../../other-bucket/object`;
    return listing([...keys, ...dotted, far, "/etc/passwd", `${ROOT}/${ana.base}/a&#0;b`]);
  });
  await ana.client.update(ana.id, { content: "Ana plays the cello" });
  await until("the former base is forgotten", async () => !(await isRecorded(ana.base)));
  // On a busy machine, an unfinished base of an account may be removed too.
  const removed = removedSoFar();
  expect(removed.filter((name) => ofBen.includes(name) || !name.startsWith("acc_"))).toEqual([]);
  expect(await objectsOf(ben.base)).toEqual(ofBen);
  await cluster.replicas[0]?.restart(true);
  const read = await cluster.client(0, ben.client.key).get(ben.id);
  expect(read.content).toBe("Ben eats fish");
});

test.each([
  ["a page of a gateway", () => new Response("<html>Sign in to the network</html>")],
  ["nothing at all", () => new Response()],
  ["a text without an end", endless],
  ["the same page again and again", samePage],
] as [string, () => Response][])(
  "a base is not taken for removed when the store lists %s",
  async (_, answer) => {
    const { client, id, base } = await addMemory("Ana keeps bees");
    cluster.lieInThisTest(({ method, query }) =>
      method === "GET" && query.get("prefix") === `${ROOT}/${base}/` ? answer() : null,
    );
    const before = failures();
    await client.update(id, { content: "Ana plays the cello" });
    await until("the reason is in the log", () => failures() > before);
    expect(await isRecorded(base)).toBe(true);
    cluster.setLie(null);
    await until("the base is forgotten", async () => !(await isRecorded(base)));
    expect(await objectsOf(base)).toEqual([]);
  },
);

test("another installation in the same place by mistake keeps its objects", async () => {
  // It is listed before the orphan.
  const foreign = `acc_${"0".repeat(32)}.00000000`;
  const objects = createObjects(cluster.objects.place());
  const { client, id, base } = await addMemory("Ana keeps bees");
  const orphan = base.replace(/\.\w+$/, ".00000000");
  for (const each of [foreign, orphan]) {
    await objects.put(`${each}/data/1.lance`, new Blob(["LANC"]));
  }
  await until("the orphan is removed", async () => (await objectsOf(orphan)).length === 0);
  expect(await objectsOf(foreign)).toHaveLength(1);
  expect((await client.get(id)).content).toBe("Ana keeps bees");
});

test("a hundred thousand foreign folders hold up neither forgetting nor the sweep of a real orphan", async () => {
  const { client, id, base } = await addMemory("Ana keeps bees");
  const orphan = base.replace(/\.\w+$/, ".00000000");
  const objects = createObjects(cluster.objects.place());
  const foreign = Array.from({ length: 100_000 }, (_, number) => `${ROOT}/other.${number}`);
  const hostile = ["..", ".", "", "/etc", "a&#0;b", "a&#10;b", "&#x110000;", "../../other-bucket"];
  const folders = [...hostile.map((name) => `${ROOT}/${name}`), `${ROOT}/${orphan}`, ...foreign];
  cluster.lieInThisTest(({ query }) => (query.has("delimiter") ? listing([], folders) : null));
  await objects.put(`${orphan}/data/1.lance`, new Blob(["LANC"]));
  await until("the orphan is removed", async () => (await objectsOf(orphan)).length === 0);
  await client.update(id, { content: "Ana plays the cello" });
  await until("the former base is forgotten", async () => !(await isRecorded(base)));
  expect(await objectsOf(base)).toEqual([]);
  const [own] = (await client.list()).memories;
  expect(own?.content).toBe("Ana plays the cello");
  // Nobody has asked for anything outside the prefix.
  const strange = cluster.calls.filter(({ name }) => /other-bucket|etc|passwd/.test(name));
  expect(strange).toEqual([]);
});

/** A body that never ends. */
function endless(): Response {
  const chunk = new Uint8Array(1 << 20).fill(0x20);
  return new Response(new ReadableStream({ pull: (controller) => controller.enqueue(chunk) }));
}

function samePage(): Response {
  return new Response(
    `<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>next</NextContinuationToken></ListBucketResult>`,
  );
}
