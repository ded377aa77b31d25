import { describe, expect, test } from "bun:test";
import type { Client } from "../support/client.ts";
import { CLIENTS, type McpClient } from "../support/mcp.ts";
import { addPerson, join } from "../support/space-team.ts";
import { save, startToolServer } from "./support/tool-server.ts";

const { server, connect } = await startToolServer();

const DAY = 86_400_000;
const PROJECT = "acme/atlas";
const SAID = [
  "We deploy on Tuesdays.",
  "The staging server is called heron.",
  "No, we deploy on Thursdays now.",
];
const IN_PROJECT = { headers: { "ctxd-project": encodeURIComponent(PROJECT) } };

/** Captures turns of the user, an hour after each other. @returns their ids, the oldest first */
async function capture(
  http: Client,
  said: readonly string[],
  { project = PROJECT, from = "2026-11-20T09:00:00Z", ...more }: Captured = {},
): Promise<string[]> {
  const start = Date.parse(from);
  const turns = said.map((content, hour) => ({
    ...{ role: "user", content, at: new Date(start + hour * 3_600_000).toISOString() },
  }));
  const conversation = { agent: "claude-code", session_id: "s-1", project, ...more };
  const sent = await http.send("POST", "/memories/capture", { json: { ...conversation, turns } });
  expect(sent).toMatchObject({ status: 200, body: { captured: said.length } });
  const { memories } = await http.list({ limit: 100 });
  return said.flatMap(
    (content) => memories.find((memory) => memory.content === `User: ${content}`)?.id ?? [],
  );
}
interface Captured {
  project?: string | null;
  from?: string;
  kept_days?: number | null;
}

async function distil(client: McpClient, args: Record<string, string> = {}): Promise<string> {
  const messages = await client.prompt("distill", args);
  expect(messages).toMatchObject([{ role: "user", content: { type: "text" } }]);
  const [message] = messages;
  return message?.content.type === "text" ? message.content.text : "";
}

/** The metadata that the prompt asks for. */
function marksIn(text: string): Record<string, string> {
  return JSON.parse(text.match(/\{"distilled_from":[^}]+\}/)?.[0] ?? "null");
}

/** Days from now on until each memory expires; null for never. */
async function daysLeft(http: Client, ids: readonly string[]): Promise<(number | null)[]> {
  const memories = await Promise.all(ids.map((id) => http.get(id)));
  return memories.map(({ expires_at }) =>
    expires_at === null ? null : Math.round((Date.parse(expires_at) - server.clock()) / DAY),
  );
}

test.each([...CLIENTS])(
  "a client of the kind %s distils: the facts are saved, what changed is superseded, and the turns expire sooner",
  async (name) => {
    const http = await server.account();
    const client = await connect(name, { ...http, ...IN_PROJECT });
    expect((await client.prompts()).map((prompt) => prompt.name)).toContain("distill");
    const old = await save(client, "The project acme/atlas deploys on Tuesdays.");
    const ids = await capture(http, SAID);
    const before = await Promise.all(ids.map((id) => http.get(id)));

    const text = await distil(client);
    expect(text).toContain(`"${PROJECT}"`);
    expect(text).toContain(`${old} · `);
    const places = SAID.map((content) => text.indexOf(`\n  User: ${content}\n`));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places).not.toContain(-1);
    for (const id of ids) expect(text).toContain(`\n${id} · 20 Nov 2026`);
    const marks = marksIn(text);
    expect(marks).toEqual({ distilled_from: ids[0] ?? "", distilled_to: ids[2] ?? "" });

    await save(client, "The staging server of acme/atlas is called heron.");
    // Nothing is marked before the last call: if the agent is killed here, all of it comes again.
    expect(await distil(client)).toContain(SAID[0] ?? "");
    for (const days of await daysLeft(http, ids)) expect(days).toBeGreaterThan(80);
    const last = await client.call("save_memory", {
      content: "Since November 2026 acme/atlas deploys on Thursdays.",
      supersedes: old,
      metadata: marks,
    });
    expect(last.text).toContain("3 turns are distilled");
    expect(await http.get(old)).toMatchObject({ superseded_by: last.data.id });
    expect(await daysLeft(http, ids)).toEqual([7, 7, 7]);
    const after = await Promise.all(ids.map((id) => http.get(id)));
    expect(after).toEqual(
      before.map((turn, at) => ({
        ...turn,
        tags: ["distilled"],
        expires_at: after[at]?.expires_at ?? "",
      })),
    );

    expect(await distil(client)).toContain("Nothing was captured");
    const [newer] = await capture(http, ["The owner of heron is Mira."], {
      from: "2026-11-21T09:00:00Z",
    });
    const next = await distil(client);
    expect(next).toContain("owner of heron");
    for (const content of SAID) expect(next).not.toContain(`User: ${content}`);
    expect(marksIn(next)).toEqual({ distilled_from: newer ?? "", distilled_to: newer ?? "" });
  },
);
