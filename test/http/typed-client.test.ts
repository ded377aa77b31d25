import { afterAll, expect, mock, test } from "bun:test";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import ts from "typescript-5";
import { sharedEmbedder } from "../support/embedder.ts";
import { startServer } from "../support/server.ts";

// The generator uses the compiler's API, which versions after 5 do not have.
await mock.module("typescript", () => ({ default: ts }));
const { default: openapiTypeScript, astToString } = await import("openapi-typescript");

const ROOT = join(import.meta.dir, "..", "..");
const embedder = sharedEmbedder();
await embedder.ready();
const server = await startServer({ embedder });
const folder = mkdtempSync(join(tmpdir(), "ctxd-client-"));
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A program that saves the first memory of the README. */
const EXAMPLE = `
import createClient from "openapi-fetch";
import type { paths } from "./api.ts";

const [baseUrl, key] = process.argv.slice(2);
const client = createClient<paths>({
  baseUrl: baseUrl ?? "",
  headers: { authorization: \`Bearer \${key}\` },
});

const saved = await client.POST("/api/memories", {
  body: { content: "Sam is allergic to peanuts", tags: ["food"], importance: 0.9 },
});
if (!saved.data) throw new Error(saved.error.error.message);
const id: string = saved.data.id;

const found = await client.GET("/api/memories/search", {
  params: { query: { q: "which food makes him ill?", limit: 3 } },
});
const best = found.data?.memories[0];
const score: number = best?.score ?? -1;

const changed = await client.PUT("/api/memories/{id}", {
  params: { path: { id } },
  body: { content: "Sam is allergic to peanuts and shellfish" },
});
const gone = await client.DELETE("/api/memories/{id}", { params: { path: { id } } });
const missing = await client.GET("/api/memories/{id}", { params: { path: { id } } });

console.log(
  JSON.stringify({
    isFound: best?.id === id && score > 0,
    content: changed.data?.content,
    deleted: gone.data?.deleted,
    code: missing.error?.error.code,
  }),
);
// @ts-expect-error: an unknown field
saved.data.text;
// @ts-expect-error: a number as content
void (() => client.POST("/api/memories", { body: { content: 1 } }));
`;

const CONFIG = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    target: "esnext",
    lib: ["esnext", "dom"],
    module: "preserve",
    moduleResolution: "bundler",
    allowImportingTsExtensions: true,
    types: ["bun"],
  },
  include: ["*.ts"],
};

async function run(...command: string[]) {
  const child = Bun.spawn(command, { cwd: folder, stdout: "pipe", stderr: "pipe" });
  const [output, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { code: await child.exited, output, errors };
}

test("a client generated from the OpenAPI document saves and finds a memory as in the README", async () => {
  const document = await (await fetch(`${server.origin}/docs/json`)).text();
  await Bun.write(join(folder, "api.ts"), astToString(await openapiTypeScript(document)));
  await Bun.write(join(folder, "example.ts"), EXAMPLE);
  await Bun.write(join(folder, "tsconfig.json"), JSON.stringify(CONFIG));
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));

  const { key } = await server.account();
  const [types, example] = await Promise.all([
    run(process.execPath, join(ROOT, "node_modules", "typescript", "bin", "tsc"), "-p", "."),
    run(process.execPath, "example.ts", server.origin, key),
  ]);
  expect(types.output).toBe("");
  expect(example.errors).toBe("");
  expect(JSON.parse(example.output)).toEqual({
    isFound: true,
    content: "Sam is allergic to peanuts and shellfish",
    deleted: true,
    code: "memory_not_found",
  });
});
