import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import {
  download,
  fetchCatalogueModel,
  folderOf,
  isFetched,
} from "../../src/embedding/catalogue-download.ts";
import { builtInModel } from "../../src/embedding/manifest.ts";
import type { ModelDescription } from "../../src/embedding/model-folder.ts";
import { fetchNewestRelease } from "../../src/upgrade/release.ts";
import { ctxd, type Outcome } from "../support/command-line.ts";
import { temporaryFolder } from "../support/database.ts";
import { outcomeOf } from "../support/outcome.ts";
import { until } from "../support/until.ts";
import { startHostileServer } from "./support/hostile-server.ts";

const MB = 1 << 20;
/** Bytes that may be on the way when the client leaves: the buffers of two sockets. */
const ON_THE_WAY = 16 * MB;
/** What a terminal may obey, but for line breaks. */
const OBEYED = /(?!\n)[\p{Cc}\u202E]/u;
/** The name for this machine that differs from the address of the servers. */
const otherName = (address: string) => address.replace("127.0.0.1", "localhost");

let hostile: Awaited<ReturnType<typeof startHostileServer>>;
let elsewhere: typeof hostile;
beforeAll(async () => {
  [hostile, elsewhere] = await Promise.all([startHostileServer(), startHostileServer()]);
});
beforeEach(() => {
  hostile.reset();
  elsewhere.reset();
});
afterAll(() => Promise.all([hostile.close(), elsewhere.close()]));

/** A command has failed with one sentence that no terminal obeys. */
function expectFailure({ exitCode, stdout, stderr }: Outcome, reason: string): void {
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
  expect(stderr).toMatch(/^ctxd: [^\n]+\.\n$/);
  expect(stderr).toContain(reason);
  expect(stderr).not.toMatch(OBEYED);
  expect(stderr).not.toContain("verbose");
}

/** Where a hostile server may want to lead a client. */
const LED: [string, () => string][] = [
  ["to another host without https", () => `${elsewhere.at}/x`],
  ["to another name without https", () => `${otherName(elsewhere.at)}/x`],
  ["to a file", () => "file:///etc/passwd"],
  ["to itself as data", () => 'data:application/json,{"tag_name":"v99.0.0"}'],
  ["to an address that is none", () => "http://[::1/x"],
  ["in a circle", () => "/x"],
];

describe("ctxd model fetch", () => {
  const machine = () => {
    const [cacheDir, dataDir] = [temporaryFolder(), temporaryFolder()];
    const run = (args: string[]) => ctxd(args, { dataDir, env: { CTXD_CACHE_DIR: cacheDir } });
    return { cacheDir, run };
  };
  const whole = (folder: string) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && statSync(join(entry.parentPath, entry.name)).size > 0)
      .map(({ name }) => name);

  test.each(LED)("is not led %s", async (_, location) => {
    hostile.answer("*", hostile.redirect(location()));
    elsewhere.answer("*", elsewhere.flood("x", { times: 1 }));
    const { run, cacheDir } = machine();
    const failed = await run(["model", "fetch", "bge-base", "--from", hostile.at]);
    expectFailure(failed, "can't be downloaded (it redirects");
    expect(elsewhere.asked).toEqual([]);
    expect(hostile.asked.length).toBeLessThanOrEqual(6);
    expect(whole(cacheDir)).toEqual([]);
  });

  test("takes no more than the model's size, and the model in use stays", async () => {
    hostile.answer("*", hostile.flood("x".repeat(MB)));
    const { run, cacheDir } = machine();
    const failed = await run(["model", "fetch", "bge-base", "--from", hostile.at]);
    expectFailure(failed, "the answer is larger than the file");
    expect(hostile.sent()).toBeLessThan(112e6 + ON_THE_WAY);
    expect(whole(cacheDir)).toEqual([]);
    expectFailure(await run(["model", "use", "bge-base"]), "bge-base is not on this machine");
    expect((await run(["model", "list"])).stdout).toEndWith("* in use: bge-small\n");
  });
});

describe("a model's file", () => {
  const CONTENT = "of the model ".repeat(10_000);
  const { dimension, cosines, ...builtIn } = builtInModel;
  const description: ModelDescription = {
    ...builtIn,
    files: [
      {
        name: "model.onnx",
        source: { path: "model.onnx" },
        bytes: CONTENT.length,
        sha256: new Bun.CryptoHasher("sha256").update(CONTENT).digest("hex"),
      },
    ],
  };
  const fetchInto = (cacheDir: string) =>
    fetchCatalogueModel({ address: hostile.at, description }, cacheDir, { pause: 1 });

  test("is had from an honest server right after a hostile one has sent too much", async () => {
    const cacheDir = temporaryFolder();
    const part = join(folderOf(description, cacheDir), "fetching-model.onnx");
    hostile.answer("*", async (response, request) => {
      response.write("x");
      await until("a byte is written", () => statSync(part).size > 0);
      hostile.flood(CONTENT)(response, request);
    });
    expect(await outcomeOf(fetchInto(cacheDir))).toThrow("larger than the file");
    expect(await isFetched(description, cacheDir)).toBe(false);
    hostile.answer("*", (response, { headers }) => {
      const start = Number(/\d+/.exec(headers.range ?? "0")?.[0]);
      const range = `bytes ${start}-${CONTENT.length - 1}/${CONTENT.length}`;
      response.writeHead(206, { "content-range": range }).end(CONTENT.slice(start));
    });
    await fetchInto(cacheDir);
    expect(await isFetched(description, cacheDir)).toBe(true);
  });

  test("is not unpacked on the way: few bytes could become gigabytes", async () => {
    const bomb = gzipSync(Buffer.alloc(10 * MB));
    hostile.answer("*", (response) =>
      response.writeHead(200, { "content-encoding": "gzip" }).end(bomb),
    );
    const cacheDir = temporaryFolder();
    expect(await outcomeOf(fetchInto(cacheDir))).toThrow(
      `only ${bomb.length} of ${CONTENT.length}`,
    );
    expect(statSync(join(folderOf(description, cacheDir), "fetching-model.onnx")).size).toBe(
      bomb.length,
    );
  });

  test("that comes byte by byte is given up", async () => {
    hostile.answer("*", hostile.drip());
    const part = join(temporaryFolder(), "part");
    const options = { onBytes: () => {}, pause: 1, stallMs: 50 };
    expect(await outcomeOf(download(`${hostile.at}/x`, part, MB, options))).toThrow("stalled");
  });

  test("may be elsewhere on the same server", async () => {
    hostile.answer("/model.onnx", hostile.redirect("/moved"));
    hostile.answer("/moved", hostile.flood(CONTENT, { times: 1 }));
    const folder = await fetchInto(temporaryFolder());
    expect(existsSync(join(folder, "model.onnx"))).toBe(true);
  });
});

describe("ctxd upgrade --check", () => {
  const release = (tag_name: string, body = "") =>
    hostile.answer("*", hostile.flood(JSON.stringify({ tag_name, body }), { times: 1 }));
  const check = (...more: string[]) =>
    ctxd(["upgrade", "--check", ...more], { env: { CTXD_RELEASES_URL: `${hostile.at}/x` } });

  test.each(LED)("is not led %s", async (_, location) => {
    hostile.answer("*", hostile.redirect(location()));
    elsewhere.answer("*", elsewhere.redirect("https://127.0.0.1:1/x"));
    expectFailure(await check(), "can't be fetched (it redirects");
    expect(elsewhere.asked).toEqual([]);
    expect(hostile.asked.length).toBeLessThanOrEqual(6);
  });

  test.each([
    ["without an end", { before: "" }],
    ["of 100 MB", { before: '{"tag_name":"v99.0.0","body":"', times: 100, after: '"}' }],
  ])("reads no answer %s", async (_, options) => {
    hostile.answer("*", hostile.flood("x".repeat(MB), options));
    expectFailure(await check(), "the answer is too long");
    expect(hostile.sent()).toBeLessThan(ON_THE_WAY);
  });

  test("gives up on an answer that comes byte by byte", async () => {
    hostile.answer("*", hostile.drip());
    expect(await outcomeOf(fetchNewestRelease(`${hostile.at}/x`, 50))).toThrow("can't be fetched");
  });

  test.each([
    ["that clears the screen", "v99.0.0\u001b[2J"],
    ["that clears it by one character", "99.0.0\u009b2J"],
    ["with a line break", "99.0.0\n"],
    ["in other digits", "\uFF19\uFF19.0.0"],
    ["that turns the direction of writing", "99.0.0-\u202e1"],
    ["of great length", `99.0.${"9".repeat(100_000)}`],
  ])("takes a tag %s for no version", async (_, tag) => {
    release(tag);
    expectFailure(await check(), "names no release");
  });

  test("prints no notes that a terminal obeys, also as JSON", async () => {
    const notes = "- One\u001b]52;c;eA==\u0007\n- \u009b2J \u202e Two";
    release("v99.0.0", notes);
    const printed = await check();
    expect(printed).toMatchObject({ exitCode: 0 });
    expect(printed.stdout).not.toMatch(OBEYED);
    const { stdout } = await check("--json");
    expect(stdout).not.toMatch(OBEYED);
    expect(JSON.parse(stdout)).toMatchObject({ newest: { notes } });
  });
});
