import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { listFiles } from "../support/files.ts";
import { until } from "../support/until.ts";
import { type Call, type LyingCluster, startLyingCluster } from "./support/lying-store.ts";

/** What the owner of the object store, or whoever stands before it, answers to reads and writes. */

const ANA = ["Ana keeps bees", "Ana plays the cello", "Ana lives in Porto"];
const BEN = ["Ben eats fish", "Ben sings in choirs", "Ben lives in Lyon"];

let cluster: LyingCluster;
beforeAll(async () => {
  cluster = await startLyingCluster();
}, 120_000);
afterAll(() => cluster?.[Symbol.asyncDispose]());

/** Accounts whose memories the first replica has saved, and only the object store has. */
async function setUp() {
  const [ana, ben] = [await cluster.addAccount(), await cluster.addAccount()];
  for (const [{ key }, contents] of [
    [ana, ["an earlier state", ...ANA.slice(1)]],
    [ben, BEN],
  ] as const) {
    await cluster.client(0, key).saveAll(contents.map((content) => ({ content })));
  }
  await until("the memories are flushed", cluster.isFlushed);
  const former = await cluster.baseOf(ana.accountId);
  const { memories } = await cluster.client(0, ana.key).list();
  const first = memories.find(({ content }) => content === "an earlier state");
  await cluster.client(0, ana.key).update(first?.id ?? "", { content: ANA[0] });
  await until("the change is flushed", cluster.isFlushed);
  const bases = {
    former,
    ana: await cluster.baseOf(ana.accountId),
    ben: await cluster.baseOf(ben.accountId),
  };
  return { ana, ben, bases };
}

/** The bytes of the file of another base that is in the place of this one. */
function sameFileOf(base: string, name: string): Uint8Array {
  const file = name.slice(name.indexOf("/") + 1);
  const isLike = (other: string) =>
    dirname(other) === join(base, dirname(file)) && extname(other) === extname(file);
  const [, bytes] = [...cluster.stored].filter(([other]) => isLike(other)).at(-1) ?? [];
  return bytes ?? new Uint8Array();
}

/** A body that never ends. */
function endless(): Response {
  const chunk = new Uint8Array(1 << 20);
  return new Response(new ReadableStream({ pull: (controller) => controller.enqueue(chunk) }));
}

const residentOf = (pid: number) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;

describe("reading:", () => {
  let account: Awaited<ReturnType<typeof setUp>>;
  beforeAll(async () => {
    account = await setUp();
    // On a busy machine it may have taken over a flush, and have the files.
    await cluster.replicas[1]?.restart(true);
  }, 120_000);

  const bytesOf = ({ name }: Call) => cluster.stored.get(name) ?? new Uint8Array();
  const isData = ({ name }: Call) => name.includes("/data/");
  const LIES: Record<string, (call: Call) => Response | null> = {
    "an object that is cut off": (call) => new Response(bytesOf(call).slice(0, -9)),
    "an object that is cut off, with its last bytes": (call) =>
      new Response(Buffer.concat([bytesOf(call).slice(0, -99), bytesOf(call).slice(-40)])),
    "an empty object": () => new Response(""),
    "a changed byte": (call) => {
      const bytes = bytesOf(call).slice();
      bytes[40] = (bytes[40] ?? 0) ^ 1;
      return new Response(bytes);
    },
    "the rows of another account": (call) =>
      isData(call) ? new Response(sameFileOf(account.bases.ben, call.name)) : null,
    "all objects of another account": (call) =>
      new Response(sameFileOf(account.bases.ben, call.name)),
    "earlier rows of the same account": (call) =>
      isData(call) ? new Response(sameFileOf(account.bases.former, call.name)) : null,
    "a page of a gateway": () => new Response("<html>Sign in to the network</html>"),
    "that what is there is not there": () =>
      new Response("<Error><Code>NoSuchKey</Code></Error>", { status: 404 }),
    "that nothing is allowed": () =>
      new Response("<Error><Code>AccessDenied</Code></Error>", { status: 403 }),
    "an error without an end": () => new Response(endless().body, { status: 403 }),
    "an object without an end": endless,
  };

  test.each(Object.keys(LIES))("%s", async (what) => {
    cluster.lieInThisTest((call) =>
      call.method === "GET" && call.name.startsWith(account.bases.ana)
        ? (LIES[what]?.(call) ?? null)
        : null,
    );
    const [, replica] = cluster.replicas;
    if (!replica) throw new Error("no second replica");
    const logged = replica.errors().length;
    const { status, body } = await cluster.client(1, account.ana.key).send("GET", "/memories");
    const text = JSON.stringify(body);
    for (const other of [...BEN, "an earlier state"]) expect(text).not.toContain(other);
    expect({ status, text }).toMatchObject({ status: 503 });
    expect(text).toMatch(/"message":"[^".]+(: [^".]+)?\.( Try again in a moment\.)?"/);
    expect(text).not.toMatch(/acc_|\.lance|\bat \//);
    await until("the reason is in the log", () =>
      /request_failed .*(OtherContent|NoSuchKey|AccessDenied|ForeignAnswer)/.test(
        replica.errors().slice(logged),
      ),
    );
    expect(cluster.calls.length).toBeGreaterThan(0);
    // Nothing of it stays, and nothing was written anywhere else.
    const files = await listFiles(replica.dataDir);
    expect(files.filter((file) => !file.startsWith("memories/"))).toEqual([]);
    expect(files.filter((file) => file.includes(account.bases.ana))).toEqual([]);
    expect(residentOf(replica.pid())).toBeLessThan(600);
  });

  test("the truth, when the store tells it again", async () => {
    const { memories } = await cluster.client(1, account.ana.key).list();
    expect(memories.map(({ content }) => content).sort()).toEqual([...ANA].sort());
    const others = await cluster.client(1, account.ben.key).list();
    expect(others.memories.map(({ content }) => content).sort()).toEqual([...BEN].sort());
  });
});

describe("writing:", () => {
  const LIES: Record<string, (call: Call) => Response | Promise<Response>> = {
    "that an object is stored, and stores nothing": () => new Response(),
    "that an object is stored, and stores a part of it": (call) =>
      call.truth((cluster.stored.get(call.name) ?? new Uint8Array()).slice(0, -7)),
    "that an object is stored, and stores an empty one": (call) => call.truth(new Uint8Array()),
  };

  test.each(Object.keys(LIES))("%s", async (what) => {
    const { accountId, key } = await cluster.addAccount();
    const [, other] = cluster.replicas;
    const hasFailed = new RegExp(`upkeep_failed table=${accountId} .*PUT .*OtherContent`);
    cluster.lieInThisTest((call) =>
      call.method === "PUT" && call.name.startsWith(accountId)
        ? (LIES[what]?.(call) ?? null)
        : null,
    );
    await cluster.client(0, key).save({ content: "Ana keeps bees" });
    await until(
      "a flush ends",
      async () =>
        cluster.replicas.some(({ errors }) => hasFailed.test(errors())) ||
        (await cluster.isFlushed()),
    );
    expect(await cluster.rows("select 1 from journal")).toHaveLength(1);
    // What nobody has flushed is read from PostgreSQL.
    const contents = async () =>
      (await cluster.client(1, key).list()).memories.map(({ content }) => content);
    expect(await contents()).toEqual(["Ana keeps bees"]);

    cluster.setLie(null);
    await until("the memory is flushed", cluster.isFlushed);
    await other?.restart(true);
    expect(await contents()).toEqual(["Ana keeps bees"]);
  });
});
