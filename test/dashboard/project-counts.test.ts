import { expect, test } from "bun:test";
import { createProjectCounts } from "../../src/dashboard/memories/project-switch.tsx";
import type { Stats } from "../../src/memories/rules/stats.ts";
import { startOAuthServer } from "../oauth/support/oauth-server.ts";

const NONE: Stats = {
  ...{ memories: 0, bytes: 0, oldest: null, newest: null },
  ...{ tags: [], agents: [], projects: [], days: [], fading: [] },
};

test("a page does not wait for slow counts, and a later page shows them", async () => {
  const asked: PromiseWithResolvers<Stats>[] = [];
  const stats = () => {
    const one = Promise.withResolvers<Stats>();
    asked.push(one);
    return one.promise;
  };
  const countsOf = createProjectCounts({ memories: { stats }, timeoutMs: 1 });
  expect(await countsOf("acc_1")).toEqual([]);
  expect(await countsOf("acc_1")).toEqual([]);
  expect(asked).toHaveLength(1);
  const projects = [{ project: "atlas", memories: 3, changed_at: "2026-01-01T00:00:00Z" }];
  asked[0]?.resolve({ ...NONE, projects });
  expect(await countsOf("acc_1")).toEqual(projects);
  expect(asked).toHaveLength(1);

  expect(await countsOf("acc_2")).toEqual([]);
  asked[1]?.reject(new Error("broken"));
  // Lets the handlers of the rejection run, which remove the failed count.
  await Bun.sleep(0);
  expect(await countsOf("acc_2")).toEqual([]);
  expect(asked).toHaveLength(3);
});

test("with very many memories a page shows the last counts while new ones are made", async () => {
  const counted = (memories: number) => [
    { project: "atlas", memories, changed_at: "2026-01-01T00:00:00Z" },
  ];
  let stats: Promise<Stats> = Promise.resolve({ ...NONE, projects: counted(20_000) });
  const countsOf = createProjectCounts({ memories: { stats: () => stats }, timeoutMs: 1_000 });
  expect(await countsOf("acc_1")).toEqual(counted(20_000));
  const again = Promise.withResolvers<Stats>();
  stats = again.promise;
  expect(await countsOf("acc_1")).toEqual(counted(20_000));
  again.resolve({ ...NONE, projects: counted(20_001) });
  expect(await countsOf("acc_1")).toEqual(counted(20_001));
});

test("results requested while typing come without projects and sources", async () => {
  await using server = await startOAuthServer();
  const { accountId, person } = await server.signedIn();
  await (await server.client(accountId)).save({ content: "One", project: "atlas" });
  const { text: page } = await person.visit("/memories?q=One");
  expect(page).toContain("project=atlas");
  const cookie = [...person.jar].map(([name, value]) => `${name}=${value}`).join("; ");
  const answer = await fetch(`${server.origin}/memories?q=One`, {
    headers: { cookie, "ctxd-part": "results" },
  });
  const part = await answer.text();
  expect(part).toContain('id="results"');
  expect(part).not.toContain('aria-label="Projects"');
});
