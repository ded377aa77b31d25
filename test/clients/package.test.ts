import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { version } from "../../package.json" with { type: "json" };
import { packClient } from "../../src/build/release/npm/client.ts";
import { openBrowser } from "../support/browser.ts";
import { sharedEmbedder } from "../support/embedder.ts";
import { startServer } from "../support/server.ts";

const ROOT = join(import.meta.dir, "..", "..");
const CLIENT = join(ROOT, "src", "clients", "typescript");
const TSC = join(ROOT, "node_modules", "typescript", "bin", "tsc");
const embedder = sharedEmbedder();
await embedder.ready();
const server = await startServer({ embedder });
/** A project that has the package, as npm unpacks it. */
const folder = mkdtempSync(join(tmpdir(), "ctxd-package-"));
const installed = join(folder, "node_modules", "@ctxd", "client");
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

async function run(command: string[], cwd = folder, env: Record<string, string> = {}) {
  const { PATH = "" } = process.env;
  const child = Bun.spawn(command, {
    ...{ cwd, env: { PATH, ...env } },
    ...{ stdout: "pipe", stderr: "pipe" },
  });
  const [output, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { output, errors, code: await child.exited };
}

beforeAll(async () => {
  const repository = "https://github.com/owner/ctxd";
  const file = await packClient({ version, repository, executables: {}, out: folder });
  mkdirSync(installed, { recursive: true });
  const unpacked = await run(["tar", "-xzf", file, "--strip-components=1", "-C", installed]);
  expect(unpacked).toMatchObject({ errors: "", code: 0 });
  await Bun.write(join(folder, "package.json"), '{ "type": "module" }');
});

const PAGES = {
  readme: join(CLIENT, "README.md"),
  help: join(ROOT, "src", "help", "clients.md"),
};
const examplesIn = async (page: string) =>
  [...(await Bun.file(page).text()).matchAll(/```ts\n(.*?)```/gs)].map(([, code = ""]) => code);

/** A program that uses all of the client's types; where npm puts the package, they are looked up alone. */
const TYPED = `
import { type Client, createClient, CtxdError, type Memory } from "@ctxd/client";

const client: Client = createClient({ key: "" });
export const error: Error = new CtxdError("network", "");
export async function use(): Promise<Memory[]> {
  const { id, tags } = await client.save({ content: "x", agent_id: undefined, project: null });
  const [found] = await client.search("x", { tags, created_after: new Date(), known: true });
  const score: number | undefined = found?.score;
  await client.update(id, { expires_at: null }, { ifMatch: "*" });
  const report = await client.import(client.export({ project_only: true }));
  for await (const memory of client.list({ project: null })) void memory.created_at;
  // @ts-expect-error: no such field
  await client.save({ content: "x", text: "x" });
  // @ts-expect-error: a flag is true or false
  await client.list({ project_only: "true" });
  // @ts-expect-error: a deletion takes no query
  await client.deleteWhere({ q: "x" });
  return score === undefined || report.created > 0 ? [] : client.history(id);
}
`;

describe("the package of the TypeScript client", () => {
  test("has types that need no other", async () => {
    await Bun.write(join(folder, "typed.ts"), TYPED);
    for (const [name, page] of Object.entries(PAGES)) {
      const given = "declare const id: string;\ndeclare const other: typeof memories;\n";
      await Bun.write(join(folder, `${name}.ts`), given + (await examplesIn(page)).join("\n"));
    }
    for (const [module, resolution] of [
      ["nodenext", "nodenext"],
      ["esnext", "bundler"],
    ]) {
      const compilerOptions = {
        ...{ module, moduleResolution: resolution, strict: true, exactOptionalPropertyTypes: true },
        ...{ target: "es2023", lib: ["es2023", "dom", "dom.iterable"], types: [], noEmit: true },
      };
      const config = { compilerOptions, files: ["typed.ts", "readme.ts", "help.ts"] };
      await Bun.write(join(folder, "tsconfig.json"), JSON.stringify(config));
      const checked = await run([process.execPath, TSC, "-p", "."]);
      expect(checked).toMatchObject({ output: "", code: 0 });
    }
  });

  test("has what a reader of npm needs, and nothing of the checkout", async () => {
    const fields = await Bun.file(join(installed, "package.json")).json();
    expect(fields).toMatchObject({ name: "@ctxd/client", version, license: "Apache-2.0" });
    for (const name of ["private", "scripts", "devDependencies", "dependencies"])
      expect(fields).not.toHaveProperty(name);
    const { default: code, types } = fields.exports["."];
    for (const path of [code, types, "LICENSE"])
      expect(await Bun.file(join(installed, path)).exists()).toBe(true);
    const readme = await Bun.file(join(installed, "README.md")).text();
    expect(readme).toContain("(https://github.com/owner/ctxd)");
    expect(await Bun.file(join(installed, "src/index.ts")).exists()).toBe(false);
  });

  test.each([
    ["Node.js", Bun.which("node")],
    ["Bun", process.execPath],
  ])("its examples run in %s", async (_, runtime) => {
    if (runtime === null) throw new Error("Node.js is missing: the project needs it");
    const example = (name: string, env: Record<string, string>) => {
      // Without types: this Node.js may not know how to leave them out.
      copyFileSync(join(CLIENT, "examples", `${name}.ts`), join(folder, `${name}.mjs`));
      return run([runtime, `${name}.mjs`], folder, { CTXD_URL: server.origin, ...env });
    };
    const [one, other] = [await server.account(), await server.account()];
    expect(await example("first-memory", { CTXD_KEY: one.key })).toEqual({
      ...{ errors: "", code: 0 },
      output: "Sam is allergic to peanuts\nSam is allergic to peanuts and shellfish\nIt is gone.\n",
    });
    await one.saveAll(Array.from({ length: 40 }, (_, number) => ({ content: `fact ${number}` })));
    const from = { FROM_URL: server.origin, FROM_KEY: one.key, CTXD_KEY: other.key };
    const [first, again] = [await example("move", from), await example("move", from)];
    expect(first.errors + again.errors).toBe("");
    expect(first.output).toBe("40 new, 0 newer, 0 here already\n");
    expect(again.output).toBe("0 new, 0 newer, 40 here already\n");
  });
});

test.each(Object.entries(PAGES))(
  "the first example of its %s does what it says",
  async (_, page) => {
    const [first = ""] = await examplesIn(page);
    const { key } = await server.account();
    const options = JSON.stringify({ key, url: server.origin });
    await Bun.write(join(folder, "first.ts"), first.replace('{ key: "ctx_…" }', options));
    const { output, errors } = await run([process.execPath, "first.ts"]);
    expect(errors).toBe("");
    expect(output).toMatch(/^Sam is allergic to peanuts 0\.\d+\n$/);
  },
);

test("the TypeScript client works in a page of the server's origin", async () => {
  // The server has no page that takes a script of others: here one stands in front of it.
  await using front = Bun.serve({
    port: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      if (pathname.startsWith("/api/")) {
        const { method, headers } = request;
        const body = method === "GET" ? null : await request.blob();
        return fetch(`${server.origin}${pathname}${search}`, { method, headers, body });
      }
      if (pathname === "/") return new Response("", { headers: { "content-type": "text/html" } });
      const file = Bun.file(join(installed, "dist", pathname));
      return (await file.exists()) ? new Response(file) : new Response("", { status: 404 });
    },
  });
  const { key } = await server.account();
  const browser = await openBrowser();
  try {
    const page = await browser.open();
    await page.goto(front.url.href);
    const done = await page.evaluate(
      async ({ key, url }) => {
        const { createClient } = await import(`${url}index.js`);
        const memories = createClient({ url, key });
        await memories.saveAll([
          { content: "Sam is allergic to peanuts" },
          { content: "It rains" },
        ]);
        const [best] = await memories.search("which food makes him ill?");
        const exported = [];
        for await (const memory of memories.export()) exported.push(JSON.stringify(memory));
        const { unchanged } = await memories.import(new Blob([exported.join("\n")]));
        const { code } = await memories.get("mem_0").catch((error: { code: string }) => error);
        return { best: best.content, exported: exported.length, unchanged, code };
      },
      { key, url: front.url.href },
    );
    expect(done).toEqual({
      ...{ best: "Sam is allergic to peanuts", exported: 2, unchanged: 2 },
      code: "memory_not_found",
    });
  } finally {
    await browser.close();
  }
});

test("the TypeScript client and its examples have no mistake in their types", async () => {
  const files = ["src/index.ts", "examples/first-memory.ts", "examples/move.ts"];
  // Without the adapters, whose frameworks may not be here.
  const config = {
    extends: join(CLIENT, "tsconfig.json"),
    compilerOptions: { types: ["node"], typeRoots: [join(ROOT, "node_modules", "@types")] },
    files: files.map((file) => join(CLIENT, file)),
    include: [],
  };
  const path = join(folder, "client.json");
  await Bun.write(path, JSON.stringify(config));
  const checked = await run([process.execPath, TSC, "-p", path]);
  expect(checked).toMatchObject({ output: "", code: 0 });
});
