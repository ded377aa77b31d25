import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startObjectStore } from "../support/object-store.ts";
import { sharedPostgres, startPostgres } from "../support/postgres.ts";
import { type ServerProcess, spawnServer } from "../support/server-process.ts";

const TIMEOUT = 120_000;
/** Milliseconds that a probe may take, as in `http/health.ts`, and more on a busy machine. */
const BOUND = 10_000;

async function health(origin: string, path = "health") {
  const response = await fetch(`${origin}/api/${path}`, { signal: AbortSignal.timeout(BOUND) });
  const { checks = {} } = Object(await response.json());
  return { status: response.status, checks };
}

async function until(server: ServerProcess, condition: () => boolean | Promise<boolean>) {
  for (const end = performance.now() + TIMEOUT; !(await condition()); await Bun.sleep(20)) {
    if (performance.now() > end) throw new Error(`it does not come: ${server.errors()}`);
  }
}

test(
  "a server waits for its database, tells what is away, and repeats no secret",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "ctxd-test-"));
    await using postgres = await startPostgres();
    const database = await postgres.database();
    await using objects = await startObjectStore();
    const settings = {
      CTXD_DATABASE_URL: database.url,
      ...objects.settings(),
      CTXD_DRAIN_SECONDS: "0",
    };
    await postgres.stop();
    await using server = spawnServer(folder, "real", settings);
    await until(server, () => server.errors().includes("waiting_for_database"));
    await postgres.start();
    const origin = await server.origin();
    await until(server, async () => (await health(origin)).checks.embedding === "ok");
    expect((await health(origin)).status).toBe(200);

    // One that hangs is not ready either, and the probe is answered.
    postgres.pause();
    await until(server, async () => (await health(origin)).status === 503);
    expect((await health(origin)).checks.database).toBe("failed");
    expect((await health(origin, "health/live")).status).toBe(200);
    postgres.resume();
    await until(server, async () => (await health(origin)).status === 200);

    await objects.stop();
    await until(server, async () => (await health(origin)).checks.objects === "unreachable");
    expect((await health(origin)).status).toBe(200);
    await objects.start();
    await until(server, async () => (await health(origin)).checks.objects === "ok");

    expect(await server.end()).toBe(0);
    const { password } = new URL(database.url);
    expect(password.length).toBeGreaterThan(10);
    expect(server.errors()).not.toContain(password);
    rmSync(folder, { recursive: true });
  },
  TIMEOUT,
);

test(
  "a server that can't use what it is given says so in one line",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "ctxd-test-"));
    const postgres = await sharedPostgres();
    await using database = await postgres.database();
    await using objects = await startObjectStore();
    const right = { CTXD_DATABASE_URL: database.url, ...objects.settings() };
    const wrong: [Record<string, string>, string][] = [
      [{ CTXD_OBJECTS: "s3://another-bucket/x" }, "another-bucket"],
      [{ CTXD_DATABASE_URL: postgres.urlOf("other") }, "has no database other"],
    ];
    for (const [settings, said] of wrong) {
      await using server = spawnServer(folder, "real", { ...right, ...settings });
      expect(await server.exited).toBe(1);
      expect(server.errors()).toContain(said);
      expect(server.errors().trim().split("\n")).toHaveLength(1);
      expect(server.errors()).not.toContain("unexpected");
    }
    rmSync(folder, { recursive: true });
  },
  TIMEOUT,
);
