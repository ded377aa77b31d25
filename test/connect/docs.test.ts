import { expect, test } from "bun:test";
import { join } from "node:path";
import { CLIENTS, HOSTED_CLIENTS } from "../../src/connect/clients.ts";
import { renderEntry } from "../../src/connect/format.ts";

const manual = await Bun.file(join(import.meta.dir, "..", "..", "src", "help", "agents.md")).text();
const URL = "https://memory.example.com/mcp";

/** Returns the text under a heading. */
function section(heading: string): string {
  const [, text = ""] = manual.split(`### ${heading}\n`);
  return text.split(/^##/m)[0] ?? "";
}

test.each(CLIENTS.map((client) => [client.name, client] as const))(
  "%s is described as it is",
  (name, client) => {
    const launch = { command: "/usr/local/bin/ctxd", args: ["mcp", "--agent", client.id] };
    for (const entry of [client.local(launch), client.remote({ url: URL, key: "ctx_…" })]) {
      expect(section(name)).toContain(
        `\`\`\`${client.format}\n${renderEntry(client, entry)}\n\`\`\``,
      );
    }
    for (const path of Object.values(client.file)) expect(section(name)).toContain(`\`${path}\``);
    for (const what of [client.reload, client.signIn]) expect(section(name)).toContain(what);
  },
);

test("the help and the README say how many agents there are", async () => {
  const readme = await Bun.file(join(import.meta.dir, "..", "..", "README.md")).text();
  for (const text of [manual, readme]) expect(text).toContain(`${CLIENTS.length} agents`);
});

test.each(HOSTED_CLIENTS.map((client) => [client.name, client] as const))(
  "%s is described as it is",
  (name, { steps }) => {
    const list = steps(URL).map((step, index) => `${index + 1}. ${step}\n`);
    expect(section(name)).toContain(list.join(""));
  },
);
