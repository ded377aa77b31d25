import { afterAll, expect, test } from "bun:test";
import { dayText } from "../../src/pages/moment.tsx";
import { startOAuthServer } from "../oauth/support/oauth-server.ts";
import { createPerson, formTo, type Page } from "../oauth/support/person.ts";
import { createClient } from "../support/client.ts";

const DAY = 24 * 3_600_000;

const server = await startOAuthServer();
afterAll(server.close);
const { accountId, person } = await server.signedIn();

const keyOf = ({ text }: Page) => /ctx_[0-9A-Za-z]{43}/.exec(text)?.[0] ?? null;

async function create(fields: Record<string, string>) {
  return person.submit(formTo(await person.visit("/keys"), "/keys"), fields);
}

async function statusOf(key: string) {
  return (await createClient(server.origin, key).send("GET", "/memories")).status;
}

test("a key is created, shown once, and works", async () => {
  const page = await create({ name: "laptop", scope: "write", expires: "" });
  const key = keyOf(page) ?? "";
  await createClient(server.origin, key).save({ content: "by the new key" });
  const again = await person.visit(page.url);
  expect(keyOf(again)).toBeNull();
  expect(again.text).toContain("laptop");
  expect(again.text).toContain(key.slice(0, 8));
  expect(JSON.stringify(await server.rows("api_keys"))).not.toContain(key);
});

test("another session can't see a new key", async () => {
  const other = createPerson(server.origin);
  other.jar.set("ctxd-session", await server.sessions.begin(accountId));
  const form = formTo(await person.visit("/keys"), "/keys");
  const body = new URLSearchParams({
    ...Object.fromEntries(form.forms[0]?.fields ?? []),
    name: "x",
  });
  const cookie = `ctxd-session=${person.jar.get("ctxd-session")}`;
  const made = await fetch(`${server.origin}/keys`, {
    method: "POST",
    body,
    headers: { cookie, origin: server.origin },
    redirect: "manual",
  });
  expect(made.status).toBe(303);
  const location = made.headers.get("location") ?? "";
  expect(keyOf(await other.visit(location))).toBeNull();
  expect(keyOf(await person.visit(location))).not.toBeNull();
});

test("the form creates a save-only key and refuses unknown scopes", async () => {
  const key = keyOf(await create({ name: "sensor", scope: "add", expires: "" })) ?? "";
  const { send } = createClient(server.origin, key);
  expect((await send("POST", "/memories", { json: { content: "20 degrees" } })).status).toBe(201);
  expect(await statusOf(key)).toBe(403);
  const refused = await create({ name: "x", scope: "memories:admin", expires: "" });
  expect(refused.text).toContain("Choose one of the scopes");
});

test("a key of the page Connect expires after a year, or after the chosen time", async () => {
  const page = "/connect?to=cursor";
  const make = async (fields: Record<string, string>) =>
    person.submit(formTo(await person.visit(page), "/connect"), fields);
  const made = await make({});
  const inAYear = new Date(server.clock() + 365 * DAY);
  expect((await server.keys.list(accountId)).at(-1)?.expiresAt).toEqual(inAYear);
  const shown = `${dayText(inAYear, { withYear: true })}, ${inAYear.toISOString().slice(11, 16)} UTC`;
  expect(made.text).toContain(`expires: <time datetime="${inAYear.toISOString()}">${shown}`);
  expect((await person.visit("/keys")).text).toContain(shown);
  await make({ expires: "90" });
  expect((await server.keys.list(accountId)).at(-1)?.expiresAt).toEqual(
    new Date(server.clock() + 90 * DAY),
  );
  await make({ expires: "" });
  expect((await server.keys.list(accountId)).at(-1)?.expiresAt).toBeNull();
  await make({ bound_project: "atlas" });
  const bound = { project: "atlas", only: false };
  expect((await server.keys.list(accountId)).at(-1)?.bound).toEqual(bound);
});

test("scope and expiry are enforced", async () => {
  const key = keyOf(await create({ name: "reader", scope: "read", expires: "7" })) ?? "";
  const client = createClient(server.origin, key);
  expect((await client.send("POST", "/memories", { json: { content: "x" } })).status).toBe(403);
  expect(await statusOf(key)).toBe(200);
  server.clock.advance(7 * DAY - 1);
  expect(await statusOf(key)).toBe(200);
  server.clock.advance(1);
  expect(await statusOf(key)).toBe(401);
  expect((await person.visit("/keys")).text).toContain("Revoked and expired keys (1)");
  await server.sessions.prove(person.jar.get("ctxd-session") ?? "");
});

test("the form limits a key to a project, and a regenerated key keeps the limit", async () => {
  const bound = { project: "Öl & Gas", only: true };
  const fields = { name: "bound", bound_project: ` ${bound.project} `, bound_only: "true" };
  const made = await create(fields);
  const key = keyOf(made) ?? "";
  expect(await server.keys.authenticate(key)).toMatchObject({ bound });
  expect(made.text).toContain("<bdi>Öl &amp; Gas only</bdi>");
  const { id = "" } =
    (await server.keys.list(accountId)).find(({ name }) => name === "bound") ?? {};
  const question = await person.visit(`/keys/${id}/regenerate`);
  const renewed = keyOf(await person.submit(formTo(question, `/keys/${id}/regenerate`))) ?? "";
  expect(renewed).not.toBe(key);
  expect(await server.keys.authenticate(renewed)).toMatchObject({ bound });

  const unnamed = await create({ name: "unnamed", bound_only: "true" });
  expect(unnamed.text).toContain("Enter the name of the project");
  const names = (await server.keys.list(accountId)).map(({ name }) => name);
  expect(names).not.toContain("unnamed");
});

test.each([
  [{ name: " " }, "A key&#x27;s name has 1 to 100 characters"],
  [{ name: "x".repeat(101) }, "A key&#x27;s name has 1 to 100 characters"],
  [{ name: "x\u0000" }, "no control characters"],
  [{ name: "x", expires: "-1" }, "Choose one of the expiry times"],
  [{ name: "x", expires: "0" }, "The time must be in the future."],
  [{ name: "x", expires: "1e9" }, "Choose one of the expiry times"],
])("%j creates no key and shows the reason", async (fields, problem) => {
  const before = (await server.keys.list(accountId)).length;
  const page = await create(fields);
  expect(page.status).toBe(422);
  expect(page.text).toContain(problem);
  expect(await server.keys.list(accountId)).toHaveLength(before);
});

test("revoking asks for confirmation and takes effect with the next request", async () => {
  const key = keyOf(await create({ name: "lost" })) ?? "";
  const { id = "" } = (await server.keys.list(accountId)).at(-1) ?? {};
  const question = await person.visit(`/keys/${id}/revoke`);
  expect(question.text).toContain("stops working at once");
  expect(await statusOf(key)).toBe(200);
  const page = await person.submit(formTo(question, `/keys/${id}/revoke`));
  expect(page.text).toContain("The key “lost” is revoked.");
  expect(await statusOf(key)).toBe(401);
});

test("a regenerated key replaces the old one and keeps its name, scope and expiry", async () => {
  const old = keyOf(await create({ name: "server", scope: "read", expires: "30" })) ?? "";
  const before = (await server.keys.list(accountId)).at(-1);
  const question = await person.visit(`/keys/${before?.id}/regenerate`);
  const page = await person.submit(formTo(question, `/keys/${before?.id}/regenerate`));
  const key = keyOf(page) ?? "";
  expect(key).not.toBe(old);
  expect(await statusOf(old)).toBe(401);
  expect(await statusOf(key)).toBe(200);
  const { name, scopes, expiresAt } = (await server.keys.list(accountId)).at(-1) ?? {};
  expect({ name, scopes, expiresAt }).toEqual({
    name: before?.name,
    scopes: before?.scopes,
    expiresAt: before?.expiresAt,
  });
});

test("a revoked key can't be regenerated", async () => {
  const key = keyOf(await create({ name: "over" })) ?? "";
  const { id = "" } = (await server.keys.list(accountId)).at(-1) ?? {};
  const question = await person.visit(`/keys/${id}/regenerate`);
  await server.keys.revoke(accountId, id);
  const before = (await server.keys.list(accountId)).length;
  const page = await person.submit(formTo(question, `/keys/${id}/regenerate`));
  expect(page.status).toBe(404);
  expect(await server.keys.list(accountId)).toHaveLength(before);
  expect(await statusOf(key)).toBe(401);
});

test("keys of another account can't be seen or revoked", async () => {
  const stranger = await server.signedIn();
  await server.keys.create(stranger.accountId, {
    name: "theirs",
    scopes: ["memories:read"],
    expiresAt: null,
  });
  const theirs = (await server.keys.list(stranger.accountId)).at(-1);
  for (const action of ["revoke", "regenerate"]) {
    const path = `/keys/${theirs?.id}/${action}`;
    expect((await person.visit(path)).status).toBe(404);
    const own = formTo(await person.visit("/keys"), "/keys");
    const forged = { ...own, forms: own.forms.map((form) => ({ ...form, action: path })) };
    expect((await person.submit(forged)).status).toBe(404);
  }
  expect((await server.keys.list(stranger.accountId)).map(({ revokedAt }) => revokedAt)).toEqual([
    null,
    null,
  ]);
  expect((await person.visit("/keys")).text).not.toContain("theirs");
});
