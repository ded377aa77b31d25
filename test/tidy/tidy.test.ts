import { afterAll, expect, test } from "bun:test";
import type { TidyKind, TidyOutcome, TidyReport } from "../../src/memories/rules/tidy/report.ts";
import { UNDO_MS } from "../../src/undo/undoable.ts";
import type { Client } from "../support/client.ts";
import { sharedEmbedder } from "../support/embedder.ts";
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
