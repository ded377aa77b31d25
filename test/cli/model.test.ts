import { describe, expect, test } from "bun:test";
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { choicePath } from "../../src/embedding/model-choice.ts";
import { ctxd } from "../support/command-line.ts";
import { temporaryFolder } from "../support/database.ts";
import { testCacheDir } from "../support/embedder.ts";
import { writeWordModel } from "../support/word-model.ts";

/** A data folder with the tests' cache or another one. */
function machine(cacheDir = testCacheDir) {
  const dataDir = temporaryFolder();
  return {
    dataDir,
    run: (args: string[], env: Record<string, string> = {}) =>
      ctxd(args, { dataDir, env: { CTXD_CACHE_DIR: cacheDir, ...env } }),
  };
}

/** The finding of `ctxd doctor` about the model. */
async function modelOf({ run }: ReturnType<typeof machine>): Promise<string> {
  const { stdout } = await run(["doctor", "--json"]);
  const checks: { check: string; message: string }[] = JSON.parse(stdout).checks;
  return checks.find(({ check }) => check === "model")?.message ?? "";
}

describe("ctxd model", () => {
  test("lists the models, which are downloaded and which is used", async () => {
    const cacheDir = temporaryFolder();
    const { run } = machine(cacheDir);
    const { stdout, exitCode } = await run(["model", "list"]);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^bge-small \* +English +35 MB +yes /m);
    expect(stdout).toMatch(/^multilingual-e5-small +about 100.* 135 MB +no /m);
    expect(stdout).toMatch(/^bge-base +English +111 MB +no /m);
    expect(stdout).toEndWith("* in use: bge-small\n");
    const named = await run(["model", "list", "--json"], { CTXD_MODEL: "bge-base" });
    expect(JSON.parse(named.stdout)).toMatchObject({ used: "bge-base", chosen_by: "CTXD_MODEL" });
    // Listing downloads nothing.
    expect(readdirSync(cacheDir)).toEqual([]);
  });

  test("refuses a model that is not downloaded in one line, and downloads nothing", async () => {
    const cacheDir = temporaryFolder();
    const { run, dataDir } = machine(cacheDir);
    const refused = await run(["model", "use", "multilingual-e5-small"]);
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toMatch(
      /^ctxd: multilingual-e5-small is not on this machine: .* model fetch /,
    );
    const unknown = await run(["model", "use", "bge-huge"]);
    expect(unknown).toMatchObject({ exitCode: 2 });
    expect(unknown.stderr).toContain(
      "Use one of bge-small, multilingual-e5-small, bge-base, or the folder",
    );
    const set = await run(["model", "use", "bge-small"], { CTXD_MODEL: "bge-base" });
    expect(set.stderr).toContain("CTXD_MODEL sets the model");
    expect(readdirSync(cacheDir)).toEqual([]);
    expect(readdirSync(dataDir)).toEqual([]);
  });

  test("selects another model for the next start, and the first one again", async () => {
    const folder = temporaryFolder();
    await writeWordModel(folder);
    const at = machine();
    const used = await at.run(["model", "use", folder]);
    expect(used).toMatchObject({ exitCode: 0 });
    expect(used.stderr).toContain("from its next start");
    expect(statSync(choicePath(at.dataDir)).mode & 0o777).toBe(0o600);
    expect(await modelOf(at)).toMatch(/^words-[0-9a-f]{8} has vectors of 48 numbers$/);
    expect((await at.run(["model", "list"])).stdout).toEndWith(`\nIn use: ${folder}\n`);
    expect((await at.run(["model", "use", folder])).stderr).toContain("already in use");
    expect((await at.run(["model", "use", "bge-small"])).exitCode).toBe(0);
    expect(await modelOf(at)).toContain("bge-small-en-v1.5");
    expect((await at.run(["model", "use", "bge-small"])).stderr).toContain("already in use");
  });

  test("a start says what to do when the selected model is missing", async () => {
    const { run, dataDir } = machine();
    writeFileSync(choicePath(dataDir), JSON.stringify({ model: "multilingual-e5-small" }));
    const { stderr, exitCode } = await run(["serve", "--port", "0"]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(
      "run ctxd model fetch multilingual-e5-small, or ctxd model use bge-small",
    );
    for (const [settings, by] of [
      [{ CTXD_MODEL: "fast-bge-base-en-v1.5" }, "CTXD_MODEL"],
      [{}, "ctxd model use"],
    ] as const) {
      writeFileSync(choicePath(dataDir), JSON.stringify({ model: "fast-bge-base-en-v1.5" }));
      const former = await run(["serve", "--port", "0"], settings);
      expect(former).toMatchObject({ exitCode: 1, stdout: "" });
      expect(former.stderr).toMatch(
        new RegExp(`^ctxd: ${by}: fast-bge-base-en-v1.5 is neither a folder nor [^\\n]+\\.\\n$`),
      );
    }
    writeFileSync(choicePath(dataDir), "{}");
    expect((await run(["model", "list"])).stderr).toContain("is damaged: run ctxd model use again");
    expect((await run(["model", "use", "bge-small"])).exitCode).toBe(0);
    expect((await run(["model", "list"])).exitCode).toBe(0);
  });

  test("downloads only from the given mirror", async () => {
    const asked: string[] = [];
    using server = Bun.serve({
      port: 0,
      fetch(request) {
        asked.push(new URL(request.url).pathname);
        return new Response("no", { status: 404 });
      },
    });
    const { run } = machine(temporaryFolder());
    const refused = await run(["model", "fetch", "bge-base", "--from", server.url.href]);
    expect(refused).toMatchObject({ exitCode: 1, stdout: "" });
    expect(refused.stderr).toMatch(/^ctxd: http:\/\/localhost:\d+\/Xenova\/.* 404\)[^\n]+\n$/);
    expect(asked).toEqual([
      "/Xenova/bge-base-en-v1.5/resolve/4d6cd88e18e51a5e020c2c305726d76ada9c03cf/onnx/model_quantized.onnx",
    ]);
    const given = await run(["model", "fetch", "bge-base", "--file", import.meta.path]);
    expect(given.stderr).toContain("None of the files is onnx/model_quantized.onnx");
    expect(asked).toHaveLength(1);
    expect((await run(["model", "fetch", "bge-small"])).stderr).toContain("is built in");
  });
});
