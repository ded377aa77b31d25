import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { version } from "../../package.json" with { type: "json" };
import { bareRoot } from "../support/bare-root.ts";
import { openBrowser } from "../support/browser.ts";

/** The first build compresses 300 MB of libraries; later ones find that done. */
const BUILD_TIMEOUT = 20 * 60_000;
/** The first start unpacks them. */
const TIMEOUT = 120_000;

const ROOT = join(import.meta.dir, "..", "..");
const isRoot = process.getuid?.() === 0;
/** Tools of administrators are not in everyone's path. */
const find = (tool: string) => Bun.which(tool, { PATH: `${process.env.PATH}:/usr/sbin:/sbin` });
const [unshare, ip, chroot] = ["unshare", "ip", "chroot"].map(find);
const folder = mkdtempSync(join(tmpdir(), "ctxd-executable-"));

beforeAll(async () => {
  const build = Bun.spawn([process.execPath, "src/native/build.ts"], { cwd: ROOT, stderr: "pipe" });
  const errors = await build.stderr.text();
  if ((await build.exited) !== 0) throw new Error(errors);
  copyFileSync(join(ROOT, "dist", "ctxd"), join(folder, "ctxd"));
}, BUILD_TIMEOUT);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What a user does first, as a program of its own: it may have to run in another network. */
const SAVE_AND_FIND = `
  const { BASE, KEY } = process.env;
  const headers = { authorization: "Bearer " + KEY, "content-type": "application/json" };
  for (const content of [
    "My daughter is allergic to peanuts.",
    "The router stands behind the bookshelf.",
    "Invoices are due on the first Monday of the month.",
  ]) {
    const body = JSON.stringify({ content });
    const { status } = await fetch(BASE + "/api/memories", { method: "POST", headers, body });
    if (status !== 201) throw new Error("saving answered " + status);
  }
  const query = new URLSearchParams({ q: "what food must the child avoid" });
  const answer = await fetch(BASE + "/api/memories/search?" + query, { headers });
  console.log((await answer.json()).memories[0].content);
`;

interface Place {
  /** The folder it runs in, with an executable `ctxd`. */
  cwd: string;
  /** What starts a program there. */
  wrap?: (command: string[]) => string[];
  /** What starts a client that reaches a server with this process id. */
  near?: (pid: number) => string[];
  env: Record<string, string>;
}

/** Makes an account and a key, saves three memories, finds one, stops; what was found and said. */
async function useOnce({ cwd, wrap = (command) => command, near = () => [], env }: Place) {
  const run = async (args: string[], input = "") => {
    const child = Bun.spawn(wrap(["./ctxd", ...args]), {
      cwd,
      env,
      stdin: new Blob([input]),
      stdout: "pipe",
      stderr: "pipe",
    });
    const [output, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    if ((await child.exited) !== 0) throw new Error(errors);
    return output.trim();
  };
  await run(["user", "add", "you@example.com"], "correct horse battery\n");
  const key = await run(["key", "create", "--user", "you@example.com", "--name", "test"]);

  const server = Bun.spawn(wrap(["./ctxd", "--port", "0"]), {
    cwd,
    env,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  try {
    const base = await addressOf(server.stderr);
    const client = Bun.spawn([...near(server.pid), process.execPath, "-e", SAVE_AND_FIND], {
      env: { BASE: base, KEY: key },
      stdout: "pipe",
      stderr: "pipe",
    });
    const [found, errors] = await Promise.all([client.stdout.text(), client.stderr.text()]);
    server.kill("SIGTERM");
    return { found: found.trim(), errors, exitCode: await server.exited };
  } finally {
    server.kill("SIGKILL");
  }
}

async function addressOf(stderr: ReadableStream<Uint8Array>): Promise<string> {
  let said = "";
  const decoder = new TextDecoder();
  for await (const bytes of stderr) {
    said += decoder.decode(bytes, { stream: true });
    const address = /http:\S+:\d+/.exec(said)?.[0];
    if (address) return address;
  }
  throw new Error(`the server ended: ${said}`);
}

const RIGHT = { found: "My daughter is allergic to peanuts.", errors: "", exitCode: 0 };

describe("the executable", () => {
  test(
    "does its main job in an empty folder with an empty environment",
    async () => {
      const home = join(folder, "home");
      mkdirSync(home);
      expect(await useOnce({ cwd: folder, env: { HOME: home } })).toEqual(RIGHT);
      expect(readdirSync(folder).sort()).toEqual(["ctxd", "home"]);
    },
    TIMEOUT,
  );

  test(
    "serves the dashboard with its stylesheet, scripts and charts",
    async () => {
      const home = mkdtempSync(join(folder, "dashboard-"));
      const server = Bun.spawn([join(folder, "ctxd"), "--port", "0"], {
        cwd: folder,
        env: { HOME: home, CTXD_CACHE_DIR: join(folder, "home", ".cache", "ctxd") },
        stdin: "ignore",
        stdout: "ignore",
        stderr: "pipe",
      });
      const browser = await openBrowser();
      try {
        const origin = await addressOf(server.stderr);
        await browser.visit({ origin }, async (page) => {
          await page.goto(origin);
          await page.getByLabel("E-mail address").fill("you@example.com");
          await page.getByLabel("Password").fill("correct horse battery");
          await page.getByRole("button", { name: "Make my account" }).click();
          await page.getByRole("link", { name: "Add a memory" }).click();
          await page.getByLabel("Text").fill("My daughter is allergic to peanuts.");
          await page.getByRole("button", { name: "Save the memory" }).click();
          await page.getByRole("link", { name: "Overview" }).click();
          await page.locator("[data-chart=fading] canvas").waitFor();
          await page.getByRole("link", { name: "Memories", exact: true }).click();
          await page.getByLabel("Search").fill("what food must the child avoid");
          await page.getByText("Score").waitFor();
        });
      } finally {
        await browser.close();
        server.kill("SIGKILL");
      }
    },
    TIMEOUT,
  );

  test(
    "reads no .env and no bunfig.toml of the folder it is started in",
    async () => {
      const cwd = join(folder, "elsewhere");
      mkdirSync(cwd);
      writeFileSync(join(cwd, ".env"), "CTXD_PORT=nonsense\n");
      writeFileSync(join(cwd, "bunfig.toml"), 'preload = ["./missing.ts"]\n');
      const child = Bun.spawn([join(folder, "ctxd"), "health", "--port", "1"], {
        cwd,
        env: { HOME: join(folder, "home") },
        stdout: "pipe",
        stderr: "pipe",
      });
      expect(await child.stderr.text()).not.toContain("nonsense");
      const { stdout } = Bun.spawnSync([join(folder, "ctxd"), "--version"], { cwd, env: {} });
      expect(stdout.toString().trim()).toBe(version);
    },
    TIMEOUT,
  );

  test.skipIf(!isRoot || !unshare || !ip)(
    "does its main job without any network but its own loopback",
    async () => {
      const home = mkdtempSync(join(folder, "offline-"));
      const network = `${ip} link set lo up && exec "$@"`;
      const result = await useOnce({
        cwd: folder,
        env: { HOME: home, PATH: process.env.PATH ?? "" },
        wrap: (command) => [`${unshare}`, "-n", "sh", "-c", network, "sh", ...command],
        near: (pid) => ["nsenter", "-t", `${pid}`, "-n"],
      });
      expect(result).toEqual(RIGHT);
    },
    TIMEOUT,
  );

  test.skipIf(!isRoot || !chroot || process.platform !== "linux")(
    "does its main job in a bare root that has the C library and /tmp alone, as another user",
    async () => {
      using root = bareRoot(join(folder, "ctxd"));
      const result = await useOnce({
        cwd: root.path,
        env: { HOME: "/tmp/home", PATH: process.env.PATH ?? "" },
        wrap: (command) => [`${chroot}`, "--userspec=65534:65534", root.path, ...command],
      });
      expect(result).toEqual(RIGHT);
    },
    TIMEOUT,
  );
});
