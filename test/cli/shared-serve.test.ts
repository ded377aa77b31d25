import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startObjectStore } from "../support/object-store.ts";
import { sharedPostgres, startPostgres } from "../support/postgres.ts";
import { spawnServer } from "../support/server-process.ts";
import { until } from "../support/until.ts";

const TIMEOUT = 300_000;
/** More than the time limit of the checks in `http/health.ts`, for a busy machine. */
const PROBE_TIMEOUT_MS = 10_000;

/** Returns the status of a probe and the result of a check, or an empty text when no answer arrives in time. */
async function probe(origin: string, check = "database", path = "health"): Promise<string> {
  try {
    const response = await fetch(`${origin}/api/${path}`, {
      signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
    });
    const { checks = {} } = Object(await response.json());
    return `${response.status} ${checks[check] ?? ""}`.trim();
  } catch {
    return "";
  }
}

test(
  "a server waits for its database, reports unreachable services, and logs no password",
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
    await until("the server waits", () => server.errors().includes(waiting));
    await postgres.start();
    const origin = await server.origin();
    const untilProbe = (wanted: string, check?: string, path?: string) =>
      until(
        `the probe answers ${wanted}`,
        async () => (await probe(origin, check, path)) === wanted,
      );
    await untilProbe("200 ok", "embedding");
    await untilProbe("200 ok", "memories");

    // A database that hangs makes the server unready, and probes are still answered.
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
  "a server with wrong settings of its database or bucket stops with one line",
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
    for (const [settings, message] of wrong) {
      await using server = spawnServer(folder, "real", { ...right, ...settings });
      expect(await server.exited).toBe(1);
      // The message about the model may come first.
      const lines = server.errors().trim().split("\n");
      const messages = lines.filter((line) => !line.includes(" debug "));
      expect(messages).toEqual([expect.stringContaining(message)]);
      expect(server.errors()).not.toContain("unexpected");
    }
    rmSync(folder, { recursive: true });
  },
  TIMEOUT,
);
