import { afterAll, expect, test } from "bun:test";
import { wholeAccount } from "../../src/keys/reach.ts";
import type { TidyKind, TidyOutcome, TidyReport } from "../../src/memories/rules/tidy/report.ts";
import { UNDO_MS } from "../../src/undo/undoable.ts";
import type { Client } from "../support/client.ts";
import { sharedEmbedder } from "../support/embedder.ts";
import { expectError } from "../support/errors.ts";
import { AT_ONCE } from "../support/kept-table.ts";
import { startServer } from "../support/server.ts";
import { until } from "../support/until.ts";

const server = await startServer({ embedder: sharedEmbedder(), due: AT_ONCE });
afterAll(server.close);

const DAY = 86_400_000;

async function report(client: Client, query = ""): Promise<TidyReport> {
  const { status, body } = await client.send("GET", `/memories/tidy${query}`);
  expect(status).toBe(200);
  return body as TidyReport;
}

/** The report once it has so many groups of a kind, and all memories were compared. */
const withGroups = (client: Client, kind: TidyKind, count: number): Promise<TidyReport> =>
  until(`${count} groups of ${kind}`, async () => {
    const found = await report(client);
    return found.kinds[kind] === count && found.compared === 1 && found;
  });

async function apply(client: Client, groups: readonly { id: string; action?: string }[]) {
  const answer = await client.send("POST", "/memories/tidy", { json: { groups } });
  expect(answer.status).toBe(200);
  return answer.body as TidyOutcome;
}

const soon = (days: number) => new Date(server.clock() + days * DAY).toISOString();

async function applyAllDue() {
  server.clock.advance(UNDO_MS);
  await server.undoable.applyDue();
}

test("memories that say the same are a group, which keeps the newest and the others as its history", async () => {
  const client = await server.account();
  const older = await client.save({ content: "The user prefers tabs over spaces." });
  server.clock.advance(DAY);
  const newer = await client.save({ content: "The user prefers tabs to spaces." });
  await client.save({ content: "The release train leaves every second Tuesday." });
  const { kinds, groups } = await withGroups(client, "restatements", 1);
  expect(kinds).toMatchObject({ restatements: 1, contradictions: 0, never_found: null });
  const [group] = groups;
  expect(group).toMatchObject({
    kind: "restatements",
    proposal: { action: "supersede", keep: newer.id },
    reason: "2 memories say the same.",
  });
  expect(group?.memories.map(({ id }) => id)).toEqual([newer.id, older.id]);
  const outcome = await apply(client, [{ id: group?.id ?? "" }]);
  expect(outcome).toMatchObject({ superseded: 1, deleted: 0 });
  expect((await report(client)).groups).toEqual([]);
  await applyAllDue();
  expect(await client.get(newer.id)).toMatchObject({ supersedes: older.id });
  expect(await client.get(older.id)).toMatchObject({ superseded_by: newer.id });
  await withGroups(client, "restatements", 0);
});

test("a later memory that changes a fact supersedes the earlier one, and what is both true stays", async () => {
  const client = await server.account();
  const older = await client.save({ content: "Emil lives in Graz." });
  await client.save({ content: "Hanna lives in Graz." });
  server.clock.advance(DAY);
  const newer = await client.save({ content: "Emil lives in Turku." });
  const { groups } = await withGroups(client, "contradictions", 1);
  expect(groups.map(({ memories }) => memories.map(({ id }) => id))).toEqual([
    [newer.id, older.id],
  ]);
  expect(groups[0]?.proposal).toEqual({ action: "supersede", keep: newer.id });
});

test("memories of two projects are not compared, and a removed memory leaves its group", async () => {
  const client = await server.account();
  const content = "The user prefers tabs over spaces.";
  const { id } = await client.save({ content });
  await client.save({ content: `${content}!` });
  await client.save({ content: `${content}!!`, project: "atlas" });
  const { groups } = await withGroups(client, "restatements", 1);
  expect(groups[0]?.memories).toHaveLength(2);
  await client.remove(id);
  expect((await report(client)).groups).toEqual([]);
});

test("a group that has changed is refused, and nothing is applied", async () => {
  const client = await server.account();
  await client.save({ content: "The user prefers tabs over spaces." });
  const { id } = await client.save({ content: "The user prefers tabs over spaces!" });
  const [group] = (await withGroups(client, "restatements", 1)).groups;
  server.clock.advance(1);
  await client.update(id, { content: "The user prefers tea." });
  const json = { groups: [{ id: group?.id ?? "" }] };
  const answer = await client.send("POST", "/memories/tidy", { json });
  expectError(answer, { status: 409, code: "conflict" });
  expect(await server.undoable.list(client.accountId)).toEqual([]);
});

test("applying can be undone, and a preview changes nothing", async () => {
  const client = await server.account();
  const { id } = await client.save({ content: "The demo is frozen.", expires_at: soon(3) });
  const [group] = (await report(client, "?kind=expiring")).groups;
  expect(group).toMatchObject({ kind: "expiring", proposal: { action: "expire" } });
  const groups = [{ id: group?.id ?? "", action: "pin" }];
  const preview = { json: { groups, dry_run: true } };
  const { body } = await client.send("POST", "/memories/tidy", preview);
  expect(body).toMatchObject({ pinned: 1, undo: null });
  const { undo } = await apply(client, groups);
  expect(await client.send("DELETE", `/memories/tidy?undo=${undo}`)).toMatchObject({ status: 200 });
  await applyAllDue();
  expect(await client.get(id)).toMatchObject({ pinned: false });
  await apply(client, groups);
  await applyAllDue();
  expect(await client.get(id)).toMatchObject({ pinned: true, expires_at: null });
});

test("what was changed after the proposal was accepted is left alone", async () => {
  const client = await server.account();
  const first = await client.save({ content: "The user prefers tabs over spaces." });
  await client.save({ content: "The user prefers tabs over spaces!" });
  const [group] = (await withGroups(client, "restatements", 1)).groups;
  await apply(client, [{ id: group?.id ?? "", action: "delete" }]);
  server.clock.advance(1);
  await client.update(first.id, { content: "The user prefers tea." });
  await applyAllDue();
  expect(await client.get(first.id)).toMatchObject({ content: "The user prefers tea." });
});

test("groups with a memory in common are refused together", async () => {
  const client = await server.account();
  await client.save({ content: "The user prefers tabs over spaces.", expires_at: soon(3) });
  await client.save({ content: "The user prefers tabs over spaces!" });
  const same = (await withGroups(client, "restatements", 1)).groups[0];
  const [expiring] = (await report(client, "?kind=expiring")).groups;
  const json = { groups: [{ id: same?.id ?? "" }, { id: expiring?.id ?? "" }] };
  const answer = await client.send("POST", "/memories/tidy", { json });
  expectError(answer, { status: 422, code: "validation_failed" });
});

test("a change that a killed server has begun is applied again, with the same result", async () => {
  const client = await server.account();
  const [oldest, older, newest] = await client.saveAll(
    ["one", "two", "three"].map((content) => ({ content })),
  );
  const ids = [older?.id ?? "", oldest?.id ?? ""];
  const change = { kind: "supersede", keep: newest?.id ?? "", ids } as const;
  const reach = wholeAccount(client.accountId);
  expect(await server.undoable.applyNow(reach, { ...change, ids: ids.slice(0, 1) })).toBe(1);
  expect(await server.undoable.applyNow(reach, change)).toBe(1);
  expect(await server.undoable.applyNow(reach, change)).toBe(0);
  const { body } = await client.send("GET", `/memories/${newest?.id}/history`);
  const { memories } = body as { memories: { id: string }[] };
  expect(memories.map(({ id }) => id)).toEqual([newest?.id ?? "", ...ids]);
});

test("memories of a revoked key and with secrets are listed, and a lone project may be merged", async () => {
  const client = await server.account();
  const lost = await server.client(client.accountId);
  const written = await lost.save({ content: "The moon is made of cheese." });
  await server.keys.revoke(client.accountId, written.source?.id ?? "");
  const json = { content: `The token is ghp_${"a1B2c3D4e5F6".repeat(3)}.` };
  expect((await client.send("POST", "/memories", { json })).status).toBe(201);
  await client.save({ content: "The atlas service listens on port 8080.", project: "atlas" });
  await client.save({ content: "The atlas service has a timeout of 5 s.", project: "atlas" });
  const lone = await client.save({
    content: "The atlas service runs on port 8081.",
    project: "old",
  });
  server.clock.advance(8 * DAY);
  const { kinds } = await report(client);
  expect(kinds).toMatchObject({ revoked: 1, small_projects: 1 });
  expect((await report(client, "?kind=secrets")).groups).toHaveLength(1);
  const [group] = (await report(client, "?kind=small_projects")).groups;
  expect(group).toMatchObject({ proposal: { action: "merge", project: "atlas" } });
  await apply(client, [{ id: group?.id ?? "" }]);
  await applyAllDue();
  expect(await client.get(lone.id)).toMatchObject({ project: "atlas" });
});

test("a key that is bound to a project tidies its memories alone", async () => {
  const client = await server.account();
  const bound = await server.client(client.accountId, undefined, { project: "atlas", only: false });
  for (const project of ["atlas", "borealis", null]) {
    await client.save({ content: "The demo is frozen.", project, expires_at: soon(3) });
  }
  expect((await report(client)).kinds.expiring).toBe(3);
  const { kinds, groups } = await report(bound);
  expect(kinds.expiring).toBe(1);
  expect(groups[0]?.memories[0]?.project).toBe("atlas");
});

test("a memory that nothing has found in 180 days is listed until it is to expire", async () => {
  const client = await server.account();
  const { id } = await client.save({ content: "The heron nests in March." });
  server.clock.advance(181 * DAY);
  const { groups } = await withGroups(client, "never_found", 1);
  expect(groups.map(({ kind, memories }) => [kind, memories[0]?.id])).toContainEqual([
    "never_found",
    id,
  ]);
  await apply(client, [{ id: groups.find(({ kind }) => kind === "never_found")?.id ?? "" }]);
  await applyAllDue();
  expect(await client.get(id)).toMatchObject({ expires_at: expect.any(String) });
  await withGroups(client, "never_found", 0);
});

test("a memory that is alone in its project stays unless another project is near, and once it is pinned nobody asks again", async () => {
  const client = await server.account();
  const lone = await client.save({
    content: "The heron's wing spans two metres.",
    project: "birds",
  });
  server.clock.advance(8 * DAY);
  const [group] = (await report(client, "?kind=small_projects")).groups;
  expect(group).toMatchObject({ proposal: { action: "pin" }, actions: ["pin", "delete"] });
  await apply(client, [{ id: group?.id ?? "" }]);
  await applyAllDue();
  expect(await client.get(lone.id)).toMatchObject({ pinned: true, project: "birds" });
  expect((await report(client, "?kind=small_projects")).groups).toEqual([]);
});
