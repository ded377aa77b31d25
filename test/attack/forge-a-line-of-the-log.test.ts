import { expect, test } from "bun:test";
import type { Config } from "../../src/config/config.ts";
import { createLog } from "../../src/log.ts";
import { startOAuthServer } from "../oauth/support/oauth-server.ts";
import { createPerson, formTo } from "../oauth/support/person.ts";

const FORGED = "warn security kind=sign_in_failed address=192.0.2.66";
const EVIL = `x\n2026-01-01T00:00:00.000Z ${FORGED} via=browser\r\u2028\u0085"${FORGED} \u202e=1+1`;
const PASSWORD = "correct horse battery";

async function attack(logFormat: Config["logFormat"]) {
  const lines: string[] = [];
  const log = createLog({ logLevel: "info", logFormat }, (line) => lines.push(line));
  await using server = await startOAuthServer({ log });
  const { id } = await server.accounts.add({ email: "you@example.com", password: PASSWORD });
  const stranger = createPerson(server.origin);
  const form = await stranger.visit("/sign-in");
  await stranger.submit(form, { email: EVIL, password: EVIL }, { "user-agent": "a; b 192.0.2.66" });
  await stranger.submit(form, { email: "you@example.com", password: EVIL });

  const person = createPerson(server.origin);
  person.jar.set("ctxd-session", await server.sessions.begin(id));
  // The form refuses these values, but another entry point might accept them.
  server.securityLog.record("key_created", { accountId: id, via: "browser", subject: EVIL });
  await person.submit(formTo(await person.visit("/keys"), "/keys"), { name: FORGED, expires: "" });
  const { client_id: clientId } = await server.register({ client_name: FORGED });
  await server.consent(person, clientId);
  const { client_id: formula } = await server.register({ client_name: "=1+1" });
  await server.consent(person, formula);
  await server.securityLog.flush();
  const csv = (await person.visit("/account/security/download?format=csv")).text;
  return { lines, csv };
}

test("text: line breaks in an e-mail address, a user agent, a key and an app make no line", async () => {
  const { lines } = await attack("text");
  const security = lines.filter((line) => line.includes(" security "));
  expect(security.length).toBeGreaterThanOrEqual(5);
  for (const line of lines) expect(line).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]/u);
  // A pattern may match at the beginning of a line.
  const blamed = lines.map((line) => /^\S+ warn security kind=\w+ address=(\S+)/.exec(line)?.[1]);
  expect(new Set(blamed.filter((address) => address !== undefined))).toEqual(
    new Set(["127.0.0.1"]),
  );
});

test("JSON: line breaks in these values make no line", async () => {
  const { lines } = await attack("json");
  const security = lines
    .map((line) => JSON.parse(line))
    .filter(({ event }) => event === "security");
  expect(security.length).toBeGreaterThanOrEqual(5);
  const failed = security.filter(({ kind }) => kind === "sign_in_failed");
  expect(failed.map(({ address }) => address)).toEqual(["127.0.0.1", "127.0.0.1"]);
});

test("CSV: a name does not become a formula in a spreadsheet", async () => {
  const { csv } = await attack("text");
  expect(csv).toContain(",'=1+1,");
  expect(csv).not.toMatch(/(^|,)"?[=+@-]/m);
});

test("the log contains no entered password or code", async () => {
  const { lines } = await attack("text");
  const failed = lines.filter((line) => line.includes("sign_in_failed") && !line.includes("name="));
  expect(failed).toHaveLength(2);
  for (const line of failed) expect(line).not.toContain("192.0.2.66");
});
