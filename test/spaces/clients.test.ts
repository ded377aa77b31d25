import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { createClient } from "../../src/clients/typescript/src/index.ts";
import { outcomeOf, rejectionOf } from "../support/outcome.ts";
import { startServer } from "../support/server.ts";
import { addPerson } from "../support/space-team.ts";

const PACKAGE = join(import.meta.dir, "../../src/clients/python/src");
const python = process.env.CTXD_TEST_PYTHON ?? Bun.which("python3");

const server = await startServer();
afterAll(server.close);

/** A person in a space. A header can't carry its name as it is. */
async function member() {
  const ann = await addPerson(server, "ann");
  await server.spaces.create(ann.accountId, "Büro");
  await ann.save({ content: "The boat is mine." });
  return ann;
}

const contents = (memories: readonly { content: string }[]) =>
  memories.map(({ content }) => content).sort();

test("the TypeScript client works in a space, or in that of a call", async () => {
  const { key } = await member();
  const client = createClient({ url: server.origin, key });
  const inside = createClient({ url: server.origin, key, space: "Büro" });
  const saved = await inside.save({ content: "The boat is blue." });
  expect(saved.space).toBe("Büro");
  await client.save({ content: "The boat is green." }, { space: "Büro" });
  await client.saveAll([{ content: "The boat is red." }], { space: "Büro" });
  await client.import([{ content: "The boat is white." }], { space: "Büro" });
  const ofSpace = ["blue", "green", "red", "white"].map((colour) => `The boat is ${colour}.`);
  expect(contents(await Array.fromAsync(inside.list()))).toEqual(ofSpace);
  expect(contents(await Array.fromAsync(client.export({ space: "Büro" })))).toEqual(ofSpace);
  expect(contents(await client.search("boat"))).toEqual([...ofSpace, "The boat is mine."].sort());
  const own = ["The boat is mine."];
  expect(contents(await inside.search("boat", { space: "personal" }))).toEqual(own);
  expect(contents(await Array.fromAsync(client.list()))).toEqual(own);
  expect((await client.stats({ space: "Büro" })).memories).toBe(4);
  expect(await outcomeOf(client.deleteWhere({ space: "Büro" }))).toThrow("matches all memories");
  const before = "2999-01-01T00:00:00Z";
  expect(await client.deleteWhere({ space: "Büro", created_before: before })).toBe(4);
  const elsewhere = createClient({ url: server.origin, key, space: "Buero" });
  expect(await rejectionOf(elsewhere.stats())).toMatchObject({
    ...{ code: "not_found", message: expect.stringContaining("Yours: Büro.") },
  });
});

test.skipIf(!python)("the Python client works in a space, or in that of a call", async () => {
  const { key } = await member();
  const program = `
import asyncio, sys
from ctxd import AsyncClient, Client
url, key = sys.argv[1:]
with Client(key, url=url) as client, Client(key, url=url, space="Büro") as inside:
    print(inside.save("The boat is blue.")["space"])
    client.save("The boat is green.", space="Büro")
    client.save_all([{"content": "The boat is red."}], space="Büro")
    client.import_([{"content": "The boat is white."}], space="Büro")
    print(len(list(inside.list())), len(list(client.list())), len(list(client.export(space="Büro"))))
    print(len(client.search("boat")), len(inside.search("boat", space="personal")))
    try:
        client.delete_where(space="Büro")
    except TypeError as error:
        print(error)
    print(client.delete_where(space="Büro", created_before="2999-01-01T00:00:00Z"))

async def main():
    async with AsyncClient(key, url=url, space="Büro") as inside:
        await inside.save("The boat is black.")
        await inside.save_all([{"content": "The boat is pink."}], space="personal")
        async def memories():
            yield {"content": "The boat is grey."}
        await inside.import_(memories(), space="personal")
        print((await inside.stats())["memories"], (await inside.stats(space="personal"))["memories"])

asyncio.run(main())
`;
  const child = Bun.spawn([python ?? "", "-W", "error", "-c", program, server.origin, key], {
    env: { PYTHONPATH: PACKAGE, PYTHONDONTWRITEBYTECODE: "1", PYTHONUTF8: "1" },
    ...{ stdin: "ignore", stdout: "pipe", stderr: "pipe" },
  });
  const [said, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  expect(errors).toBe("");
  expect(said).toBe(
    "Büro\n4 1 4\n5 1\nAn empty filter matches all memories. Say what to delete.\n4\n1 3\n",
  );
});

test("the header ctxd-space is percent-encoded", async () => {
  const ann = await member();
  const asked = (space: string) =>
    ann.send("GET", "/memories", { headers: { "ctxd-space": space } });
  expect((await asked(encodeURIComponent("Büro"))).body).toMatchObject({ memories: [] });
  expect((await asked("personal")).body).toMatchObject({
    memories: [{ content: "The boat is mine." }],
  });
  expect(await asked("%ff")).toMatchObject({
    status: 400,
    body: { error: { code: "malformed_request", message: expect.stringContaining("ctxd-space") } },
  });
});
