import { expect } from "bun:test";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { ctxd } from "./command-line.ts";
import { testCacheDir } from "./embedder.ts";

const Report = Type.Object({
  ok: Type.Boolean(),
  version: Type.String(),
  checks: Type.Array(
    Type.Object({ check: Type.String(), state: Type.String(), message: Type.String() }),
  ),
});
type Check = Static<typeof Report>["checks"][number];

/** For findings in which the model has no part: loading it takes four fifths of the doctor's time. */
export const WITHOUT_MODEL = { CTXD_MODEL: "/nowhere" };

/** Runs `ctxd doctor`. Returns its exit code, its problems, and a function that finds a finding by its check. */
export async function runDoctor(dataDir: string, env: Record<string, string> = {}) {
  const { stdout, stderr, exitCode } = await ctxd(["doctor", "--json"], {
    dataDir,
    env: { CTXD_CACHE_DIR: testCacheDir, CTXD_PORT: "0", ...env },
  });
  const report: unknown = JSON.parse(stdout);
  if (!Value.Check(Report, report)) throw new Error(`not a report: ${stdout}`);
  const problems = report.checks.filter(({ state }) => state === "problem");
  expect({ ok: report.ok, exitCode, stderr }).toEqual(
    problems.length === 0
      ? { ok: true, exitCode: 0, stderr: "" }
      : { ok: false, exitCode: 1, stderr: expect.stringMatching(/^ctxd: \d problems?\.\n$/) },
  );
  const found = (about: string): Check => {
    const check = report.checks.find(({ check }) => check.startsWith(about));
    if (!check) throw new Error(`nothing about ${about}: ${stdout}`);
    return check;
  };
  return { found, problems, exitCode };
}
