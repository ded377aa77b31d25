import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Case } from "../stalls/case.ts";
import { fillEdges } from "../stalls/edges.ts";
import { measureParsing, PARSING_MS } from "../stalls/measure-parsing.ts";
import { measure } from "../stalls/measure-step.ts";
import { memoryCases } from "../stalls/memory-cases.ts";
import { personCases } from "../stalls/person-cases.ts";
import { type ProbedServer, startProbedServer } from "../stalls/probed-server.ts";
import { APART, routeName } from "../stalls/routes-apart.ts";
import { AS_CONNECTOR, connectHttp } from "../support/mcp.ts";
import { startServer } from "../support/server.ts";

/**
 * No step of the main thread takes more than 100 ms, whatever an account holds. Here accounts have a fiftieth of what
 * `test/stalls/law.ts` measures, and steps twice the time of a quiet machine: work that grows faster than its account shows
 * all the same.
 */
const SCALE = 0.02;
const RATIO = 16;
/** Requests that can be sent again: a step may include a garbage collection or a compilation, which does not come again. */
const REPEATABLE = /^(GET |MCP |POST \/api\/memories(\/(capture|recall|batch|import))?$)/;
/** Requests that a server must refuse, after it has looked at what the account has. */
const REFUSED = ["POST /memories/:id", "POST /memories/selection/undo"];

const folder = mkdtempSync(join(tmpdir(), "ctxd-test-"));
let server: ProbedServer;
const accounts = new Map<string, Case[]>();
beforeAll(async () => {
  const { edges, owner } = await fillEdges(folder, SCALE);
  for (const edge of edges) accounts.set(edge.name, memoryCases(edge));
  accounts.set("many rows", personCases(owner));
  server = await startProbedServer(folder, "real", {}, ["stand-in-engine.ts"]);
  // The first requests compile what they run.
  const [first] = edges;
  for (const each of first ? memoryCases(first).slice(0, 60) : []) await measure(server, each);
}, 120_000);
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

// Many rows come first: some of their requests want a session that is younger than ten minutes.
test.each([
  ...["many rows", "many memories", "longest labels", "equal texts", "longest texts"],
  ...["one session", "longest histories"],
])(
  "no request takes a long step for an account with %s",
  async (name) => {
    const answered = new Set<string>();
    const cases = accounts.get(name) ?? [];
    for (const each of cases) {
      let { status, cpu } = await measure(server, each);
      // The machine is measured only for a step that would be long on a quiet one, too.
      const isLong = () => cpu > RATIO * PARSING_MS && cpu > RATIO * measureParsing();
      if (isLong() && REPEATABLE.test(each.route)) ({ status, cpu } = await measure(server, each));
      const { route, path } = each;
      expect({ route, path, cpu, isLong: isLong() }).toMatchObject({ isLong: false });
      expect(status).toBeLessThan(500);
      if (status < 400) answered.add(each.route);
    }
    const refused = new Set(cases.map(({ route }) => route)).difference(answered);
    expect([...refused].filter((route) => !REFUSED.includes(route))).toEqual([]);
  },
  300_000,
);

/** Counts how many requests of an account are answered, eight at a time, while another person saves and searches. */
async function countBeside({ path, init }: Case): Promise<number> {
  const { origin, key } = server;
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const ask = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${origin}/api/memories${path}`, { ...init, headers });
    expect(response.ok).toBe(true);
    await response.arrayBuffer();
  };
  let answered = 0;
  let isOver = false;
  const repeating = Array.from({ length: 8 }, async () => {
    for (; !isOver; answered++) await (await fetch(origin + path, init)).arrayBuffer();
  });
  const useMemories = async () => {
    for (let n = 0; n < 10; n++) {
      await ask("", { method: "POST", body: JSON.stringify({ content: `Invoice ${n} is paid.` }) });
      await ask(`/search?q=invoice+${n}`);
    }
  };
  // By then the main thread is known to be busy.
  await useMemories();
  const before = answered;
  await useMemories();
  const meanwhile = answered - before;
  isOver = true;
  await Promise.all(repeating);
  return meanwhile;
}

test("nobody waits for all requests of an account with long texts", async () => {
  const search = accounts.get("longest texts")?.find(({ path }) => path.startsWith("/memories?q="));
  if (!search) throw new Error("no search");
  // Twenty requests, and for each no more than one or two of the others.
  expect(await countBeside(search)).toBeLessThan(40);
});

test("each route and each tool is measured, or has a reason not to be", async () => {
  // All routes are there only with all settings.
  await using started = await startServer({ config: { securityContact: "you@example.com" } });
  const apart: readonly string[] = Object.values(APART).flat();
  const measured = [...accounts.values()].flat().map(({ route }) => route);
  const known = new Set([...apart, ...measured]);
  const routes = new Set(started.routes.map(routeName));
  expect([...routes].filter((route) => !known.has(route)).sort()).toEqual([]);
  // Nothing is listed that is gone.
  const gone = [...known].filter((route) => !route.startsWith("MCP ") && !routes.has(route));
  expect(gone).toEqual([]);

  const { key } = await started.account();
  for (const headers of [{}, AS_CONNECTOR]) {
    const client = await connectHttp("v2 new", started.origin, {
      authorization: `Bearer ${key}`,
      ...headers,
    });
    try {
      const tools = await client.tools();
      expect(tools.filter(({ name }) => !known.has(`MCP ${name}`))).toEqual([]);
    } finally {
      await client.close();
    }
  }
});
