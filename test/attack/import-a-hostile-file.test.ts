import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { createConverter } from "../../src/import/convert-memory.ts";
import type { SourceLine } from "../../src/import/read-files.ts";
import { countOf, createTotals, transfer } from "../../src/import/transfer.ts";
import { stopServer } from "../support/bridge.ts";
import { testCacheDir } from "../support/embedder.ts";
import { packedPdf } from "../support/pdf.ts";
import { ctxdWithPeak, hasPeaks } from "./support/peak-memory.ts";

/** Megabytes that the command may take. The limit of the thread that reads a PDF is checked now and then. */
const ROOM = { text: 350, pdf: 700 };
const MEGABYTE = 2 ** 20;

const home = mkdtempSync(join(tmpdir(), "ctxd-test-"));
const dataDir = join(home, "data");
const preview = (path: string) =>
  ctxdWithPeak(["import", path, "--preview"], {
    dataDir,
    env: { CTXD_PORT: "0", CTXD_CACHE_DIR: testCacheDir },
  });
beforeAll(async () => {
  // Starts the server that the other commands use.
  writeFileSync(join(home, "first.md"), "Bees hum.");
  if (hasPeaks) expect(await preview(join(home, "first.md"))).toMatchObject({ exitCode: 0 });
}, 120_000);
afterAll(async () => {
  if (hasPeaks) await stopServer(dataDir);
  rmSync(home, { recursive: true, force: true });
});

/** Half a gigabyte that compresses to almost nothing. */
const monotony = () => Buffer.alloc(512 * MEGABYTE, "a");

describe.skipIf(!hasPeaks)("the command stays small when it imports", () => {
  test.each<[string, string, string, () => Buffer]>([
    [
      "a PDF whose page unpacks to half a gigabyte",
      "a.pdf",
      "takes too much memory to read",
      () => packedPdf(deflateSync(deflateSync(monotony())), 2),
    ],
    [
      "a packed transcript that unpacks to half a gigabyte",
      "a.jsonl.zst",
      "unpacks to too many bytes",
      () => Bun.zstdCompressSync(monotony()),
    ],
    [
      "a document of open brackets",
      "a.json",
      "entry 2: is nested too deeply: the rest was not read",
      () => Buffer.from(`[{"content":"a"},{"content":${"[".repeat(12 * MEGABYTE)}`),
    ],
    [
      "a document with a number of millions of digits",
      "a.json",
      "entry 2: has no memory",
      () => Buffer.from(`[{"content":"a"},${"9".repeat(30 * MEGABYTE)}]`),
    ],
  ])("%s", async (_, name, said, make) => {
    const path = join(home, name);
    writeFileSync(path, make());
    const { stderr, exitCode, peak } = await preview(path);
    expect({ stderr, exitCode }).toMatchObject({ exitCode: 1 });
    expect(stderr).toContain(said);
    expect(stderr.length).toBeLessThan(1_000);
    expect(peak).toBeLessThan(name.endsWith(".pdf") ? ROOM.pdf : ROOM.text);
  });
});

test("of millions of damaged lines the first are named, and all are counted", async () => {
  const count = 300_000;
  const lines = (async function* (): AsyncGenerator<SourceLine> {
    for (let n = 1; n <= count; n++) yield { at: `line ${n}`, problem: "is no memory" };
  })();
  const totals = createTotals();
  for await (const _ of transfer({ lines }, totals, async () => expect.unreachable()));
  expect(totals.failures).toBe(count);
  expect(countOf(totals)).toBe(count);
  expect(totals.failed[0]).toEqual({ at: "line 1", reason: "is no memory" });
  expect(totals.failed.length).toBeLessThan(1_000);
});

test("an import does not keep the texts that it has read", () => {
  const convert = createConverter({ project: null });
  const texts = (from: number, end: number) => {
    for (let n = from; n < end; n++) {
      convert("csv", { content: `${n} ${"x".repeat(30_000)}`, subject: "s" });
    }
    Bun.gc(true);
    return process.memoryUsage().heapUsed / MEGABYTE;
  };
  const before = texts(0, 1_000);
  expect(texts(1_000, 6_000) - before).toBeLessThan(50);
});
