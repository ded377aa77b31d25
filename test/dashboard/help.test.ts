import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { parse } from "yaml";
import { readConfig } from "../../src/config.ts";
import { markdown } from "../../src/dashboard/markdown.ts";
import { jsx } from "../../src/pages/jsx-runtime.ts";
import { startServer } from "../support/server.ts";

const HELP = join(import.meta.dir, "..", "..", "src", "dashboard", "help");
const server = await startServer();
afterAll(() => server.close());

const linksOf = (html: string) =>
  [...html.matchAll(/href="([^"]+)"/g)].map(([, href = ""]) => href);

test("everyone can read every page, and no link leads nowhere or elsewhere", async () => {
  const index = await fetch(`${server.origin}/help`);
  expect(index.status).toBe(200);
  const pages = linksOf(await index.text()).filter((href) => href.startsWith("/help/"));
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
      expect(href).toMatch(/^(\/|data:,)/);
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
