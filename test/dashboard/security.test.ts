import { afterAll, expect, test } from "bun:test";
import { startOAuthServer } from "../oauth/support/oauth-server.ts";
import { pagesOf } from "./support/list-pages.ts";

const server = await startOAuthServer();
afterAll(server.close);
const owner = await server.signedIn();
const member = await server.signedIn();

const { record } = server.securityLog;
const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
const at = { via: "browser", address: "203.0.113.7", agent: FIREFOX } as const;
record("signed_in", { ...at, accountId: owner.accountId });
server.clock.advance(24 * 3_600_000);
record("key_created", { ...at, accountId: member.accountId, subject: "my laptop" });
for (let count = 0; count < 3; count++) {
  record("sign_in_failed", { ...at, accountId: null, address: "198.51.100.9" });
}

test("the owner sees all events with account, event and origin", async () => {
  const { text, status } = await owner.person.visit("/admin/security");
  expect(status).toBe(200);
  expect(text).toContain("Signed in");
  expect(text).toContain("Firefox on Linux at 203.0.113.7");
  expect(text).toContain("account-1@example.com");
  expect(text).toContain("API key made: <bdi>my laptop</bdi>");
  expect(text).toContain("3 times");
});

test.each([
  ["event=key_created", ["my laptop"], ["3 times"]],
  ["address=198.51.100.9", ["3 times"], ["my laptop"]],
  ["account=account-2@example.com", ["my laptop"], ["3 times"]],
  ["from=2026-01-02", ["my laptop", "3 times"], ["account-1"]],
  ["to=2026-01-01", ["account-1"], ["my laptop", "3 times"]],
])("the filter %s", async (query, shown, hidden) => {
  const { text } = await owner.person.visit(`/admin/security?${query}`);
  const table = /<table>.*<\/table>/s.exec(text)?.[0] ?? "";
  for (const each of shown) expect(table).toContain(each);
  for (const each of hidden) expect(table).not.toContain(each);
});

test.each(["event=none", "from=soon", "before=x"])(
  "an invalid filter is reported: %s",
  async (query) => {
    const { text } = await owner.person.visit(`/admin/security?${query}`);
    expect(text).toContain('role="alert"');
    expect(text).toContain("No event matches");
  },
);

test("the pages contain all events", async () => {
  const { accountId, person } = await server.signedIn();
  for (let number = 0; number < 100; number++) {
    record("key_created", { ...at, accountId, subject: `key ${number}.` });
  }
  // Another replica may serve the page, and a replica flushes only its own events.
  await server.securityLog.flush();
  const seen = new Set<string>();
  for (const text of await pagesOf(person, "/account/security")) {
    for (const [name] of text.matchAll(/key \d+\./g)) seen.add(name);
  }
  expect(seen.size).toBe(100);
});

test("the log can be downloaded as CSV or JSON with the same filter", async () => {
  const csv = await owner.person.visit("/admin/security/download?format=csv&event=key_created");
  const [head, ...lines] = csv.text.trimEnd().split("\r\n");
  expect(head).toBe(
    "at,event,account_id,actor_id,via,address,agent,subject_id,subject,amount,times",
  );
  expect(lines).toHaveLength(101);
  expect(csv.headers.get("content-disposition")).toContain("ctxd-security.csv");

  const json = await owner.person.visit("/admin/security/download?format=json&event=signed_in");
  expect(
    json.text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toEqual([
    {
      at: "2026-01-01T00:00:00.000Z",
      event: "signed_in",
      account_id: owner.accountId,
      actor_id: null,
      via: "browser",
      address: "203.0.113.7",
      agent: FIREFOX,
      subject_id: null,
      subject: null,
      amount: null,
      times: 1,
    },
  ]);
});
