import { afterAll, expect, spyOn, test } from "bun:test";
import { connectCommand } from "../../src/dashboard/server-status.ts";
import { startOAuthServer } from "../oauth/support/oauth-server.ts";
import { formTo } from "../oauth/support/person.ts";

const server = await startOAuthServer();
afterAll(server.close);
const owner = await server.signedIn();
const member = await server.signedIn();

/** A page without the elements within commands. */
async function commandOn({ person }: typeof owner, path: string): Promise<string> {
  return (await person.visit(path)).text.replaceAll(/<\/?span>/g, "");
}

test("the command uses the local socket for the owner and the address for members", async () => {
  for (const path of ["/connect?to=cursor", "/welcome"]) {
    const own = await commandOn(owner, path);
    expect(own).toMatch(/<code tabindex="0">ctxd connect (cursor|--all)</);
    const others = await commandOn(member, path);
    expect(others).toMatch(
      new RegExp(`<code tabindex="0">ctxd connect (cursor|--all) --url ${server.origin}<`),
    );
  }
});

test("the command uses the address for the owner too if the server is remote or in a container", () => {
  const command = (words: string) => `./ctxd ${words}`;
  const of = (publicUrl: string, isForAgents: boolean) =>
    connectCommand(
      { config: { publicUrl }, serverStatus: { command, isForAgents } },
      { role: "owner" },
      "connect codex",
    );
  expect(of("http://127.0.0.1:7733", true)).toEqual({
    ...{ isHere: true, command: "./ctxd connect codex" },
  });
  for (const [address, isForAgents] of [
    ["http://localhost:7733", false],
    ["https://memory.example.com", true],
  ] as const) {
    expect(of(address, isForAgents)).toEqual({
      ...{ isHere: false, command: `ctxd connect codex --url ${address}` },
    });
  }
});

test.each(["/keys", "/connect"])(
  "a key that %s creates while all access is revoked is revoked too",
  async (path) => {
    const { accountId, person } = await server.signedIn();
    const form = formTo(await person.visit(path), path);
    const { create } = server.keys;
    const creating = spyOn(server.keys, "create").mockImplementation(async (...args) => {
      await server.sessions.revokeAll(accountId);
      await server.keys.revokeAll(accountId);
      return create(...args);
    });
    const page = await person.submit(form, { name: "late", to: "cursor" });
    expect(creating).toHaveBeenCalledTimes(1);
    creating.mockRestore();
    expect(page.status).toBe(401);
    const keys = await server.keys.list(accountId);
    expect(keys.length).toBeGreaterThan(0);
    expect(keys.filter(({ revokedAt }) => revokedAt === null)).toEqual([]);
  },
);
