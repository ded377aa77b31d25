import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ctxd } from "../support/command-line.ts";

const folder = mkdtempSync(join(tmpdir(), "ctxd-test-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Settings of a database and an object store that do not run. */
const env = {
  CTXD_DATA_DIR: folder,
  CTXD_DATABASE_URL: "postgres://ctxd:pass-word@127.0.0.1:9/ctxd",
  CTXD_OBJECTS: "s3://memories/ctxd",
  AWS_ENDPOINT_URL: "http://127.0.0.1:9",
  AWS_ACCESS_KEY_ID: "key-id",
  AWS_SECRET_ACCESS_KEY: "key-secret",
};

describe("with shared data", () => {
  test.each([
    [
      "no model is selected for one server",
      ["model", "use", "bge-small"],
      "set CTXD_MODEL=bge-small for each",
    ],
    ["none runs in the background", ["serve", "--background", "60"], "run in the background"],
    ["none is started for an agent", ["export", "-"], "none is started automatically"],
  ])("%s", async (_, args, message) => {
    const { exitCode, stderr } = await ctxd(args, { env });
    expect(stderr).toContain(message);
    expect(exitCode).not.toBe(0);
    expect(stderr).not.toMatch(/pass-word|key-secret/);
  });
});
