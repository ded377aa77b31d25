import { afterAll, expect, test } from "bun:test";
import { createConnectCommand } from "../../src/dashboard/server-status.ts";
import { startOAuthServer } from "../oauth/support/oauth-server.ts";

const server = await startOAuthServer();
afterAll(server.close);
const owner = await server.signedIn();
const member = await server.signedIn();

test("the command uses the local socket for the owner and the address for members", async () => {
  for (const path of ["/connect?to=cursor", "/welcome"]) {
    const own = await owner.person.visit(path);
    expect(own.text).toMatch(/<code tabindex="0">ctxd connect (cursor|--all)</);
    const others = await member.person.visit(path);
    expect(others.text).toMatch(
      new RegExp(`<code tabindex="0">ctxd connect (cursor|--all) --url ${server.origin}<`),
    );
  }
});

test("the command uses the address for the owner too if the server is remote or in a container", () => {
  const command = (words: string) => `./ctxd ${words}`;
  const of = (publicUrl: string, isForAgents: boolean) =>
    createConnectCommand({ publicUrl, serverStatus: { command, isForAgents } })(
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
