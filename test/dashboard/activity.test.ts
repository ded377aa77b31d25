import { afterAll, describe, expect, test } from "bun:test";
import type { Action } from "../../src/activity/action.ts";
import type { ActivityEvent } from "../../src/activity/activity-reports.ts";
import {
  actorsOf,
  barsOf,
  describeEvent,
  firstDay,
  groupEvents,
  namesOf,
} from "../../src/dashboard/activity/activity-view.ts";
import { startOAuthServer } from "../oauth/support/oauth-server.ts";
import { formTo } from "../oauth/support/person.ts";
import { pagesOf } from "./support/list-pages.ts";

const NOW = Date.parse("2026-11-22T08:00:00Z");

function event(more: Partial<ActivityEvent> = {}): ActivityEvent {
  return {
    ...{ id: 1, accountId: "acc", at: new Date(NOW), kind: "searched", sourceId: "key_1" },
    ...{ source: "laptop", agent: null, times: 1, inVain: 0, memories: 1 },
    ...{ memoryId: null, query: null, ...more },
  };
}

describe("the counts of the page:", () => {
  test("each day has a bar with saved memories and questions", () => {
    const daily = [
      { day: "2026-11-22", kind: "saved", times: 2, memories: 5 },
      { day: "2026-11-22", kind: "captured", times: 1, memories: 3 },
      { day: "2026-11-22", kind: "recalled", times: 4, memories: 9 },
      { day: "2026-11-20", kind: "searched", times: 1, memories: 0 },
      { day: "2026-11-20", kind: "deleted", times: 1, memories: 7 },
      { day: "2026-11-01", kind: "searched", times: 1, memories: 0 },
    ] as const;
    expect(barsOf(daily, 3, NOW)).toEqual([
      { day: "2026-11-20", saved: 0, asked: 1 },
      { day: "2026-11-21", saved: 0, asked: 0 },
      { day: "2026-11-22", saved: 8, asked: 4 },
    ]);
    const weeks = barsOf(daily, 90, NOW);
    expect(weeks.length).toBe(13);
    expect(weeks[0]).toEqual({ day: firstDay(90, NOW), saved: 0, asked: 0 });
    expect(weeks.slice(-4)).toEqual([
      { day: "2026-10-26", saved: 0, asked: 1 },
      { day: "2026-11-02", saved: 0, asked: 0 },
      { day: "2026-11-09", saved: 0, asked: 0 },
      { day: "2026-11-16", saved: 8, asked: 5 },
    ]);
    expect(firstDay(3, NOW)).toBe("2026-11-20");
  });

  test("active agents are listed with their totals, most recent first", () => {
    const of = (sourceId: string, agent: string | null, kind: Action["kind"], lastAt: number) => ({
      ...{ sourceId, source: "laptop", agent, kind, times: 3, inVain: 1, memories: 4 },
      lastAt: new Date(lastAt),
    });
    const counts = [
      of("key_1", "codex", "searched", 1),
      of("acc", null, "saved", 3),
      of("key_1", "codex", "recalled", 2),
      of("key_1", "codex", "saved", 0),
    ];
    expect(actorsOf(counts, "acc")).toEqual([
      {
        ...{ sourceId: "acc", agent: null },
        name: "You",
        by: null,
        href: "/memories?source=acc",
        saved: 4,
        asked: 0,
        found: 0,
        brought: 0,
        kinds: ["saved"],
        lastAt: new Date(3),
      },
      {
        ...{ sourceId: "key_1", agent: "codex" },
        name: "codex",
        by: "laptop",
        href: "/memories?agent_id=codex",
        saved: 4,
        asked: 6,
        found: 4,
        brought: 8,
        kinds: ["searched", "recalled", "saved"],
        lastAt: new Date(2),
      },
    ]);
    const local = { sourceId: "local", source: "local" };
    expect(namesOf({ ...local, agent: null }, "acc").name).toBe("Agents on this machine");
    expect(namesOf({ ...local, agent: "codex" }, "acc").by).toBe("on this machine");
  });

  test("repeated actions are shown as one event with all results", () => {
    const events = [
      event({ id: 4, memoryId: "mem_1" }),
      event({ id: 3, times: 2, inVain: 1, memories: 3, memoryId: "mem_2" }),
      event({ id: 2, query: "deploys" }),
      event({ id: 1, query: "deploys", at: new Date(NOW - 3_600_000) }),
    ];
    expect(groupEvents(events)).toMatchObject([
      { id: 4, times: 3, inVain: 1, memories: 4, memoryId: "mem_1" },
      { id: 2, times: 1 },
      { id: 1, times: 1 },
    ]);
  });

  test.each([
    [{}, "searched, found a memory"],
    [{ times: 2, memories: 12 }, "searched twice, found 12 memories"],
    [{ times: 1_200, inVain: 1_200, memories: 0 }, "searched 1,200 times, found nothing"],
    [{ kind: "recalled", memories: 3 }, "recalled, found 3 memories"],
    [{ kind: "saved" }, "saved a memory"],
    [{ kind: "deleted", memories: 2 }, "deleted 2 memories"],
    [{ kind: "captured", memories: 2 }, "captured 2 turns"],
  ] as const)("%j is described as: %s", (more, words) => {
    expect(describeEvent(event(more))).toBe(words);
  });
});

describe("the page", async () => {
  const server = await startOAuthServer();
  afterAll(server.close);

  test("shows the actions of each client, only to the account's person", async () => {
    const { accountId, person } = await server.signedIn();
    const other = await server.signedIn();
    expect((await person.visit("/activity")).text).toContain("Nothing has happened yet");
    const client = await server.client(accountId);
    const content = "The <b>staging</b> server is Otter";
    const { id } = await client.save({ content });
    await client.search("which server?");
    server.activity.record({
      ...{ accountId, kind: "changed", source: { id: "key_1", by: "laptop" }, agent: "<i>codex" },
      ...{ memories: 1, memoryId: id, query: null },
    });
    await server.activity.flush();
    const { text } = await person.visit("/activity");
    expect(text).toContain("&lt;i&gt;codex");
    expect(text).not.toContain("<b>staging");
    expect(text).toContain(`href="/memories/${id}"`);
    expect(text).toContain("searched, found a memory");
    expect(text).not.toContain("which server?");
    expect((await other.person.visit("/activity")).text).toContain("Nothing has happened yet");
    await client.remove(id);
    expect((await person.visit("/activity")).text).not.toContain(`href="/memories/${id}"`);
  });

  test("counts a question in the dashboard when it is sent, not while it is typed", async () => {
    const { accountId, person } = await server.signedIn();
    for (const typed of ["/memories?q=wh", "/memories?q=which+serv", "/memories?q=what"]) {
      await person.visit(typed, { "ctxd-part": "results" });
    }
    await person.visit("/memories?q=which+server");
    await server.activity.flush();
    const events = await server.activity.list(accountId, { limit: 9 });
    expect(events).toMatchObject([{ kind: "searched", times: 1 }]);
  });

  test("keeps questions if the person turns this on, and deletes them when turned off", async () => {
    const { accountId, person } = await server.signedIn();
    const client = await server.client(accountId);
    await person.submit(formTo(await person.visit("/activity"), "/activity/queries"), {});
    await client.search("which server is it?");
    await server.activity.flush();
    const shown = await person.visit("/activity");
    expect(shown.text).toContain("<bdi>which server is it?</bdi>");
    expect(shown.text).toContain("Stop and delete questions");
    const stop = "/activity/queries/stop";
    const asked = await person.visit(stop);
    expect(asked.text).toContain("Delete the kept questions?");
    expect(await server.activity.queriesSince(accountId)).not.toBeNull();
    await person.submit(formTo(asked, stop), {});
    const after = await person.visit("/activity");
    expect(after.text).not.toContain("which server is it?");
    expect(after.text).toContain("searched, found nothing");
    const foreign = await fetch(`${server.origin}/activity/queries`, {
      method: "POST",
      body: new URLSearchParams(),
      headers: { cookie: `ctxd-session=${person.jar.get("ctxd-session")}` },
      redirect: "manual",
    });
    expect(foreign.status).toBe(403);
    expect(await server.activity.queriesSince(accountId)).toBeNull();
  });

  test("has pages of events and ranges of days, and accepts invalid addresses", async () => {
    const { accountId, person } = await server.signedIn();
    const source = { id: "key_1", by: "laptop" };
    for (let number = 0; number < 70; number++) {
      const action = { accountId, source, agent: `agent ${number}.`, memories: 1 };
      server.activity.record({ ...action, kind: "saved", memoryId: null, query: null });
      await server.activity.flush();
    }
    const seen = new Set<string>();
    const pages = await pagesOf(person, "/activity?days=7");
    for (const text of pages) {
      expect(Buffer.byteLength(text)).toBeLessThan(60_000);
      const list = /<ol class="activity-events">.*<\/ol>/s.exec(text)?.[0] ?? "";
      for (const [name] of list.matchAll(/agent \d+\./g)) seen.add(name);
    }
    expect(seen.size).toBe(70);
    expect(pages).toHaveLength(3);
    for (const query of ["days=90", "days=-1", "days=x&before=x", "before=0", "before=1e99"]) {
      expect((await person.visit(`/activity?${query}`)).status).toBe(200);
    }
  });
});
