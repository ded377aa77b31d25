import { afterAll, beforeAll, expect, test } from "bun:test";
import { projectPath } from "../../src/dashboard/navigation.tsx";
import { wholeAccount } from "../../src/keys/reach.ts";
import { hasHidden } from "../../src/text/plain-text.ts";
import { expectSound } from "../support/browser.ts";
import { type Dashboard, startDashboard } from "../support/dashboard.ts";

/** Each text would run a script or break out of its element if it were not escaped. */
const HOSTILE = [
  `<script>document.title = "broken"</script>`,
  `"><img src=x onerror="document.title = 'broken'">`,
  `' autofocus onfocus='document.title = "broken"' x='`,
  `</textarea><svg onload="document.title = 'broken'">`,
  `javascript:document.title="broken"`,
  `{{7*7}} \${7*7} %3Cscript%3E &lt;b&gt; \u202Emarkup`,
];
const EVERYTHING = HOSTILE.join(" ");

let dashboard: Dashboard;
beforeAll(async () => {
  dashboard = await startDashboard();
});
afterAll(() => dashboard?.close());

test("hostile memories, tags, agents, sessions and names are escaped on every page", async () => {
  const { id: accountId } = await dashboard.accounts.add({
    email: "you@example.com",
    password: "correct horse",
  });
  const memories = await dashboard.memories.saveAll(
    wholeAccount(accountId),
    HOSTILE.map((text) => ({
      content: EVERYTHING,
      tags: [text.replaceAll(",", "").slice(0, 64)],
      agent_id: text,
      session_id: text,
      ...(!hasHidden(text) && { project: text }),
      metadata: { [text]: EVERYTHING },
    })),
  );
  // No key may have a name with hidden characters.
  for (const name of HOSTILE.map((text) => text.slice(0, 100)).filter((each) => !hasHidden(each))) {
    await dashboard.keys.create(accountId, { name, scopes: ["memories:read"], expiresAt: null });
  }
  const { client_id: clientId } = await dashboard.register({ client_name: HOSTILE[1] });
  const id = memories[0]?.id;
  const query = encodeURIComponent(EVERYTHING);
  const paths = [
    "/",
    "/memories",
    `/memories?q=${query}`,
    `/memories?tags=${query}&agent_id=${query}&session_id=${query}&from=${query}&cursor=${query}`,
    `/memories/${id}`,
    `/memories/${id}/edit`,
    `/memories/${id}/delete`,
    `/memories/${query}`,
    `/connect?to=${query}&made=${query}`,
    `/keys?made=${query}`,
    "/agents",
    `/agents/local/written?agent=${encodeURIComponent(HOSTILE[0] ?? "")}`,
    "/projects",
    ...HOSTILE.filter((text) => !hasHidden(text)).map((name) => projectPath(name)),
    `${projectPath(HOSTILE[1] ?? "")}/move?to_project=${encodeURIComponent(HOSTILE[0] ?? "")}`,
    "/account",
    "/admin",
    dashboard.authorizeUrl(clientId).slice(dashboard.origin.length),
  ];
  await dashboard.visitAs(accountId, async (page) => {
    for (const path of paths) {
      await page.goto(dashboard.origin + path, { waitUntil: "load" });
      const { title, ours, inline } = await page.evaluate<Record<string, unknown>>(`({
        title: document.title,
        ours: [...document.scripts].every(({ src }) => src.startsWith(location.origin + "/assets/")),
        inline: [...document.querySelectorAll("*")].flatMap((element) =>
          [...element.attributes].filter(({ name, value }) =>
            name.startsWith("on") || name === "style" || /^\\s*javascript:/i.test(value) && name === "href")
            .map(({ name }) => element.tagName + " " + name)),
      })`);
      expect({ path, title, ours, inline }).toEqual({
        path,
        title: expect.not.stringMatching(/^broken/),
        ours: true,
        inline: [],
      });
    }
    // Searches while typing replace only a part of the page.
    await page.goto(`${dashboard.origin}/memories`);
    await page.getByLabel("Search", { exact: true }).fill(HOSTILE[0] ?? "");
    await page.getByText("Score").first().waitFor();
    expect(await page.title()).toBe("Memories · ctxd");
    expect(await page.locator(".memory-text").first().textContent()).toStartWith("<script>");
    await expectSound(page);
  });
});
