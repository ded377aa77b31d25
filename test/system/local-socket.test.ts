import { expect, test } from "bun:test";
import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SOCKET } from "../../src/system/folders.ts";
import { listenOnSocket, openInPlace } from "../../src/system/local-socket.ts";
import { temporaryFolder } from "../support/database.ts";

const answer = async () => new Response("here");
const ask = async (folder: string) =>
  (await fetch("http://localhost/", { unix: join(folder, SOCKET) })).text();

test.each([
  ["in place, as on Windows", openInPlace],
  ["as on this system", listenOnSocket],
])("a socket that is opened %s replaces the socket of a crashed server", async (_, open) => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, SOCKET), "");
  const server = open(folder, answer);
  try {
    expect(await ask(folder)).toBe("here");
    expect(readdirSync(folder)).toEqual([SOCKET]);
    expect(statSync(join(folder, SOCKET)).isSocket()).toBe(true);
  } finally {
    await server.stop(true);
  }
});

test.skipIf(process.platform === "win32")("other users can't open the socket", async () => {
  const folder = temporaryFolder();
  const before = process.umask(0);
  const server = listenOnSocket(folder, answer);
  process.umask(before);
  expect(statSync(join(folder, SOCKET)).mode & 0o777).toBe(0o600);
  await server.stop(true);
  expect(existsSync(folder)).toBe(true);
});
