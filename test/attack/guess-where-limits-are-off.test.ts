import { expect, test } from "bun:test";
import { REDIRECT_URI, startOAuthServer } from "../oauth/support/oauth-server.ts";
import { createPerson } from "../oauth/support/person.ts";
import { temporaryFolder } from "../support/database.ts";
import { spawnServer } from "../support/server-process.ts";
import { testStores } from "../support/stores.ts";

const PASSWORD = "correct horse";
const OFF = { rateLimit: false, registration: "open" } as const;

test("password tries are limited although the limits of requests are off", async () => {
  const dataDir = temporaryFolder();
  await testStores(dataDir).accounts.add({ email: "you@example.com", password: PASSWORD });
  await using server = spawnServer(dataDir, "real", { CTXD_RATE_LIMIT: "off" });
  const origin = await server.origin();
  const statuses: number[] = [];
  for (let count = 0; count < 11; count++) {
    const person = createPerson(origin);
    const page = await person.visit("/sign-in");
    const wanted = { email: "you@example.com", password: "short" };
    statuses.push((await person.submit(page, wanted)).status);
  }
  expect(statuses).toEqual([...Array(10).fill(401), 429]);
});

test("sign-ups are limited although the limits of requests are off", async () => {
  await using server = await startOAuthServer({ config: OFF });
  await server.accounts.add({ email: "you@example.com", password: PASSWORD });
  const statuses: number[] = [];
  for (let count = 0; count < 11; count++) {
    const person = createPerson(server.origin);
    const page = await person.visit("/sign-up");
    const wanted = { email: `new${count}@example.com`, password: "short" };
    statuses.push((await person.submit(page, wanted)).status);
  }
  expect(statuses).toEqual([...Array(10).fill(422), 429]);
});

test("registrations of clients are limited although the limits of requests are off", async () => {
  await using server = await startOAuthServer({ config: OFF });
  const statuses: number[] = [];
  for (let count = 0; count < 61; count++) {
    const response = await fetch(`${server.origin}/api/oauth/register`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ redirect_uris: [REDIRECT_URI], token_endpoint_auth_method: "none" }),
    });
    statuses.push(response.status);
  }
  expect(statuses).toEqual([...Array(60).fill(201), 429]);
});
