import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { wholeAccount } from "../../src/keys/reach.ts";
import { startOAuthServer } from "../oauth/support/oauth-server.ts";
import { browserPath } from "../support/browser.ts";
import { sharedEmbedder } from "../support/embedder.ts";
import { saveSamples } from "./sample.ts";

/**
 * Checks the most used pages with Lighthouse, which also measures their speed. A busy machine spoils the measurement,
 * so the test runs only on request: `LONG=1 bun test test/e2e/lighthouse.test.ts`. It installs Lighthouse from npm.
 */
const LIGHTHOUSE = ["bunx", "lighthouse@13.5.0"];
const CATEGORIES = ["performance", "accessibility", "best-practices", "seo"];
/** Minimum score in each category. */
const LEAST = 0.95;
const TIMEOUT = 120_000;
const isLong = process.env.LONG === "1";

const Report = Type.Object({
  categories: Type.Record(Type.String(), Type.Object({ score: Type.Number() })),
  audits: Type.Record(
    Type.String(),
    Type.Object({ title: Type.String(), score: Type.Union([Type.Number(), Type.Null()]) }),
  ),
});

let server: Awaited<ReturnType<typeof startOAuthServer>>;
let session: string;
let memory: string;

beforeAll(async () => {
  if (!isLong) return;
  server = await startOAuthServer({ embedder: sharedEmbedder() });
  const { id } = await server.accounts.add({ email: "sam@example.com", password: null });
  await saveSamples((each) => server.memories.saveAll(wholeAccount(id), [each]), server.clock);
  const { memories } = await server.memories.list(wholeAccount(id), { filter: {}, limit: 1 });
  memory = memories[0]?.id ?? "";
  session = await server.sessions.begin(id);
});
afterAll(() => server?.close());

test.skipIf(!isLong).each([
  ["the overview on a computer", (): string => "/", ["--preset=desktop"]],
  ["the overview on a phone", (): string => "/", []],
  ["memories on a computer", (): string => "/memories", ["--preset=desktop"]],
  ["memories on a phone", (): string => "/memories", []],
  ["the agents on a phone", (): string => "/agents", []],
  ["the projects on a phone", (): string => "/projects", []],
  ["a project on a phone", (): string => "/projects/acme%2Fbilling", []],
  ["a memory on a computer", (): string => `/memories/${memory}`, ["--preset=desktop"]],
  ["a memory on a phone", (): string => `/memories/${memory}`, []],
] as const)(
  "Lighthouse finds nothing wrong with %s",
  async (_, pathOf, options) => {
    const { categories, audits } = await measure(server.origin + pathOf(), options);
    const scores = Object.entries(categories).map(([name, { score }]) => [name, score] as const);
    const missed = Object.entries(audits)
      .filter(([, { score }]) => score !== null && score < LEAST)
      .map(([name, { score, title }]) => `${name}: ${score} ${title}`);
    console.info(scores.map((each) => each.join(" ")).join(", "), missed);
    expect(scores.map(([name]) => name)).toEqual(CATEGORIES);
    expect(scores.filter(([, score]) => score < LEAST)).toEqual([]);
  },
  TIMEOUT,
);

async function measure(url: string, options: readonly string[]): Promise<Static<typeof Report>> {
  const child = Bun.spawn(
    [
      ...[...LIGHTHOUSE, url, "--output=json", "--quiet", ...options],
      "--chrome-flags=--headless=new --no-sandbox",
      `--only-categories=${CATEGORIES}`,
      `--extra-headers=${JSON.stringify({ cookie: `ctxd-session=${session}` })}`,
    ],
    { env: { ...process.env, CHROME_PATH: browserPath() }, stderr: "inherit" },
  );
  const text = await new Response(child.stdout).text();
  expect(await child.exited).toBe(0);
  return Value.Parse(Report, JSON.parse(text));
}
