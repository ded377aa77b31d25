import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startObjectStore } from "../support/object-store.ts";
import { sharedPostgres, startPostgres } from "../support/postgres.ts";
import { type ServerProcess, spawnServer } from "../support/server-process.ts";

const TIMEOUT = 300_000;
/** Milliseconds that one thing may take on a busy machine. */
const PATIENCE = 60_000;
/** Milliseconds that a probe may take, as in `http/health.ts`, and more on a busy machine. */
const BOUND = 10_000;

/** The status of a probe, and what was found of a check; nothing where no answer comes in time. */
async function probe(origin: string, check = "database", path = "health"): Promise<string> {
  try {
    const response = await fetch(`${origin}/api/${path}`, { signal: AbortSignal.timeout(BOUND) });
    const { checks = {} } = Object(await response.json());
    return `${response.status} ${checks[check] ?? ""}`.trim();
  } catch {
    return "";
  }
}

/** Waits until something is as it is wanted. */
async function until(server: ServerProcess, wanted: string, look: () => string | Promise<string>) {
  let found = "";
  for (const end = performance.now() + PATIENCE; found !== wanted; await Bun.sleep(20)) {
    if (performance.now() > end) throw new Error(`${found} is not ${wanted}: ${server.errors()}`);
    found = await look();
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
    const waiting = "waiting_for_database";
    await until(server, waiting, () => (server.errors().includes(waiting) ? waiting : ""));
    await postgres.start();
    const origin = await server.origin();
    const untilProbe = (wanted: string, check?: string, path?: string) =>
      until(server, wanted, () => probe(origin, check, path));
    await untilProbe("200 ok", "embedding");

    // One that hangs is not ready either, and the probe is answered.
    postgres.pause();
    await untilProbe("503 failed");
    await untilProbe("200", "", "health/live");
    postgres.resume();
    await untilProbe("200 ok");

    await objects.stop();
    await untilProbe("200 unreachable", "objects");
    await objects.start();
    await untilProbe("200 ok", "objects");

    expect(await server.end()).toBe(0);
    const { host, pathname, password } = new URL(database.url);
    expect(server.errors()).toContain(`postgres://${host}${pathname}, s3://ctxd/memories\n`);
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
      // The model may be ready before that is known.
      const lines = server.errors().trim().split("\n");
      const told = lines.filter((line) => !line.includes(" debug "));
      expect(told).toEqual([expect.stringContaining(said)]);
      expect(server.errors()).not.toContain("unexpected");
    }
    rmSync(folder, { recursive: true });
  },
  TIMEOUT,
);
