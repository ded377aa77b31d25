import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  type OAuthServer,
  REDIRECT_URI,
  startOAuthServer,
  tokensOf,
} from "../oauth/support/oauth-server.ts";
import { createPerson, type Page, type Person } from "../oauth/support/person.ts";

const HOUR = 3_600_000;
const MOST = 5_000;

let server: OAuthServer;
beforeAll(async () => {
  server = await startOAuthServer();
});
afterAll(() => server.close());

/** Unused registrations, each a little newer than the one before. */
async function flood(number: number): Promise<void> {
  // Waiting for the disk would take most of the time.
  server.db.sqlite.run("PRAGMA synchronous = OFF");
  for (let count = 0; count < number; count++) {
    server.clock.advance(1);
    await server.oauth.clients.register({
      name: "Flood",
      redirectUris: [REDIRECT_URI],
      authMethod: "none",
    });
  }
}

const unused = () =>
  server.db.sqlite
    .query<{ number: number }, []>(
      "SELECT count(*) AS number FROM oauth_clients WHERE used_at IS NULL",
    )
    .get()?.number;

test("after 5,000 registrations, the oldest unused one is removed for a new one", async () => {
  const first = await server.register();
  await flood(MOST - 1);
  expect(unused()).toBe(MOST);
  const { clientId, tokens } = await server.connect();
  expect(await server.use(tokens.access_token)).toBe(200);
  expect(await server.oauth.clients.find(first.client_id)).toBeNull();
  expect(await server.oauth.clients.find(clientId)).not.toBeNull();
  await flood(10);
  expect(unused()).toBe(MOST);
});

describe("as many further registrations", () => {
  let opened: { clientId: string; person: Person; page: Page };
  let used: Awaited<ReturnType<OAuthServer["connect"]>>;
  let strange: string;
  beforeAll(async () => {
    used = await server.connect();
    server.clock.advance(48 * HOUR);
    const [{ client_id: clientId }, { person }] = [
      await server.register(),
      await server.signedIn(),
    ];
    opened = { clientId, person, page: await person.visit(server.authorizeUrl(clientId)) };
    ({ client_id: strange } = await server.register());
    for (let count = 0; count < 3; count++) {
      await fetch(server.authorizeUrl(strange), { redirect: "manual" });
    }
    await flood(MOST + 10);
  });

  test("can't displace an app whose consent page is open", async () => {
    const { clientId, person, page } = opened;
    const answer = new URL((await person.submit(page, { decision: "allow" })).location ?? "");
    const code = answer.searchParams.get("code");
    await flood(MOST + 10);
    tokensOf(await server.redeem(clientId, code));
  });

  test("can't displace an app that has been used", async () => {
    tokensOf(await server.renew(used.clientId, used.tokens.refresh_token));
  });

  test("displace one whose consent page only strangers have opened", async () => {
    expect(await server.oauth.clients.find(strange)).toBeNull();
  });
});

describe("a whole IPv6 network gets no more", () => {
  const addresses = Array.from(
    { length: 300 },
    (_, index) => `2001:db8:1:${index.toString(16)}::1`,
  );
  const count = async (ask: (headers: Record<string, string>) => Promise<number>, done: number) => {
    const statuses = [];
    for (const from of addresses) statuses.push(await ask({ "x-forwarded-for": from }));
    expect(await ask({ "x-forwarded-for": "2001:db8:2::1" })).toBe(done);
    return statuses.filter((status) => status === done).length;
  };

  test("registrations than 240 an hour", async () => {
    await using behind = await startOAuthServer({ config: { trustProxy: true } });
    const body = JSON.stringify({ client_name: "Flood", redirect_uris: [REDIRECT_URI] });
    const register = async (from: Record<string, string>) => {
      const headers = { ...from, "content-type": "application/json" };
      const init = { method: "POST", body, headers };
      return (await fetch(`${behind.origin}/api/oauth/register`, init)).status;
    };
    expect(await count(register, 201)).toBe(240);
  });

  test("sign-ups than 60 an hour", async () => {
    const config = { trustProxy: true, registration: "open" } as const;
    await using behind = await startOAuthServer({ config });
    await behind.signedIn();
    const person = createPerson(behind.origin);
    const form = await person.visit("/sign-up");
    // A password that is too short counts as a try, but is not hashed.
    const signUp = async (from: Record<string, string>) =>
      (await person.submit(form, { email: "x@example.com", password: "short" }, from)).status;
    expect(await count(signUp, 422)).toBe(60);
  });
});
