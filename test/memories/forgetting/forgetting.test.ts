import { afterAll, expect, test } from "bun:test";
import { wholeAccount } from "../../../src/keys/reach.ts";
import type { FoundAbout, Receipt } from "../../../src/memories/model/forgetting.ts";
import { UNSET } from "../../../src/memories/model/rows.ts";
import { createAbout } from "../../../src/memories/rules/forgetting/about.ts";
import { createForgetting } from "../../../src/memories/rules/forgetting/forgetting.ts";
import type { OpenTable } from "../../../src/memories/store/pooled-table.ts";
import { sharedEmbedder } from "../../support/embedder.ts";
import { expectError, expectInvalid } from "../../support/errors.ts";
import { startServer } from "../../support/server.ts";
import { addPerson, join } from "../../support/space-team.ts";

const server = await startServer({ embedder: sharedEmbedder() });
afterAll(server.close);

type Account = Awaited<ReturnType<typeof server.account>>;

async function aboutOf(client: Pick<Account, "send">, q: string): Promise<FoundAbout> {
  const { status, body } = await client.send(
    "GET",
    `/memories/about?${new URLSearchParams({ q })}`,
  );
  expect(status).toBe(200);
  return body as FoundAbout;
}

/** The found texts, by how they were found. */
function textsOf({ memories }: FoundAbout) {
  const groups = Map.groupBy(memories, ({ found_by }) => found_by);
  return Object.fromEntries(
    [...groups].map(([kind, found]) => [kind, found.map(({ excerpt }) => excerpt).sort()]),
  );
}

test("what names a person is told apart from what only may be about them", async () => {
  const ada = await server.account();
  const { id } = await ada.save({ content: "Anna lives in Porto." });
  await ada.save({ content: "She lives in Graz now.", supersedes: id });
  const session_id = "s-1";
  await ada.save({ content: "We talked about Anna's flat.", session_id });
  await ada.save({ content: "It has three rooms.", session_id });
  await ada.save({ content: "Her flat has a balcony.", tags: ["anna"] });
  await ada.save({ content: "The wedding is in May.", metadata: { guests: ["Anna"] } });
  await ada.save({ content: "Anna-Lena plays chess." });
  await ada.save({ content: "Hannah lives in Porto, and Joanna in Graz." });
  const other = await server.account();
  await other.save({ content: "Anna is in another account." });

  const found = await aboutOf(ada, "Anna");
  expect(textsOf(found)).toEqual({
    text: ["Anna lives in Porto.", "We talked about Anna's flat."],
    fields: ["Her flat has a balcony.", "The wedding is in May."],
    version: ["She lives in Graz now."],
    perhaps: ["Anna-Lena plays chess."],
  });
  expect(found).toMatchObject({ more: 0, spaces: [], sessions: [{ session_id, others: 1 }] });
  const superseded = found.memories.filter((memory) => memory.superseded);
  expect(superseded.map((memory) => memory.id)).toEqual([id]);
});

test("all memories that name a subject are found, and not a page of the best", async () => {
  const ada = await server.account();
  const contents = Array.from({ length: 150 }, (_, at) => `Ticket ${at}: Brunhilde called again.`);
  await ada.saveAll(contents.map((content) => ({ content })));
  await ada.saveAll(contents.map((_, at) => ({ content: `Ticket ${at}: nobody called.` })));
  const found = await aboutOf(ada, "brunhilde");
  expect(textsOf(found).text).toEqual(contents.toSorted());
});

test("what a subject means is found in other words too", async () => {
  const ada = await server.account();
  await ada.save({ content: "The user's dog is called Momo." });
  await ada.save({ content: "Invoices are sent on Fridays." });
  expect(textsOf(await aboutOf(ada, "name of my dog"))).toEqual({
    perhaps: ["The user's dog is called Momo."],
  });
});

test("a name that is mostly written in small letters is a word too", async () => {
  const ada = await server.account();
  await ada.save({ content: "Rose paid the bill." });
  await ada.save({ content: "The price rose again." });
  await ada.save({ content: "The rent rose in May." });
  const { text, perhaps } = textsOf(await aboutOf(ada, "Rose"));
  expect(text).toEqual(["Rose paid the bill."]);
  expect(perhaps).toEqual(["The price rose again.", "The rent rose in May."]);
});

test("forgetting answers with a receipt that has nothing of the content", async () => {
  const ada = await server.account();
  const { id } = await ada.save({ content: "Anna lives in Porto." });
  const newer = await ada.save({ content: "Anna lives in Graz.", supersedes: id });
  const kept = await ada.save({ content: "Bob lives in Porto." });
  const json = { ids: [id, newer.id, `mem_${"0".repeat(32)}`] };
  const { status, body } = await ada.send("POST", "/memories/forget", { json });
  const receipt = body as Receipt;
  expect({ status, receipt }).toMatchObject({
    status: 200,
    receipt: { account: ada.accountId, about: null, deleted: 2, captured: 0, superseded: 1 },
  });
  expect(receipt.left_files_at).toBeNull();
  expect(Date.parse(receipt.leaves_files_by) - Date.parse(receipt.deleted_at)).toBe(60_000);
  expect(JSON.stringify(receipt)).not.toMatch(/Anna|Porto|Graz/);
  expect((await ada.list({ include_superseded: "true" })).memories).toEqual([kept]);
  const named = await ada.send("POST", "/memories/forget", {
    json: { ids: [kept.id], about: "Bob" },
  });
  expect(named.body).toMatchObject({ about: "Bob", deleted: 1 });
});

test("forgetting is an action of the account", async () => {
  const ada = await server.account();
  const { id } = await ada.save({ content: "Anna lives in Porto." });
  await ada.send("POST", "/memories/forget", { json: { ids: [id] } });
  await server.activity.flush();
  const actions = await server.activity.list(ada.accountId, { limit: 10 });
  expect(actions.map(({ kind }) => kind)).toEqual(["deleted", "saved"]);
});

test("keys forget what they may read and write, and nothing else", async () => {
  const ada = await server.account();
  const mine = await ada.save({ content: "Anna is in atlas.", project: "atlas" });
  const others = await ada.save({ content: "Anna is in borealis.", project: "borealis" });
  const bound = await server.client(ada.accountId, undefined, { project: "atlas", only: true });
  expect((await aboutOf(bound, "Anna")).memories.map(({ id }) => id)).toEqual([mine.id]);
  const json = { ids: [mine.id, others.id] };
  expect((await bound.send("POST", "/memories/forget", { json })).body).toMatchObject({
    deleted: 1,
  });
  expect((await ada.list()).memories.map(({ id }) => id)).toEqual([others.id]);
  const reader = await server.client(ada.accountId, ["memories:read"]);
  const refused = await reader.send("POST", "/memories/forget", { json });
  expectError(refused, { status: 403, code: "forbidden" });
  const bob = await server.account();
  expect((await bob.send("POST", "/memories/forget", { json })).body).toMatchObject({ deleted: 0 });
  expect((await ada.list()).memories).toHaveLength(1);
});

test("a person is told which of their spaces name the subject too", async () => {
  const ada = await addPerson(server, "ada");
  const bob = await addPerson(server, "bob");
  const space = await server.spaces.create(ada.accountId, "acme");
  await join(server, space, bob, "write");
  await ada.send("POST", "/memories?space=acme", { json: { content: "Anna joins on Monday." } });
  await bob.save({ content: "Anna is my sister." });
  const found = await aboutOf(bob, "Anna");
  expect(found.memories.map(({ excerpt }) => excerpt)).toEqual(["Anna is my sister."]);
  expect(found.spaces).toEqual([{ space: "acme", memories: 1 }]);
});

test("a request that names nothing is refused", async () => {
  const ada = await server.account();
  expectInvalid(await ada.send("GET", "/memories/about?q=%20"), "/q");
  expectInvalid(await ada.send("POST", "/memories/forget", { json: { ids: [] } }), "/ids");
});

test("of very many memories the answer has the first kinds, read in batches, and sessions are not counted one by one", async () => {
  const idOf = (at: number) => `mem_${String(at).padStart(32, "0")}`;
  const many = Array.from({ length: 1_300 }, (_, at) => ({
    ...{ ...UNSET, id: idOf(at), createdAt: at, updatedAt: at, sessionId: `${at % 650}` },
    content: at < 1_200 ? `Brunhilde called: ${at}` : `Nobody called: ${at}`,
    tags: at < 1_200 ? [] : ["Brunhilde"],
  }));
  const byId = new Map(many.map((row) => [row.id, row]));
  const batches: number[] = [];
  const table = {
    async *rows() {
      yield many;
    },
    find: async (ids: readonly string[]) => {
      batches.push(ids.length);
      return ids.flatMap((id) => byId.get(id) ?? []).reverse();
    },
  };
  const about = createAbout({
    store: { use: (_, task) => task({ table } as unknown as OpenTable) },
    clock: Date.now,
    search: async () => ({ memories: [], best: null }) as never,
  });
  const { memories, more, sessions } = await about(wholeAccount("acc_1"), "Brunhilde");
  const newest = Array.from({ length: 1_000 }, (_, at) => idOf(1_199 - at));
  expect(memories.map(({ id }) => id)).toEqual(newest);
  expect(more).toBe(300);
  // The memories that only have the tag are the others of sessions 550 to 649.
  expect(sessions).toHaveLength(100);
  expect(sessions.every(({ others }) => others === 1)).toBe(true);
  expect(Math.max(...batches)).toBeLessThanOrEqual(100);
});

test("a receipt counts only what the key may delete", async () => {
  const ada = await server.account();
  const { id } = await ada.save({ content: "Anna lives in Porto." });
  await ada.save({ content: "Anna lives in Graz.", supersedes: id });
  const bound = await server.client(ada.accountId, undefined, { project: "atlas", only: false });
  const { body } = await bound.send("POST", "/memories/forget", { json: { ids: [id] } });
  expect(body).toMatchObject({ deleted: 0, superseded: 0 });
});

test("where other servers have files too, no receipt says that they have left them, and nobody waits", async () => {
  const { forget, waitForFiles } = createForgetting({
    store: {
      use: (_, task) =>
        task({ hasRemains: () => null, table: { find: async () => [] } } as unknown as OpenTable),
    },
    clock: Date.now,
    search: async () => ({ memories: [], best: null }) as never,
    removeMatching: async () => 0,
  });
  const reach = wholeAccount("acc_1");
  const receipt = await forget(reach, { ids: [`mem_${"0".repeat(32)}`] });
  expect(await waitForFiles(reach, receipt)).toEqual(receipt);
  expect(receipt.left_files_at).toBeNull();
});
