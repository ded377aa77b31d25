import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { parse } from "yaml";
import { readConfig } from "../../src/config.ts";
import { markdown } from "../../src/dashboard/markdown.ts";
import { jsx } from "../../src/pages/jsx-runtime.ts";
import { startServer } from "../support/server.ts";

const ROOT = join(import.meta.dir, "..", "..");
const HELP = join(ROOT, "src", "dashboard", "help");
const server = await startServer();
afterAll(() => server.close());

const linksOf = (html: string) =>
  [...html.matchAll(/href="([^"]+)"/g)].map(([, href = ""]) => href);

test("everyone can read every page, and no link leads nowhere or elsewhere", async () => {
  const index = await fetch(`${server.origin}/help`);
  expect(index.status).toBe(200);
  const pages = [...new Set(linksOf(await index.text()))].filter((href) =>
    href.startsWith("/help/"),
  );
  const files = [...new Bun.Glob("*.md").scanSync(HELP)].map(
    (name) => `/help/${name.slice(0, -3)}`,
  );
  expect(pages.sort()).toEqual(files.sort());
  for (const path of pages) {
    const answer = await fetch(server.origin + path);
    expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'");
    const html = await answer.text();
    expect(html).toContain("<h1>");
    for (const href of linksOf(html)) {
      expect(href).toMatch(/^[/#]/);
      if (href !== "/" && href.startsWith("/")) {
        expect({ href, status: (await fetch(server.origin + href)).status }).toEqual({
          href,
          status: 200,
        });
      }
    }
  }
});

test("HTML in Markdown is text", () => {
  const page = jsx("div", { children: markdown("a <script>alert(1)</script> `<b>`") });
  expect(`${page}`).not.toContain("<script");
  expect(`${page}`).toContain("<code>&lt;b&gt;</code>");
});

test("the example of a compose file has settings that the server takes", async () => {
  const text = await Bun.file(join(HELP, "install.md")).text();
  const compose: unknown = parse(/```yaml\n(.*?)```/s.exec(text)?.[1] ?? "");
  const Compose = Type.Object({
    services: Type.Object({
      ctxd: Type.Object({ environment: Type.Record(Type.String(), Type.String()) }),
      caddy: Type.Object({ command: Type.String() }),
    }),
  });
  if (!Value.Check(Compose, compose)) throw new Error("no such compose file");
  const { ctxd, caddy } = compose.services;
  const config = readConfig(ctxd.environment, {}, "/data");
  expect(config).toMatchObject({ publicUrl: "https://memory.example.com", trustProxy: true });
  expect(caddy.command).toContain(`--to ctxd:${config.port}`);
});

describe("the page on how memories are kept", async () => {
  const MEMORIES = join(ROOT, "src", "memories");
  const page = await Bun.file(join(HELP, "architecture.md")).text();
  const code = [...page.matchAll(/`([^`\n]+)`/g)].map(([, text = ""]) => text);

  test("names files and folders that are there", () => {
    const named = code.filter((text) => /^[\w./-]+(\.tsx?|\/)$/.test(text));
    expect(named.length).toBeGreaterThan(40);
    const folders = [MEMORIES, ROOT, join(ROOT, "src", "dashboard"), join(ROOT, "src", "mcp")];
    const exists = (name: string) => folders.some((folder) => existsSync(join(folder, name)));
    expect(named.filter((name) => !exists(name))).toEqual([]);
  });

  test("leaves out no folder", () => {
    const folders = readdirSync(MEMORIES, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => `${name}/`);
    expect(folders.filter((name) => !code.includes(name))).toEqual([]);
  });

  test("names parts of the code by the names that they have", async () => {
    const names = code.filter((text) => /^[A-Za-z]+$/.test(text) && /[A-Z]/.test(text));
    const sources = [
      ...new Bun.Glob("{memories,mcp,dashboard}/**/*.{ts,tsx}").scanSync(join(ROOT, "src")),
    ];
    const tests = [...new Bun.Glob("memories/**/*.ts").scanSync(join(ROOT, "test"))];
    const paths = [
      ...sources.map((path) => join(ROOT, "src", path)),
      ...tests.map((path) => join(ROOT, "test", path)),
    ];
    const text = (await Promise.all(paths.map((path) => Bun.file(path).text()))).join("\n");
    const unknown = names.filter((name) => !new RegExp(`\\b${name}\\b`).test(text));
    expect(unknown).toEqual([]);
  });

  test("is linked from the README and the page on contributing", async () => {
    const readme = await Bun.file(join(ROOT, "README.md")).text();
    expect(readme).toContain("(src/dashboard/help/architecture.md)");
    const contribute = await Bun.file(join(HELP, "contribute.md")).text();
    expect(contribute).toContain("(/help/architecture)");
  });
});
