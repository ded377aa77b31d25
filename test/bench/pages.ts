import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { openBrowser, type Page } from "../support/browser.ts";
import { commandOf, createKey, startServer } from "./server-process.ts";

/**
 * How long the dashboard's pages take in an account with many memories, and what they weigh:
 * `bun test/bench/pages.ts [--memories 100000] [--executable FILE]`. A line per page: milliseconds until the first
 * byte, from there to the first paint and to the largest one, kilobytes of HTML and of all, and how far things move.
 */
const { values } = parseArgs({
  options: {
    memories: { type: "string", default: "100000" },
    executable: { type: "string" },
  },
  strict: true,
});
const VISITS = 5;
const folder = mkdtempSync(join(tmpdir(), "ctxd-pages-"));
const folders = { data: join(folder, "data"), cache: join(folder, "cache") };
const command = commandOf(values.executable ? resolve(values.executable) : null);

/** What a browser measures of a page, in milliseconds and bytes. */
interface Measured {
  firstByte: number;
  firstPaint: number;
  largestPaint: number;
  html: number;
  all: number;
  shift: number;
}

const MEASURE = `new Promise((resolve) => {
  const seen = { "layout-shift": [], "largest-contentful-paint": [] };
  for (const type of Object.keys(seen)) {
    new PerformanceObserver((list) => seen[type].push(...list.getEntries())).observe({ type, buffered: true });
  }
  const tell = () => requestIdleCallback(() => {
    const [page] = performance.getEntriesByType("navigation");
    const paint = performance.getEntriesByName("first-contentful-paint")[0];
    // A page may be loaded before it is painted.
    if (!paint) return requestAnimationFrame(tell);
    const files = performance.getEntriesByType("resource");
    resolve({
      firstByte: page.responseStart - page.requestStart,
      firstPaint: paint.startTime - page.responseStart,
      largestPaint: (seen["largest-contentful-paint"].at(-1)?.startTime ?? 0) - page.responseStart,
      html: page.encodedBodySize,
      all: files.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, page.encodedBodySize),
      shift: seen["layout-shift"].reduce((sum, { value }) => sum + value, 0),
    });
  });
  tell();
})`;

async function measure(page: Page, url: string): Promise<Measured> {
  await page.goto(url, { waitUntil: "load" });
  return page.evaluate<Measured>(MEASURE);
}

function median(numbers: number[]): number {
  return numbers.sort((a, b) => a - b)[numbers.length >> 1] ?? 0;
}

async function fill(): Promise<void> {
  const program = join(import.meta.dir, "fill-folder.ts");
  const child = Bun.spawn([process.execPath, program, folders.data, values.memories], {
    stdout: "ignore",
    stderr: "inherit",
  });
  if ((await child.exited) !== 0) throw new Error("the folder was not filled");
}

try {
  await createKey(command, folders);
  await fill();
  const server = await startServer(command, folders);
  const browser = await openBrowser();
  const page = await browser.open();
  // Pages are served under the name that is theirs.
  const origin = server.origin.replace("127.0.0.1", "localhost");
  await page.goto(`${origin}/sign-in`);
  await page.getByLabel("E-mail").fill("bench@example.com");
  await page.getByLabel("Password").fill("a password for the bench");
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.goto(`${origin}/memories`);
  const memory = await page
    .locator(".memory a[href^='/memories/mem_']")
    .first()
    .getAttribute("href");
  await page.goto(`${origin}/memories/new?project=harbour`);
  await page.getByLabel("Text").fill("The harbour is open until six.");
  await page.getByRole("button", { name: "Save the memory" }).click();
  const paths = [
    ...["/", "/memories", "/memories?q=what+is+known+of+the+harbour", memory ?? ""],
    ...["/memories?sort=importance", "/memories?only=expiring", "/memories?only=secret"],
    ...["/agents", "/projects", "/projects/harbour"],
    ...["/memories/new", "/map", "/activity", "/connect", "/keys", "/account", "/admin"],
  ];
  console.log(`${values.memories} memories, medians of ${VISITS} visits`);
  for (const path of paths) {
    const visits: Measured[] = [];
    for (let visit = 0; visit < VISITS; visit++) visits.push(await measure(page, origin + path));
    const of = (name: keyof Measured) => median(visits.map((each) => each[name]));
    console.log(
      path.slice(0, 32).padEnd(34),
      `first byte ${of("firstByte").toFixed(0)} ms, first paint +${of("firstPaint").toFixed(0)} ms,`,
      `largest +${of("largestPaint").toFixed(0)} ms, HTML ${(of("html") / 1000).toFixed(1)} KB,`,
      `all ${(Math.max(...visits.map(({ all }) => all)) / 1000).toFixed(1)} KB, shift ${of("shift").toFixed(2)}`,
    );
  }
  await browser.close();
  await server.stop();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
// Chromium would go on.
process.exit();
