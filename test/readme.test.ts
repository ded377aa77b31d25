import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { scripts } from "../package.json" with { type: "json" };
import { FLAGS, SETTINGS } from "../src/config/settings.ts";
import { testCacheDir } from "./support/embedder.ts";

const ROOT = join(import.meta.dir, "..");
const readme = await Bun.file(join(ROOT, "README.md")).text();
const api = await Bun.file(join(ROOT, "src/help/api.md")).text();
const commandsOf = (page: string) =>
  [...page.matchAll(/```sh\n(.*?)```/gs)]
    .flatMap(([, block = ""]) => block.replaceAll("\\\n", "").split("\n"))
    .filter((line) => line.trim() !== "");

const PROGRAMS = `npx() { shift 2; "$BUN" "$@"; }; ctxd() { "$BUN" src/main.ts "$@"; }`;

/** The only command of a page, by default that on the API, that contains a part. */
function command(part: string, page = api): string {
  const found = commandsOf(page).filter((line) => line.includes(part));
  if (found.length === 1 && found[0]) return found[0];
  throw new Error(`${found.length} commands have ${part}`);
}

describe("commands of the README and of the help page on the API:", () => {
  const dataDir = mkdtempSync(join(tmpdir(), "ctxd-test-"));
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: dataDir,
    CTXD_DATA_DIR: dataDir,
    CTXD_CACHE_DIR: testCacheDir,
  };
  let server: Bun.Subprocess<"ignore", "ignore", "pipe">;
  let greeting = "";

  beforeAll(async () => {
    server = Bun.spawn([process.execPath, "src/main.ts", "serve", "--port", "0"], {
      cwd: ROOT,
      env,
      stdin: "ignore",
      stdout: "ignore",
      stderr: "pipe",
    });
    const decoder = new TextDecoder();
    for await (const bytes of server.stderr) {
      greeting += decoder.decode(bytes, { stream: true });
      if (greeting.includes("--name laptop")) break;
    }
  });

  afterAll(async () => {
    server.kill("SIGTERM");
    expect(await server.exited).toBe(0);
    rmSync(dataDir, { recursive: true });
  });

  /** Runs commands as if they were pasted into a shell, with this Bun instead of npx's, and as `ctxd`. */
  async function paste(lines: string[]): Promise<string[]> {
    const [address = ""] = /http:\S+:\d+/.exec(greeting) ?? [];
    const script = lines.join("\necho\n").replaceAll("http://localhost:7733", address);
    const child = Bun.spawn(["bash", "-euc", `${PROGRAMS}\n${script}`], {
      cwd: ROOT,
      env: { ...env, BUN: process.execPath },
      stdin: new Blob(["correct horse battery\n"]),
      stdout: "pipe",
      stderr: "pipe",
    });
    const [output, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    if ((await child.exited) !== 0) throw new Error(errors);
    return output.split("\n").filter((line) => line !== "");
  }

  test("save, find, change and delete a memory", async () => {
    const search = command("curl -G");
    const answers = await paste([
      command("user add"),
      command("key create"),
      command("umask"),
      command("importance"),
      search,
      command("URL="),
      command("ID="),
      command("-X PUT"),
      search,
      command("-X DELETE"),
      search,
    ]);
    const [saved, found, changed, foundAgain, deleted, foundNoMore] = answers.map((answer) =>
      JSON.parse(answer),
    );
    expect(saved).toMatchObject({ content: "Sam is allergic to peanuts", tags: ["food"] });
    expect(found.memories).toMatchObject([{ id: saved.id, content: saved.content }]);
    expect(changed).toMatchObject({ id: saved.id, tags: ["food"], importance: 0.9 });
    expect(changed.content).not.toBe(saved.content);
    expect(foundAgain.memories).toMatchObject([{ id: saved.id, content: changed.content }]);
    expect(deleted).toEqual({ id: saved.id, deleted: true });
    expect(foundNoMore.memories).toEqual([]);
  });

  test("save and find a memory in a terminal", async () => {
    const [saved, ...found] = await paste([
      command("ctxd save", readme),
      command("ctxd search", readme),
    ]);
    expect(saved).toStartWith("mem_");
    expect(found.join("\n")).toContain("Sam is allergic to peanuts");
  });

  test("the server prints the same commands when it starts", () => {
    for (const line of [command("user add"), command("key create")]) {
      const words = line.replace(/^.*?ctxd /, "").replace(/\)$/, "");
      expect(greeting).toContain(`ctxd ${words} --data-dir ${dataDir}\n`);
    }
  });
});

test("the README begins with the commands that run it, test it and connect an agent", () => {
  const [run, check, connect] = commandsOf(readme);
  expect(run).toContain(" start ");
  expect(check).toContain(" run test ");
  expect(connect).toContain(" ctxd connect ");
  expect(readme).not.toContain("OWNER");
});

describe("the README names only what exists:", () => {
  test("scripts of package.json", () => {
    const names = [...readme.matchAll(/bun@[\d.]+ (?:run )?(\w+)/g)].map(([, name]) => name);
    expect(names.length).toBeGreaterThan(5);
    for (const name of names) expect(Object.keys(scripts)).toContain(name ?? "");
  });

  test("files", () => {
    const paths = [...readme.matchAll(/\]\(((?!https?:)[^)#]+)[^)]*\)/g)].map(([, path]) => path);
    expect(paths.length).toBeGreaterThan(15);
    expect(paths.filter((path = "") => !existsSync(join(ROOT, path)))).toEqual([]);
  });
});

test("the help page on settings has every setting and flag, and no other", async () => {
  const page = await Bun.file(join(ROOT, "src/help/settings.md")).text();
  const known = [...Object.keys(SETTINGS), ...Object.values(FLAGS)];
  const named = [...page.matchAll(/`(CTXD_\w+|--(?:host|port|data-dir))`/g)].map(
    ([, name]) => name,
  );
  expect([...new Set(named)].sort()).toEqual(known.sort());
});

test("the README is short", () => {
  expect(readme.split("\n").length).toBeLessThan(150);
});

test("every place pins the same version of Bun", async () => {
  const versions = new Set<string | undefined>();
  for (const path of ["README.md", "Dockerfile", ".ci/bun"]) {
    const text = await Bun.file(join(ROOT, path)).text();
    const found = [...text.matchAll(/(?:bun@|version=)(\d+\.\d+\.\d+)/g)];
    expect(found.length).toBeGreaterThan(0);
    for (const [, version] of found) versions.add(version);
  }
  expect([...versions]).toEqual([Bun.version]);
});
