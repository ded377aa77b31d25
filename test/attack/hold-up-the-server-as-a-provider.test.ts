import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { createProviders } from "../../src/sign-in/providers/providers.ts";
import { createPerson, type Page, type Person } from "../oauth/support/person.ts";
import { CLIENT, PROOFS } from "../sign-in/support/scripted-provider.ts";
import { measureParsing } from "../stalls/measure-parsing.ts";
import { type ProbedServer, startProbedServer } from "../stalls/probed-server.ts";
import { rejectionOf } from "../support/outcome.ts";
import { type Answer, startHostileServer } from "./support/hostile-server.ts";

const CONFIGURATION = "/.well-known/openid-configuration";
const PATH = "/sign-in/with/oidc";
const MB = 1 << 20;
/** Bytes that may be on the way when the server leaves: the buffers of two sockets. */
const ON_THE_WAY = 16 * MB;
/** The limit of a step, as a multiple of the time to parse a megabyte of lists: 100 ms on a quiet machine. */
const RATIO = 8;

const folder = mkdtempSync(join(tmpdir(), "ctxd-test-"));
let provider: Awaited<ReturnType<typeof startHostileServer>>;
let server: ProbedServer;
beforeAll(async () => {
  provider = await startHostileServer();
  server = await startProbedServer(folder, "real", {
    CTXD_OIDC_ISSUER: provider.at,
    CTXD_OIDC_CLIENT_ID: CLIENT.clientId,
    CTXD_OIDC_CLIENT_SECRET: CLIENT.clientSecret,
    CTXD_OIDC_NAME: "Acme",
  });
  // The first request compiles the routes.
  await createPerson(server.origin).visit("/sign-in");
}, 120_000);
beforeEach(() => provider.reset());
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await provider.close();
  rmSync(folder, { recursive: true, force: true });
});

const metadata = () => ({
  issuer: provider.at,
  authorization_endpoint: `${provider.at}/authorize`,
  token_endpoint: `${provider.at}/token`,
  jwks_uri: `${provider.at}/keys`,
});
/** The beginning of metadata that continue with another field. */
const opening = () => `${JSON.stringify(metadata()).slice(0, -1)},"more":`;

const json =
  (text: string | Buffer, headers: Record<string, string> = {}, status = 200): Answer =>
  (response) =>
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(text);

/** What a page does to the server: the page says that the provider is to blame, and nobody waited for it. */
async function expectNoStall(work: () => Promise<Page>): Promise<void> {
  await server.held();
  const page = await work();
  const { cpu } = await server.held();
  expect(page.status).toBe(503);
  expect(page.text).toContain("Acme can&#x27;t be asked right now.");
  expect(cpu).toBeLessThan(RATIO * measureParsing());
  expect(provider.sent()).toBeLessThan(ON_THE_WAY);
}

const start = (person = createPerson(server.origin)) => person.visit(PATH);

/** A person whom the provider sends back with a code. */
async function comeBack(person: Person): Promise<() => Promise<Page>> {
  provider.answer(CONFIGURATION, json(JSON.stringify(metadata())));
  const { location } = await start(person);
  const state = new URL(location ?? "").searchParams.get("state") ?? "";
  return () => person.visit(`${PATH}/callback?${new URLSearchParams({ code: "code", state })}`);
}

// Before all other tests: metadata that were read once are kept.
describe("metadata hold up nobody", () => {
  test.each<[string, () => Answer]>([
    ["without an end", () => provider.flood(" ".repeat(MB))],
    [
      "of 100 MB",
      () => provider.flood("x".repeat(MB), { before: `${opening()}"`, after: `"}`, times: 100 }),
    ],
    [
      "with a million keys",
      () => {
        const keys = Array.from({ length: 1_000 }, (_, n) => JSON.stringify({ kid: `${n}` }));
        return provider.flood(`${keys.join()},`, {
          before: `${opening()}[`,
          after: "0]}",
          times: 1_000,
        });
      },
    ],
    [
      "with millions of lists inside each other",
      () =>
        provider.flood("[".repeat(MB), {
          before: opening(),
          after: `${"]".repeat(10 * MB)}}`,
          times: 10,
        }),
    ],
    [
      "of a few bytes that unpack to 256 MB",
      () => {
        const bomb = gzipSync(Buffer.alloc(256 * MB, " "));
        return json(bomb, { "content-encoding": "gzip" });
      },
    ],
  ])("%s", async (_, answer) => {
    provider.answer(CONFIGURATION, answer());
    await expectNoStall(start);
  });
});

describe("an answer for a code holds up nobody", () => {
  test.each<[string, () => Answer]>([
    ["without an end", () => provider.flood(" ".repeat(MB))],
    [
      "with a challenge of many schemes",
      () => json("{}", { "www-authenticate": "a ".repeat(32_000) }, 401),
    ],
    [
      "with a challenge of many parameters",
      () => json("{}", { "www-authenticate": `a ${"b=c,".repeat(16_000)}` }, 401),
    ],
    [
      "whose ID token has many lists inside each other",
      () => {
        const claims = Buffer.from(`{"more":${"[".repeat(60_000)}${"]".repeat(60_000)}}`);
        const id_token = `e30.${claims.toString("base64url")}.e30`;
        return json(JSON.stringify({ access_token: "a", token_type: "Bearer", id_token }));
      },
    ],
  ])("%s", async (_, answer) => {
    const arrive = await comeBack(createPerson(server.origin));
    provider.answer("/token", answer());
    await expectNoStall(arrive);
    expect(provider.asked).not.toContain("/keys");
  });
});

test("a provider that sends a byte now and then is given up in time", async () => {
  const oidc = { ...CLIENT, issuer: provider.at, name: "Acme" };
  const options = { publicUrl: server.origin, clock: Date.now, timeoutMs: 100 };
  const [slow] = createProviders({ github: null, google: null, oidc }, options);
  provider.answer(CONFIGURATION, provider.drip());
  expect(await rejectionOf(slow?.start("state", PROOFS))).toMatchObject({ code: "unavailable" });
});
