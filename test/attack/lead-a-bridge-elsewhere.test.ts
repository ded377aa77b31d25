import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, readlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLocalServer } from "../../src/local/local-server.ts";
import { createLocalSocket } from "../../src/local/local-socket.ts";
import { temporaryFolder } from "../support/database.ts";

/** Links in the folder of temporary files, whose names other users can take after a clean-up. */
function linksTo(folder: string): string[] {
  const targetOf = (name: string) => {
    try {
      return readlinkSync(join(tmpdir(), name, "data"));
    } catch {
      return null;
    }
  };
  return readdirSync(tmpdir()).filter((name) => targetOf(name) === folder);
}

test("a bridge that runs for days uses no path that another user can replace by his own socket", async () => {
  const folder = join(temporaryFolder(), "deep".repeat(30));
  mkdirSync(folder);
  const socket = createLocalSocket({ ownerId: async () => "acc_x" }).listen(folder, {
    version: "1",
    answer: async () => new Response("of the server"),
    openDashboard: async () => ({ address: "", setUp: null }),
  });
  const server = createLocalServer({
    dataDir: folder,
    start: () => {
      throw new Error("it is there");
    },
    isServed: () => true,
    onFound: () => {},
  });
  await server.connect();
  expect(linksTo(folder)).toEqual([]);
  expect(await (await server.request("/mcp", { method: "POST" })).text()).toBe("of the server");
  expect(linksTo(folder)).toEqual([]);
  expect(socket.bridges()).toBe(1);
  server.close();
  await socket.close();
});
