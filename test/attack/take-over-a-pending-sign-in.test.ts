import { afterAll, beforeAll, expect, test } from "bun:test";
import { type OAuthServer, startOAuthServer } from "../oauth/support/oauth-server.ts";
import { createPerson } from "../oauth/support/person.ts";
import {
  addApp,
  addPerson,
  askOptions,
  enterPassword,
  formWith,
  isSignedIn,
} from "../sign-in/support/factors.ts";

const MINUTE = 60_000;

let server: OAuthServer;
let app: Awaited<ReturnType<typeof addApp>>["app"];
beforeAll(async () => {
  server = await startOAuthServer();
  const { id } = await addPerson(server);
  ({ app } = await addApp(server, id));
});
afterAll(() => server.close());

const begin = async () => {
  const { person, page } = await enterPassword(server);
  return { person, form: formWith(page, "code") };
};

test("another browser can't finish a pending sign-in, even with the fields of its page", async () => {
  const { form } = await begin();
  const thief = createPerson(server.origin);
  await thief.visit("/sign-in");
  const code = app.code();
  expect((await thief.submit(form, { code })).status).toBe(403);
  const other = await begin();
  const forged = await other.person.submit(form, { code });
  expect(forged.status).toBe(403);
  expect(await isSignedIn(thief)).toBe(false);
  expect(await isSignedIn(other.person)).toBe(false);
  expect((await askOptions(server, thief, form, "/sign-in/second-step/options")).status).toBe(403);
});

test("without a pending sign-in there is no second step", async () => {
  const stranger = createPerson(server.origin);
  for (const pending of [null, "x", "x".repeat(43)]) {
    if (pending !== null) stranger.jar.set("ctxd-pending", pending);
    const page = await stranger.visit("/sign-in/second-step");
    expect(page.url).toEndWith("/sign-in");
  }
});

test("a pending sign-in ends after ten minutes, and when its session begins", async () => {
  const late = await begin();
  server.clock.advance(10 * MINUTE);
  expect((await late.person.submit(late.form, { code: app.code() })).status).toBe(403);
  expect(await isSignedIn(late.person)).toBe(false);

  const { person, form } = await begin();
  const pending = person.jar.get("ctxd-pending") ?? "";
  await person.submit(form, { code: app.code() });
  expect(await isSignedIn(person)).toBe(true);
  server.clock.advance(MINUTE);
  const thief = createPerson(server.origin);
  thief.jar.set("ctxd-pending", pending);
  expect((await thief.submit(form, { code: app.code() })).status).toBe(403);
  expect(await isSignedIn(thief)).toBe(false);
});

test("another site can't send the second step", async () => {
  const { person, form } = await begin();
  const code = app.code();
  for (const headers of [
    { origin: "https://evil.example.com" },
    { "sec-fetch-site": "cross-site" },
    { origin: "null" },
  ]) {
    expect((await person.submit(form, { code }, headers)).status).toBe(403);
  }
  expect((await person.submit(form, { code, form_token: null })).status).toBe(403);
  expect(await isSignedIn(person)).toBe(false);
});

test("the page after the sign-in is kept on the server, and is on this site", async () => {
  const { person, page } = await enterPassword(server, { next: "/help/security" });
  server.clock.advance(MINUTE);
  const form = formWith(page, "code");
  const done = await person.submit(form, { code: app.code(), next: "https://evil.example.com/" });
  expect(done.url).toEndWith("/help/security");
});

test("the database does not contain the value of the cookie", async () => {
  const { person } = await begin();
  const kept = JSON.stringify(await server.rows("pending_sign_ins"));
  expect(kept).not.toContain(person.jar.get("ctxd-pending") ?? "-");
});
