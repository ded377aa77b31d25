import { expect, test } from "bun:test";
import { sharedEmbedder } from "../support/embedder.ts";
import { AT_ONCE } from "../support/kept-table.ts";
import type { McpClient } from "../support/mcp.ts";
import { CLIENTS } from "../support/mcp.ts";
import { until } from "../support/until.ts";
import { startToolServer } from "./support/tool-server.ts";

const { server, connect } = await startToolServer({ embedder: sharedEmbedder(), due: AT_ONCE });

async function tidy(client: McpClient): Promise<string> {
  const [message] = await client.prompt("tidy", {});
  return message?.content.type === "text" ? message.content.text : "";
}

const untilShown = (client: McpClient, part: string) =>
  until(`the prompt shows ${part}`, async () => {
    const text = await tidy(client);
    return text.includes(part) && text;
  });

test.each([...CLIENTS])(
  "a client of the kind %s is shown what could be tidied, and does it with the tools",
  async (name) => {
    const http = await server.account();
    const client = await connect(name, http);
    expect(await tidy(client)).toContain("nothing to tidy");
    const older = await http.save({ content: "The user prefers tabs over spaces." });
    server.clock.advance(86_400_000);
    const newer = await http.save({ content: "The user prefers tabs to spaces." });
    const text = await untilShown(client, "· restatements ·");
    expect(text).toContain(`proposal: supersede · keep ${newer.id}`);
    expect(text).toContain(`\n${older.id} · `);
    expect(text).toContain("  The user prefers tabs over spaces.");
    expect(text).toContain("do only what the user agrees to");
    expect(text).not.toContain("merge: update_memory");

    // As the prompt says: nothing is saved twice.
    const saved = await client.call("save_memory", {
      content: newer.content,
      supersedes: older.id,
    });
    expect(saved.data.id).toBe(newer.id);
    expect(await http.get(older.id)).toMatchObject({ superseded_by: newer.id });
    await untilShown(client, "nothing to tidy");
  },
);

test("a key that may only read is told to change nothing", async () => {
  const http = await server.account();
  for (const content of ["The office is in Graz.", "The office is in  Graz."]) {
    await http.saveAll([{ content }]);
  }
  const client = await connect("v2 new", { ...http, scopes: ["memories:read"] });
  const text = await untilShown(client, "Group 1 · ");
  expect(text).toContain("may only read memories");
});
