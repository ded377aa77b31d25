import { expect, test } from "bun:test";
import { createClient } from "../support/client.ts";
import { temporaryFolder } from "../support/database.ts";
import { addAccountTo, spawnServer } from "../support/server-process.ts";
import { writeWordModel } from "../support/word-model.ts";

test("a second server is told who serves the folder, and takes over at once when that is killed", async () => {
  const [dataDir, model] = [temporaryFolder(), temporaryFolder()];
  await writeWordModel(model);
  const settings = { CTXD_MODEL: model };
  const { key } = await addAccountTo(dataDir);
  await using first = spawnServer(dataDir, "real", settings);
  const origin = await first.origin();
  const saved = await createClient(origin, key).save({ content: "written by the first server" });

  await using second = spawnServer(dataDir, "real", settings);
  expect(await second.exited).toBe(1);
  expect(second.errors()).toMatch(/^ctxd: [^\n]+\.\n$/);
  expect(second.errors()).toContain(`process ${first.pid} at ${origin}`);

  await first.kill();
  await using third = spawnServer(dataDir, "real", settings);
  expect(await createClient(await third.origin(), key).get(saved.id)).toEqual(saved);
});

test("of three servers that start at the same time, one wins and the others say so", async () => {
  const dataDir = temporaryFolder();
  await addAccountTo(dataDir);
  const servers = Array.from({ length: 3 }, () => spawnServer(dataDir, "real"));
  await using cleanup = new AsyncDisposableStack();
  for (const server of servers) cleanup.use(server);

  const losers = await Promise.all(
    servers.map(async (server) => {
      const exitCode = await Promise.race([server.exited, server.origin().catch(() => null)]);
      return typeof exitCode === "string" ? null : await server.exited;
    }),
  );
  expect(losers.filter((exitCode) => exitCode === null)).toHaveLength(1);
  expect(losers.filter((exitCode) => exitCode === 1)).toHaveLength(2);
  for (const [index, server] of servers.entries()) {
    if (losers[index] !== null)
      expect(server.errors()).toMatch(/^ctxd: [^\n]+ is served by [^\n]+\.\n$/);
  }
});
