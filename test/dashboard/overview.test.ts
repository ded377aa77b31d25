import { afterAll, describe, expect, test } from "bun:test";
import { growthOf, roundedUp } from "../../src/dashboard/overview/growth-chart.tsx";
import { retentionBands } from "../../src/dashboard/overview/overview-routes.tsx";
import type { CheckResult } from "../../src/http/health.ts";
import { generateKey } from "../../src/keys/new-key.ts";
import { wholeAccount } from "../../src/keys/reach.ts";
import { SCOPES } from "../../src/keys/scopes.ts";
import type { NewMemory } from "../../src/memories/model/memory.ts";
import { sizeText } from "../../src/text/number-text.ts";
import { startOAuthServer } from "../oauth/support/oauth-server.ts";
import type { Page } from "../oauth/support/person.ts";

const DAY = 86_400_000;
/** The texts of a list of memories. */
const TEXTS = /class="memory-text"[^>]*><bdi>(.*?)<\/bdi>/g;

/** Counts with one memory per day, for a number of days up to 2026-11-21. */
function daily(count: number) {
  const last = Date.parse("2026-11-21");
  return {
    memories: count,
    days: Array.from({ length: count }, (_, index) => ({
      day: new Date(last - (count - 1 - index) * DAY).toISOString().slice(0, 10),
      memories: 1,
    })),
  };
}

/** Noon of the last day. */
const NOW = Date.parse("2026-11-21T12:00:00Z");

describe("growth", () => {
  test("a month is shown by day, up to today, and includes earlier memories in the total", () => {
    const growth = growthOf({ ...daily(3), memories: 10 }, "month", NOW + DAY);
    expect(growth).toHaveLength(30);
    expect(growth.slice(-4)).toEqual([
      { from: "2026-11-19", to: "2026-11-19", added: 1, total: 8 },
      { from: "2026-11-20", to: "2026-11-20", added: 1, total: 9 },
      { from: "2026-11-21", to: "2026-11-21", added: 1, total: 10 },
      { from: "2026-11-22", to: "2026-11-22", added: 0, total: 10 },
    ]);
    expect(growth[0]).toEqual({ from: "2026-10-24", to: "2026-10-24", added: 0, total: 7 });
  });

  test("a year is shown by week", () => {
    const growth = growthOf(daily(400), "year", NOW);
    expect(growth).toHaveLength(52);
    expect(growth.at(-1)).toEqual({ from: "2026-11-15", to: "2026-11-21", added: 7, total: 400 });
    expect(growth[0]).toMatchObject({ added: 7, total: 400 - 51 * 7 });
  });

  test("the chart has at most 60 points and at least 14 days", () => {
    const growth = growthOf(daily(3_000), "all", NOW);
    expect(growth).toHaveLength(60);
    expect(growth.at(-1)).toMatchObject({ to: "2026-11-21", total: 3_000 });
    expect(growth.reduce((sum, { added }) => sum + added, 0)).toBe(3_000);
    expect(growthOf(daily(1), "all", NOW)).toHaveLength(14);
    expect(growthOf({ memories: 0, days: [] }, "all", NOW).at(-1)).toMatchObject({ total: 0 });
  });

  test("the chart includes future days after the clock was set back", () => {
    expect(growthOf(daily(3), "month", NOW - 10 * DAY).at(-1)).toMatchObject({
      to: "2026-11-21",
      total: 3,
    });
  });
});

test.each([
  [0, 1],
  [1, 1],
  [7, 8],
  [24, 30],
  [1_037, 1_500],
  [100_000, 100_000],
])("%d is rounded up to %d", (number, rounded) => {
  expect(roundedUp(number)).toBe(rounded);
});

test("every memory is counted in one retention band", () => {
  const cells = [1, 0.75, 0.74, 0.5, 0.26, 0.1, 0].map((retention) => ({
    ...{ retention, memories: 2, age_days: 0, importance: 0.5 },
  }));
  expect(retentionBands({ fading: cells }).map(({ memories }) => memories)).toEqual([4, 4, 2, 4]);
});

test.each([
  [0, "0 bytes"],
  [999, "999 bytes"],
  [1_000, "1.0 KB"],
  [67_400, "67 KB"],
  [660_800_000, "661 MB"],
  [5e15, "5000 TB"],
])("%d bytes are %s", (bytes, text) => {
  expect(sizeText(bytes)).toBe(text);
});

describe("what needs attention", async () => {
  const checks: Record<string, CheckResult> = { database: "ok", backups: "ok", vectors: "ok" };
  const server = await startOAuthServer({
    checks: Object.fromEntries(
      Object.keys(checks).map((name) => [name, () => checks[name] ?? "ok"]),
    ),
  });
  afterAll(server.close);
  // The first account is the owner's.
  const owner = await server.signedIn();

  /** The links of the list on the overview, and what is beside them; empty without the list. */
  async function attention({ person }: Awaited<ReturnType<typeof server.signedIn>>) {
    const { text } = await person.visit("/");
    const list = /aria-labelledby="attention">.*?<\/section>/s.exec(text)?.[0] ?? "";
    return [...list.matchAll(/<li>(.*?)<\/li>/gs)].map(([, line = ""]) =>
      line.replaceAll(/<\/?(?:a|bdi|span|time)\b(?: href="([^"]*)")?[^>]*>/g, "$1 ").trim(),
    );
  }

  test("is nothing of a new account, and its agents that went silent later", async () => {
    const client = await server.client(owner.accountId);
    await client.save({ content: "The staging server is Otter" });
    expect(await attention(owner)).toEqual([]);

    const by = async (name: string, times: number) => {
      const wanted = { name, scopes: SCOPES, expiresAt: null, bound: null };
      const { record } = await server.keys.create(owner.accountId, wanted);
      const act = () =>
        server.activity.record({
          ...{ accountId: owner.accountId, kind: "searched", source: { id: record.id, by: name } },
          ...{ agent: null, memories: 1, memoryId: null, query: null },
        });
      for (let time = 0; time < times; time++) act();
      await server.activity.flush();
      return { ...record, act };
    };
    const laptop = await by("laptop <b>", 10);
    const revoked = await by("old laptop", 10);
    await by("tried once", 1);
    await server.keys.revoke(owner.accountId, revoked.id);
    server.clock.advance(6 * 86_400_000);
    expect(await attention(owner)).toEqual([]);
    server.clock.advance(2 * 86_400_000);
    const [line, ...others] = await attention(owner);
    expect(line).toStartWith("/agents  laptop &lt;b&gt; is silent");
    expect(others).toEqual([]);
    laptop.act();
    await server.activity.flush();
    expect(await attention(owner)).toEqual([]);
  });

  test("is agents that no longer capture", async () => {
    const member = await server.signedIn();
    const client = await server.client(member.accountId);
    await client.save({ content: "The staging server is Otter" });
    const record = (kind: "captured" | "searched") =>
      server.activity.record({
        ...{ accountId: member.accountId, kind, source: { id: "local", by: "local" } },
        ...{ agent: "codex", memories: 1, memoryId: null, query: null },
      });
    record("captured");
    for (let day = 0; day < 2; day++) {
      await server.activity.flush();
      expect(await attention(member)).toEqual([]);
      server.clock.advance(DAY);
      record("searched");
    }
    await server.activity.flush();
    const [line, ...others] = await attention(member);
    expect(line).toStartWith("/agents  Codex on this machine");
    expect(line).toContain("was active on 2 days and captured nothing since");
    expect(others).toEqual([]);
  });

  test("is searches that find little, and keys that end", async () => {
    const member = await server.signedIn();
    const client = await server.client(member.accountId);
    for (let time = 0; time < 9; time++) await client.search("nothing");
    await client.save({ content: "The staging server is Otter" });
    await server.activity.flush();
    expect(await attention(member)).toEqual([]);
    await client.search("which server?");
    await server.activity.flush();
    const found = await attention(member);
    expect(found.join()).toContain("9 of 10 in 7 days found nothing");

    const in10Days = new Date(server.clock() + 10 * 86_400_000);
    const wanted = { name: "ci", scopes: SCOPES, expiresAt: in10Days, bound: null };
    const { record } = await server.keys.create(member.accountId, wanted);
    expect((await attention(member)).join()).toContain("The key “ci” expires");
    server.clock.advance(11 * 86_400_000);
    expect((await attention(member)).join()).toContain("The key “ci” has expired");
    await server.keys.revoke(member.accountId, record.id);
    expect((await attention(member)).join()).not.toContain("The key");
  });

  test("is memories with secrets and those that expire soon, with lists of exactly these", async () => {
    const member = await server.signedIn();
    const whole = wholeAccount(member.accountId);
    const save = async (memory: NewMemory, via: "api" | "capture" = "api") => {
      const source = { via, by: "laptop", id: "key_1" };
      const [saved] = await server.memories.saveAll(whole, [memory], { source });
      return saved?.id ?? "";
    };
    const inDays = (days: number) => new Date(server.clock() + days * DAY).toISOString();
    const secret = `The key is ${generateKey()}`;
    const first = await save({ content: secret });
    await save({ content: "Otter is full", expires_at: inDays(6) });
    await save({ content: "Heron is full", expires_at: inDays(8) });
    await save({ content: "said today", expires_at: inDays(1) }, "capture");
    const open = (only: string) => member.person.visit(`/memories?only=${only}`);
    const listed = async (only: string) =>
      [...(await open(only)).text.matchAll(TEXTS)].map(([, text]) => text);
    expect(await attention(member)).toEqual([
      "/memories?only=secret  1 memory contains a secret    that agents can read",
      "/memories?only=expiring  1 memory expires within 7 days    and will be deleted",
    ]);
    expect(await listed("secret")).toEqual([secret]);
    expect(await listed("expiring")).toEqual(["Otter is full"]);

    await save({ content: "not in the text", metadata: { key: generateKey() } });
    await server.memories.update(whole, first, { content: "The key is in the vault" });
    expect(await listed("secret")).toEqual(["not in the text"]);
    // After the clock was set back, new texts are found too.
    server.clock.advance(-DAY);
    const last = await save({ content: secret });
    expect(await listed("secret")).toEqual(["not in the text", secret]);
    server.clock.advance(DAY);
    expect((await attention(member)).join()).toContain("2 memories contain a secret");

    const press = (page: Page, changes: Record<string, string> = {}) => {
      const forms = page.forms.filter(({ action }) => action.includes("/selection"));
      return member.person.submit({ ...page, forms }, changes);
    };
    const wanted = { action: "delete", all: "1", id: last };
    await press(await press(await open("secret"), wanted));
    expect(await listed("secret")).toEqual([]);
    expect(await listed("")).toHaveLength(4);
  });

  test("is what fails of the server, for its owner alone", async () => {
    const member = await server.signedIn();
    await (await server.client(member.accountId)).save({ content: "The staging server is Otter" });
    Object.assign(checks, { database: "failed", backups: "late" });
    expect(await attention(member)).toEqual([]);
    Object.assign(checks, { vectors: "changing, 40 % done" });
    const states = (await attention(owner)).join();
    expect(states).toContain("Server: database");
    expect(states).toContain("No recent backup");
    expect(states).not.toContain("vectors");
  });
});
