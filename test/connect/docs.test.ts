import { expect, test } from "bun:test";
import { join } from "node:path";
import { DEFAULT_SIGN_IN, type Fields } from "../../src/connect/client.ts";
import { CLIENTS, HOSTED_CLIENTS } from "../../src/connect/clients.ts";
import { renderEntry } from "../../src/connect/format.ts";
import { AGENT_PAGES, loadFormats } from "../../src/dashboard/help/agent-pages.tsx";

const URL = "https://memory.example.com/mcp";

/** The help page of an agent, in Markdown. */
await loadFormats();
const pageOf = (id: string) => AGENT_PAGES.find(({ name }) => name === `agents/${id}`)?.text ?? "";

test.each(CLIENTS.map((client) => [client.name, client] as const))(
  "%s is described as it is",
  (name, client) => {
    const page = pageOf(client.id);
    expect(page).toStartWith(`# ${name}\n`);
    const launch = { command: "/usr/local/bin/ctxd", args: ["mcp", "--agent", client.id] };
    const shown = (entry: Fields) =>
      page.includes(`\`\`\`${client.format}\n${renderEntry(client, entry)}\n\`\`\``);
    const withKey = client.remote({ url: URL, key: "ctx_…" });
    const signedIn = client.remote({ url: URL, key: null });
    expect([shown(client.local(launch)), shown(withKey)]).toEqual([true, true]);
    const [, leftOut] = /to sign in, without `(\w+)`/.exec(page) ?? [];
    if (leftOut === undefined) expect(shown(signedIn)).toBe(true);
    else expect({ ...withKey, [leftOut]: undefined }).toEqual(signedIn);
    for (const path of Object.values(client.file)) expect(page).toContain(`\`${path}\``);
    for (const what of [client.reload, client.remark ?? ""]) expect(page).toContain(what);
    expect(page.includes(client.signIn)).toBe(client.signIn !== DEFAULT_SIGN_IN);
    const remembers = client.hooks !== undefined || client.plugin !== undefined;
    expect(page.includes("--capture --recall")).toBe(remembers);
  },
);

test.each(["README.md", "src/help/agents.md", "src/help/quick-start.md"])(
  "%s says how many agents there are",
  async (path) => {
    const text = await Bun.file(join(import.meta.dir, "..", "..", path)).text();
    expect(text).toContain(`${CLIENTS.length} agents`);
  },
);

test.each(HOSTED_CLIENTS.map((client) => [client.name, client] as const))(
  "%s is described as it is",
  (_, { id, steps }) => {
    const list = steps(URL).map((step, index) => `${index + 1}. ${step}\n`);
    expect(pageOf(id)).toContain(list.join(""));
  },
);
