import { afterAll, expect, test } from "bun:test";
import { foreignMarkdown } from "../../src/dashboard/markdown.tsx";
import { SimilarMemories } from "../../src/dashboard/memory/memory-page.tsx";
import { wholeAccount } from "../../src/keys/reach.ts";
import { startOAuthServer } from "../oauth/support/oauth-server.ts";
import { formTo } from "../oauth/support/person.ts";

const DAY = 86_400_000;

const server = await startOAuthServer();
afterAll(server.close);
const { accountId, person } = await server.signedIn();
const client = await server.client(accountId);
const reach = wholeAccount(accountId);

/** The text of a page without its markup. */
const textOf = (html: string) => html.replaceAll(/<[^>]*>/g, " ").replaceAll(/\s+/g, " ");
const open = async (id: string) => (await person.visit(`/memories/${id}`)).text;

test("the page shows the text formatted or as written, and only properties with a value", async () => {
  const content = "# First  line\n\n  <b>second</b> *line*";
  const { id } = await client.save({ content });
  const html = await open(id);
  expect(html).toContain('<h2 class="h1">First  line</h2>');
  expect(html).toContain("<p>&lt;b&gt;second&lt;/b&gt; <em>line</em></p>");
  expect(await open(`${id}?show=raw`)).toContain(
    "<p># First  line\n\n  &lt;b&gt;second&lt;/b&gt; *line*</p>",
  );
  expect(html).not.toContain("<textarea");
  const text = textOf(html);
  expect(text).toContain(`Id ${id}`);
  expect(text).toContain("In 30 days 84 % Half-life 120 days");
  for (const absent of ["History", "session", "Near it", "Project ", "Pinned", "Expires"]) {
    expect(text).not.toContain(absent);
  }
  expect(html).toContain(`href="/memories/${id}/edit"`);
  expect((await person.visit(`/memories/${id}/edit`)).text).toContain("<textarea");
});

test("the page shows all properties that are not the default", async () => {
  const [memory] = await server.memories.saveAll(
    reach,
    [
      {
        ...{ content: "Differs", project: "atlas", agent_id: "planner", session_id: "s 1" },
        ...{ importance: 0.9, expires_at: "2099-01-01T00:00:00Z", metadata: { a: [1] } },
      },
    ],
    { source: { via: "capture", by: "laptop", id: "key_1" } },
  );
  const html = await open(memory?.id ?? "");
  expect(textOf(html)).toContain("Written by laptop by capture");
  for (const [name, value] of [
    ["Project", "atlas"],
    ["Agent", "planner"],
    ["Session", "s 1"],
  ]) {
    expect(textOf(html)).toContain(`${name} ${value}`);
  }
  expect(textOf(html)).toContain("Expires 1 Jan 2099, 00:00 UTC Importance 0.9");
  expect(html).toContain('href="/memories?session_id=s+1"');
  expect(html).toContain("Metadata</summary>");
});

test("only safe web addresses become links", async () => {
  const { id } = await client.save({
    content:
      'http://c.example/\u202Emoc.elpmaxe See https://a.example/x?y=1&z="q" (http://b.example/). [j](javascript:alert(1)) [d](data:text/html,x) [own](/account) [m](mailto:sam@b.example) [b]: <java\tscript:x> [evil](https:\\\\evil.example)',
  });
  const html = await open(id);
  const links = [...html.matchAll(/href="([^"]*)" rel="noopener noreferrer nofollow"/g)].map(
    ([, to]) => to,
  );
  expect(links).toEqual([
    "http://c.example/",
    "https://a.example/x?y=1&amp;z=",
    "http://b.example/",
    "mailto:sam@b.example",
  ]);
});

test("a long text is folded, but complete in the page", async () => {
  const { id } = await client.save({ content: "long ".repeat(1_000) });
  const html = await open(id);
  expect(html).toContain('class="memory-content folded"');
  expect(textOf(html)).toContain("Show all 5,000 characters");
  expect(await open(`${id}?show=all`)).not.toContain("folded");
  const short = await client.save({ content: "short" });
  expect(await open(short.id)).not.toContain("folded");
});

test("hostile Markdown makes no element of its own and no request, and large texts are not rendered", async () => {
  const { id } = await client.save({
    content:
      '![x](https://evil.example/p.png "t") ![y](javascript:alert(1))\n\n<img src=https://evil.example onerror=alert(1)>\n<script>alert(1)</script>\n\n[a](https://a.example"onclick=alert(1)) <style>*{}</style>\n\n```"><svg onload=alert(1)>\ncode\n```\n\n| <iframe> | |\n|--|--|\n| <b onclick=x> | 2 |\n\n- [x] done',
  });
  const html = await open(id);
  const [, text = ""] = /<div id="memory-text"[^>]*>(.*?)<\/div>/s.exec(html) ?? [];
  const names = new Set([...text.matchAll(/<([a-z]\w*)/g)].map(([, name]) => name));
  const allowed = [
    "p",
    "a",
    "pre",
    "code",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "ul",
    "li",
  ];
  expect([...names].filter((name) => !allowed.includes(`${name}`))).toEqual([]);
  expect(text).not.toMatch(/<[^>]* on\w+=/);
  expect(text).toContain('x: <a href="https://evil.example/p.png"');
  expect(text).toContain("☑ done");
  for (const large of [
    ">".repeat(9_000),
    `${"|a".repeat(120)}\n${"|-".repeat(120)}${"\n|".repeat(8_000)}`,
  ]) {
    const began = performance.now();
    expect(foreignMarkdown(large)?.toString() ?? "").not.toMatch(/<(table|blockquote)/);
    expect(performance.now() - began).toBeLessThan(100);
  }
});

test("a secret in a memory is named on its page and marked in the list, without being repeated", async () => {
  const token = `ghp_${"a1B2c3D4e5F6".repeat(3)}`;
  const content = `The token of the deploy bot is ${token}`;
  const [saved] = await server.memories.saveAll(reach, [{ content }]);
  expect(textOf(await open(saved?.id ?? ""))).toContain(
    "This memory contains what looks like a secret: github-token",
  );
  const { text } = await person.visit("/memories");
  expect(text.match(/badge secret/g)).toHaveLength(1);
  const [, title] = /badge secret" title="([^"]*)"/.exec(text) ?? [];
  expect(title).toBe("Contains what looks like a secret: github-token");
});

test("every version of a long history links to the current one", async () => {
  let last = await client.save({ content: "Version 0 of the plan for Atlas" });
  const ids = [last.id];
  for (let version = 1; version < 14; version++) {
    last = await client.save({
      ...{ content: `Version ${version} of the plan for Atlas`, supersedes: last.id },
    });
    ids.push(last.id);
  }
  const other = await client.save({ content: "Other", tags: ["a", "b"], project: "atlas" });
  const changed = await client.save({
    ...{ content: "Other", supersedes: other.id, tags: ["b", "c"], project: "boreas" },
    ...{ importance: 0.9, pinned: true },
  });
  expect(textOf(await open(changed.id))).toMatch(
    /tag “ c ” added, tag “ a ” removed, project “ boreas ” now, importance 0.5 → 0.9, pinned/,
  );

  const shown = (html: string) =>
    [...(html.split('class="versions"')[1] ?? "").matchAll(/\/memories\/(mem_\w+)"/g)]
      .map(([, id = ""]) => ids.indexOf(id))
      .filter((place) => place >= 0);
  const now = await open(last.id);
  expect(now).not.toContain("This memory is out of date");
  expect(now).toContain("Version <del>12 </del><ins>13 </ins>of the plan for Atlas");
  // Ten versions, and a link to older ones.
  expect(shown(now)).toEqual([13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 4]);
  const old = await open(ids[2] ?? "");
  expect(textOf(old)).toContain("The current one: Version 13 of the plan for Atlas");
  expect(shown(old)).toEqual([2, 1, 0]);
});

test("the page shows similar memories, or says that they are not known yet", async () => {
  const { id } = await client.save({ content: "The lamp in the hall is broken" });
  const other = await client.save({ content: "The lamp in the hall is mended" });
  const distant = await client.save({ content: "The garden lamp costs nine pounds a year" });
  const html = await open(id);
  expect(html).toMatch(new RegExp(`Similar memories.*/memories/${other.id}`));
  // Less than half alike.
  expect(html).not.toContain(distant.id);
  expect(SimilarMemories({ similar: [] }).toString()).toBe("");
  expect(SimilarMemories({ similar: null }).toString()).toContain("Reload this page in a moment.");
});

test("a memory fades since its last change, but not while pinned", async () => {
  const { id } = await client.save({ content: "Fades", importance: 0 });
  const press = async (pinned: string) => {
    const page = await person.visit(`/memories/${id}`);
    return await person.submit(formTo(page, `/memories/${id}/pin`), { pinned });
  };
  await press("1");
  expect(await client.get(id)).toMatchObject({ pinned: true });
  expect(textOf(await open(id))).toContain("This memory is pinned. It never fades.");
  await press("0");
  expect(await client.get(id)).toMatchObject({ pinned: false });
  server.clock.advance(30 * DAY);
  // The session has ended in the meantime.
  person.jar.set("ctxd-session", await server.sessions.begin(accountId));
  expect(textOf(await open(id))).toContain("Now 50 % In 30 days 25 % Half-life 30 days");
});

test("the page as of a day before the memory says that there was none", async () => {
  const { id } = await client.save({ content: "The port of the cache is 6399" });
  const dayBefore = new Date(server.clock() - 2 * DAY).toISOString().slice(0, 10);
  expect(await open(`${id}?as_of=${dayBefore}`)).toContain("This memory did not exist then.");
});
