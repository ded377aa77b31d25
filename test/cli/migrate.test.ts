import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MIGRATIONS } from "../../src/db/migrations.ts";
import { POSTGRES_MIGRATIONS } from "../../src/db/postgres-migrations.ts";
import { ctxd } from "../support/command-line.ts";
import { sharedPostgres } from "../support/postgres.ts";

/** Settings of an object store. Migrations do not use it. */
const STORE = {
  CTXD_OBJECTS: "s3://memories/ctxd",
  AWS_ENDPOINT_URL: "http://127.0.0.1:9",
  AWS_ACCESS_KEY_ID: "key-id",
  AWS_SECRET_ACCESS_KEY: "key-secret",
};

async function onPostgres() {
  const server = await sharedPostgres();
  const database = await server.database();
  return {
    last: POSTGRES_MIGRATIONS.at(-1)?.number ?? 0,
    env: { CTXD_DATABASE_URL: database.url, ...STORE },
    database,
    execute: (statement: string) => server.execute(statement, database.name),
    end: () => database[Symbol.asyncDispose](),
  };
}

async function inFolder() {
  const folder = mkdtempSync(join(tmpdir(), "ctxd-test-"));
  return {
    last: MIGRATIONS.length,
    env: { CTXD_DATA_DIR: folder },
    end: async () => rmSync(folder, { recursive: true }),
  };
}

describe.each([
  ["a folder", inFolder],
  ["PostgreSQL", onPostgres],
])("in %s", (_, open) => {
  test("a schema is created once, and --check reports whether a migration is needed", async () => {
    const { last, env, end } = await open();
    const migrate = (...args: string[]) => ctxd(["migrate", ...args], { env });
    const needed = await migrate("--check");
    expect(needed).toMatchObject({ exitCode: 1, stdout: "" });
    expect(needed.stderr).toBe(
      `ctxd: The schema is 0, and this version needs ${last}: run ctxd migrate.\n`,
    );
    expect(await migrate()).toMatchObject({
      exitCode: 0,
      stdout: `The schema was 0 and is ${last}.\n`,
    });
    const done = { exitCode: 0, stdout: `The schema is ${last}: there is nothing to do.\n` };
    expect(await migrate("--check")).toMatchObject(done);
    expect(await migrate()).toMatchObject(done);
    await end();
  });
});

describe("on PostgreSQL", () => {
  test("the schema of a newer version is used while it is compatible, then refused", async () => {
    const { last, env, execute, end } = await onPostgres();
    await ctxd(["migrate"], { env });
    await execute(`UPDATE ctxd_schema SET number = ${last + 1}`);
    expect(await ctxd(["migrate"], { env })).toMatchObject({
      exitCode: 0,
      stdout: `The schema is ${last + 1}, of a newer version that works with this one.\n`,
    });
    expect(await ctxd(["user", "list"], { env })).toMatchObject({ exitCode: 0 });
    await execute(`UPDATE ctxd_schema SET oldest = ${last + 1}`);
    for (const args of [["migrate"], ["user", "list"]]) {
      const { exitCode, stderr } = await ctxd(args, { env });
      expect(exitCode).toBe(1);
      expect(stderr).toContain("was migrated by a newer ctxd");
    }
    await end();
  });

  test("commands do not migrate a schema that servers share", async () => {
    const { last, env, execute, end } = await onPostgres();
    await ctxd(["migrate"], { env });
    await execute(`UPDATE ctxd_schema SET number = ${last - 1}`);
    const { exitCode, stderr } = await ctxd(["user", "list"], { env });
    expect(exitCode).toBe(1);
    expect(stderr).toContain("run ctxd migrate");
    await end();
  });

  test("an unreachable database is reported in one line without the password", async () => {
    const { env, database, end } = await onPostgres();
    const wrong = (change: (url: URL) => void) => {
      const url = new URL(database.url);
      change(url);
      return { ...env, CTXD_DATABASE_URL: url.href };
    };
    for (const [settings, message] of [
      [wrong((url) => (url.password = "secret-1")), "or the password"],
      [wrong((url) => (url.pathname = "/other")), "has no database other"],
      [wrong((url) => Object.assign(url, { port: "9", password: "secret-1" })), "does not answer"],
    ] as const) {
      const { exitCode, stderr } = await ctxd(["user", "list"], { env: settings });
      expect({ exitCode, stderr }).toEqual({
        exitCode: 1,
        stderr: expect.stringContaining(message),
      });
      expect(stderr).not.toMatch(/secret-1|unexpected|\n./);
    }
    await end();
  });
});
