import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { parse } from "yaml";
import { readConfig } from "../../src/config/config.ts";
import { AGENT_PAGES } from "../../src/dashboard/help/agent-pages.tsx";
import { markdown } from "../../src/dashboard/help/markdown.ts";
import { jsx } from "../../src/pages/jsx-runtime.ts";
import { startServer } from "../support/server.ts";

const ROOT = join(import.meta.dir, "..", "..");
const HELP = join(ROOT, "src", "help");
const DOCS = join(ROOT, "src", "docs");
const server = await startServer();
afterAll(() => server.close());

const linksOf = (html: string) =>
  [...html.matchAll(/href="([^"]+)"/g)].map(([, href = ""]) => href);

const visit = async (path: string) => (await fetch(server.origin + path)).text();
const FILES = [...new Bun.Glob("*.md").scanSync(HELP)].map((name) => `/help/${name.slice(0, -3)}`);
const AGENTS = AGENT_PAGES.map(({ name }) => `/help/${name}`);

test("everyone can read every page, and every link leads to a page of the server", async () => {
  const inHelp = async (path: string) =>
    [...new Set(linksOf(await visit(path)))].filter((href) => href.startsWith("/help/"));
  expect((await inHelp("/help")).sort()).toEqual(FILES.toSorted());
  expect(await inHelp("/help/agents")).toEqual(expect.arrayContaining(AGENTS));
  for (const path of [...FILES, ...AGENTS]) {
    const answer = await fetch(server.origin + path);
    expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'");
    const html = await answer.text();
    expect(html).toContain("<h1 id=");
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

/** Words of the README and of all pages of the help. The number may become less and not more. */
const MOST_WORDS = 16_100;

test("nobody has to read more words than before", async () => {
  const readme = `${jsx("div", { children: markdown(await Bun.file(join(ROOT, "README.md")).text()) })}`;
  const pages = await Promise.all([...FILES, ...AGENTS].map(visit));
  const counts = [readme, ...pages.map(mainOf)].map(countWords);
  expect(Math.min(...counts)).toBeGreaterThan(30);
  expect(counts.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(MOST_WORDS);
});

/** The text of a help page, without the list of pages beside it. */
function mainOf(html: string): string {
  const [, main = ""] = html.split('<main id="main"');
  return main.slice(main.indexOf("<h1"), main.indexOf("</main>"));
}

/** Whatever has a letter or a digit between two spaces is a word. */
function countWords(html: string): number {
  const text = html.replace(/<\/?(a|code|em|strong)\b[^>]*>/g, "").replace(/<[^>]*>/g, " ");
  return text.split(/\s+/).filter((part) => /[\p{L}\p{N}]/u.test(part)).length;
}

test("every table and every list is one", async () => {
  for (const path of [...FILES, ...AGENTS]) {
    const paragraphs = [...mainOf(await visit(path)).matchAll(/<p>(.{0,40})/gs)];
    const broken = paragraphs.filter(([, text = ""]) => /^(\||[-*] |\d\. )/.test(text));
    expect([path, broken.map(([, text]) => text)]).toEqual([path, []]);
  }
});

test("pictures are the server's own, and say what they show", async () => {
  const html = await visit("/help/measurements");
  const [, src = "", alt] = /<img src="([^"]+)" alt="([^"]+)"/.exec(html) ?? [];
  const picture = await fetch(server.origin + src);
  expect(picture.headers.get("content-type")).toStartWith("image/svg+xml");
  expect(await picture.text()).toContain(`<title>${alt}</title>`);
});

test("a link to a heading leads to one", async () => {
  const pages = new Map<string, string>();
  for (const path of [...FILES, ...AGENTS]) pages.set(path, await visit(path));
  const links = [...pages].flatMap(([page, html]) =>
    linksOf(html)
      .filter((href) => /^(\/help\/.*)?#/.test(href))
      .map((href) => (href.startsWith("#") ? page + href : href)),
  );
  const inHelp = links.filter((link) => !link.endsWith("#main"));
  expect(inHelp.length).toBeGreaterThan(5);
  const broken = inHelp.filter((link) => {
    const [page = "", id] = link.split("#");
    return !pages.get(page)?.includes(` id="${id}"`);
  });
  expect(broken).toEqual([]);
});

test("links from the README, the pages for contributors and the changelog to headings lead to one", async () => {
  const idsOf = (text: string) =>
    new Set(
      [...`${jsx("div", { children: markdown(text) })}`.matchAll(/ id="([^"]+)"/g)].map(
        ([, id]) => id,
      ),
    );
  const sources = [
    "README.md",
    "CHANGELOG.md",
    ...["architecture", "contribute", "decisions", "design"].map((name) => `src/docs/${name}.md`),
  ];
  const links: string[] = [];
  const broken: string[] = [];
  for (const source of sources) {
    const text = await Bun.file(join(ROOT, source)).text();
    for (const [, path = "", id] of text.matchAll(/\]\(([\w./-]*\.md)?#([\w-]+)\)/g)) {
      const target = join(ROOT, path === "" ? source : join(dirname(source), path));
      links.push(id ?? "");
      if (!existsSync(target) || !idsOf(await Bun.file(target).text()).has(id))
        broken.push(`${source}: ${path}#${id}`);
    }
  }
  expect(links.length).toBeGreaterThan(5);
  expect(broken).toEqual([]);
});

test("a page that has another address now is found by the former one, with its headings", async () => {
  const moved = await fetch(`${server.origin}/help/watch#quotas`, { redirect: "manual" });
  expect([moved.status, moved.headers.get("location")]).toEqual([301, "/help/monitoring"]);
  expect(await visit("/help/watch")).toContain('<h2 id="quotas">');
  for (const id of ["claude-code", "junie-jetbrains", "all-agents"])
    expect(await visit("/help/agents")).toContain(` id="${id}"`);
});

describe("a search in the help", () => {
  const search = async (question: string) =>
    (await visit(`/help?q=${encodeURIComponent(question)}`)).split('<main id="main"')[1] ?? "";

  test("finds sections with all words, in headings first, and marks the words", async () => {
    const html = await search("Embedding MODELS");
    const [first = "", ...others] = linksOf(html);
    expect(first).toBe("/help/install#another-embedding-model");
    expect(others.length).toBeGreaterThan(1);
    expect(html).toContain("<mark>model</mark>");
    expect(html).toContain('value="Embedding MODELS"');
  });

  test("finds a setting, a page of an agent, and what has the most words if none has all", async () => {
    expect(await search("CTXD_DRAIN_SECONDS")).toContain('href="/help/settings#replicas"');
    expect(linksOf(await search("zed"))[0]).toBe("/help/agents/zed#zed");
    expect(linksOf(await search("fail2ban xyzzy"))[0]).toBe(
      "/help/monitoring#block-addresses-with-fail2ban",
    );
  });

  test("says when nothing is found, and shows all pages without a question", async () => {
    expect(await search("xyzzy")).toContain("Nothing found");
    expect(await search(" ?!")).toContain('aria-label="All pages"');
  });

  test.each([
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "mark script (.*)+$ [",
    "&lt; b",
  ])("shows %p as text", async (question) => {
    const html = await search(question);
    expect(html).not.toMatch(/<(script|img)|onerror=alert\(1\)>/);
    expect(html).toContain('name="q"');
  });

  test("reads the beginning of a long question only", async () => {
    expect(await search("fail2ban ".repeat(5_000).slice(0, 7_000))).toContain("fail2ban");
  });
});

/** Names in italics that belong to other programs, and an example. */
const OTHER_LABELS = [
  "Atlas › Decisions: we use Bun",
  "Report a vulnerability",
  "Run workflow",
  "Settings → Data controls → Export",
  "Settings → Privacy → Export",
];

test("pages and buttons have the names that the help gives them", async () => {
  const read = (paths: Iterable<string>, root: string) =>
    Promise.all([...paths].map((path) => Bun.file(join(root, path)).text()));
  const pages = (await read(new Bun.Glob("*.md").scanSync(HELP), HELP)).join("\n");
  const source = join(ROOT, "src");
  const code = (await read(new Bun.Glob("**/*.{ts,tsx}").scanSync(source), source)).join("\n");
  const labels = [...pages.matchAll(/(?<!\*)\*([A-Z][^*]*)\*(?!\*)/g)].map(
    ([, label = ""]) => label,
  );
  expect(labels.length).toBeGreaterThan(20);
  const unknown = labels.filter((label) => !OTHER_LABELS.includes(label) && !code.includes(label));
  expect([...new Set(unknown)]).toEqual([]);
});

test("HTML in Markdown is shown as text", () => {
  const page = jsx("div", { children: markdown("a <script>alert(1)</script> `<b>`") });
  expect(`${page}`).not.toContain("<script");
  expect(`${page}`).toContain("<code>&lt;b&gt;</code>");
});

test("the compose file of the help has valid settings", async () => {
  const text = await Bun.file(join(HELP, "install.md")).text();
  const compose: unknown = parse(/```yaml\n(.*?)```/s.exec(text)?.[1] ?? "");
  const Compose = Type.Object({
    services: Type.Object({
      ctxd: Type.Object({ environment: Type.Record(Type.String(), Type.String()) }),
      caddy: Type.Object({ command: Type.String() }),
    }),
  });
  if (!Value.Check(Compose, compose)) throw new Error("install.md has no compose file");
  const { ctxd, caddy } = compose.services;
  const config = readConfig(ctxd.environment, {}, "/data");
  expect(config).toMatchObject({ publicUrl: "https://memory.example.com", trustProxy: true });
  expect(caddy.command).toContain(`--to ctxd:${config.port}`);
});

describe("the pages for people who change the code", async () => {
  const MEMORIES = join(ROOT, "src", "memories");
  const architecture = await Bun.file(join(DOCS, "architecture.md")).text();
  const contribute = await Bun.file(join(DOCS, "contribute.md")).text();
  const decisions = await Bun.file(join(DOCS, "decisions.md")).text();
  /** Names in the pages that belong to PostgreSQL, LanceDB and fastembed. */
  const OTHERS = ["NOTIFY", "mergeInsert", "queryEmbed"];
  const codeOf = (page: string) => [...page.matchAll(/`([^`\n]+)`/g)].map(([, text = ""]) => text);

  test.each([
    { name: "architecture", page: architecture, least: 40 },
    { name: "contribute", page: contribute, least: 15 },
    { name: "decisions", page: decisions, least: 15 },
  ])("$name names files and folders that exist", ({ page, least }) => {
    const named = codeOf(page).filter((text) => /^[\w./-]+(\.tsx?|\/)$/.test(text));
    expect(named.length).toBeGreaterThan(least);
    const folders = [
      MEMORIES,
      ROOT,
      join(ROOT, "src", "dashboard"),
      join(ROOT, "src", "import"),
      join(ROOT, "src", "mcp"),
    ];
    const exists = (name: string) => folders.some((folder) => existsSync(join(folder, name)));
    expect(named.filter((name) => !exists(name))).toEqual([]);
  });

  test("architecture lists every folder of src/memories", () => {
    const folders = readdirSync(MEMORIES, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => `${name}/`);
    expect(folders.filter((name) => !codeOf(architecture).includes(name))).toEqual([]);
  });

  test("the glossary is in alphabetical order", () => {
    const [, glossary = ""] = /## Glossary\n(.*?)\n## /s.exec(architecture) ?? [];
    const terms = [...glossary.matchAll(/^\| ([^|]+) \|/gm)].map(([, term = ""]) => term).slice(1);
    expect(terms.length).toBeGreaterThan(30);
    expect(terms).toEqual(terms.toSorted());
  });

  test("a decision names context, decision and consequence in at most 12 lines", () => {
    const records = decisions.split(/^## /m).slice(1);
    expect(records.length).toBeGreaterThan(10);
    const long = records.filter((record) => record.trim().split("\n").length > 12);
    expect(long.map((record) => record.split("\n")[0])).toEqual([]);
    for (const record of records)
      for (const part of ["Context", "Decision", "Consequence"])
        expect(record).toContain(`**${part}.**`);
  });

  test("functions, types and constants have the names that the code gives them", async () => {
    const names = [...codeOf(architecture), ...codeOf(decisions)].filter(
      (text) => /^[A-Za-z]+$/.test(text) && /[A-Z]/.test(text) && !OTHERS.includes(text),
    );
    const sources = new Bun.Glob("{embedding,memories,mcp,dashboard,oauth}/**/*.{ts,tsx}");
    const tests = new Bun.Glob("memories/**/*.ts");
    const paths = [
      ...[...sources.scanSync(join(ROOT, "src"))].map((path) => join(ROOT, "src", path)),
      ...[...tests.scanSync(join(ROOT, "test"))].map((path) => join(ROOT, "test", path)),
    ];
    const text = (await Promise.all(paths.map((path) => Bun.file(path).text()))).join("\n");
    const unknown = names.filter((name) => !new RegExp(`\\b${name}\\b`).test(text));
    expect(unknown).toEqual([]);
  });

  test("README and help link to them", async () => {
    const readme = await Bun.file(join(ROOT, "README.md")).text();
    expect(readme).toContain("(src/docs/architecture.md)");
    expect(contribute).toContain("(architecture.md)");
    expect(contribute).toContain("(decisions.md)");
  });
});
