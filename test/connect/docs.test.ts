import { expect, test } from "bun:test";
import { join } from "node:path";
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
    const remote = [null, "ctx_…"].map((key) => client.remote({ url: URL, key }));
    for (const entry of [client.local(launch), ...remote]) {
      expect(page).toContain(`\`\`\`${client.format}\n${renderEntry(client, entry)}\n\`\`\``);
    }
    for (const path of Object.values(client.file)) expect(page).toContain(`\`${path}\``);
    for (const what of [client.reload, client.signIn, client.remark ?? ""])
      expect(page).toContain(what);
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
