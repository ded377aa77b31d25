import { describe, expect, test } from "bun:test";
import type { Client } from "../support/client.ts";
import { CLIENTS, type McpClient } from "../support/mcp.ts";
import { outcomeOf } from "../support/outcome.ts";
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

describe("the prompt distill", () => {
  test("is for one project, and for what was said outside of all", async () => {
    const http = await server.account();
    const [atlas, nowhere] = [
      await connect("v2 new", { ...http, ...IN_PROJECT }),
      await connect("v2 new", http),
    ];
    await capture(http, ["We deploy on Fridays."]);
    await capture(http, ["My cat is called Tom."], { project: null });
    expect(await distil(nowhere)).toContain("Tom");
    expect(await distil(nowhere)).not.toContain("Fridays");
    expect(await distil(atlas)).not.toContain("Tom");
    const named = await distil(nowhere, { project: PROJECT });
    expect(named).toContain("Fridays");
    expect(named).toContain(`with project "${PROJECT}"`);
    expect(await outcomeOf(distil(atlas, { project: "acme/boreas" }))).toThrow(
      "limited to the project",
    );
  });

  test("begins at a time that the person gives, and takes what clients send for nothing", async () => {
    const http = await server.account();
    const client = await connect("v2 new", { ...http, ...IN_PROJECT });
    await capture(http, SAID);
    const text = await distil(client, { after: "2026-11-20T10:00:00Z" });
    expect(text).not.toContain(SAID[0] ?? "");
    expect(text).toContain(SAID[1] ?? "");
    for (const nothing of ["", " ", "$1"]) {
      expect(await distil(client, { project: nothing, after: nothing })).toContain(SAID[0] ?? "");
    }
    expect(await outcomeOf(distil(client, { after: "yesterday" }))).toThrow("after");
  });

  test("shows what fits, the oldest first, and says how much waits", async () => {
    const http = await server.account();
    const client = await connect("v2 new", { ...http, ...IN_PROJECT });
    const long = Array.from({ length: 30 }, (_, n) => `${n}: ${"and so on ".repeat(400)}`);
    await capture(http, long);
    const text = await distil(client);
    expect(text.length).toBeLessThan(60_000);
    expect(text).toContain("20 turns of conversations");
    expect(text).toContain("10 newer turns wait");
    expect(text).toContain("get_memory shows all");
    await client.call("save_memory", { content: "A fact.", metadata: marksIn(text) });
    const next = await distil(client);
    expect(next).toContain("  User: 20: and so on");
    expect(next).toContain("10 turns of conversations");
    expect(next).not.toContain("wait");
  });

  test("tells a key that may not write what it can't do", async () => {
    const http = await server.account();
    const ids = await capture(http, SAID);
    const reading = await connect("v2 new", { ...http, ...IN_PROJECT, scopes: ["memories:read"] });
    expect(await distil(reading)).toContain("may only read memories");
    expect(marksIn(await distil(reading))).toBeNull();
    const scopes = ["memories:read", "memories:add"] as const;
    const adding = await connect("v2 new", { ...http, ...IN_PROJECT, scopes });
    const text = await distil(adding);
    expect(text).toContain("can only save new ones");
    expect(marksIn(text)).toBeNull();
    const metadata = { distilled_from: ids[0], distilled_to: ids[2] };
    const saved = await adding.call("save_memory", { content: "A fact.", metadata });
    expect(saved.text).toContain("No turns were marked");
    expect((await Promise.all(ids.map((id) => http.get(id)))).flatMap(({ tags }) => tags)).toEqual(
      [],
    );
  });
});

describe("saving with the marks of turns", () => {
  test("leaves those that are pinned or never expire, and those after the last one", async () => {
    const http = await server.account();
    const client = await connect("v2 new", { ...http, ...IN_PROJECT });
    const [kept = ""] = await capture(http, ["Keep this for ever."], {
      from: "2026-11-19T09:00:00Z",
      kept_days: null,
    });
    const [first = "", second = "", third = ""] = await capture(http, SAID);
    await http.update(first, { pinned: true });
    const soon = new Date(server.clock() + 2 * DAY).toISOString();
    await http.update(second, { expires_at: soon });
    const marks = { distilled_from: kept, distilled_to: second };
    await save(client, "A fact.", { metadata: marks });
    expect(await daysLeft(http, [kept, second])).toEqual([null, 2]);
    for (const days of await daysLeft(http, [first, third])) expect(days).toBeGreaterThan(80);
    expect((await http.get(third)).tags).toEqual([]);
    // Pinned turns come once, too.
    const next = await distil(client);
    expect(next).toContain(SAID[2] ?? "");
    expect(next).not.toContain(SAID[0] ?? "");
  });

  test("does nothing for ids of anything else, and counts a fact that is known already", async () => {
    const http = await server.account();
    const client = await connect("v2 new", { ...http, ...IN_PROJECT });
    const [first, , third] = await capture(http, SAID);
    const [other] = await capture(http, ["Elsewhere."], { project: "acme/boreas" });
    const fact = await save(client, "A fact.");
    const wrong = [
      { distilled_from: fact, distilled_to: third },
      { distilled_from: third, distilled_to: first },
      { distilled_from: first, distilled_to: other },
      { distilled_from: first, distilled_to: "mem_00000000000000000000000000000000" },
      { distilled_from: "first", distilled_to: "last" },
    ];
    for (const [place, metadata] of wrong.entries()) {
      const saved = await client.call("save_memory", { content: `Fact ${place}.`, metadata });
      expect(saved).toMatchObject({
        isError: false,
        text: expect.stringContaining("No turns were marked"),
      });
    }
    expect(await distil(client)).toContain("3 turns of conversations");
    // As after a crash between saving and marking.
    const metadata = { distilled_from: first, distilled_to: third };
    const again = await client.call("save_memory", { content: "A fact.", metadata });
    expect(again.text).toBe(
      `Already known, as ${fact}. 3 turns are distilled, and expire within 7 days.`,
    );
    expect(await distil(client)).toContain("Nothing was captured");
  });

  test("marks the person's own turns when the facts go to a space, of which the prompt warns", async () => {
    const ann = await addPerson(server, "ann");
    const bob = await addPerson(server, "bob");
    const space = await server.spaces.create(ann.accountId, "acme");
    await server.spaces.change(ann.accountId, space.id, { projects: [PROJECT] });
    await join(server, space, bob, "write");
    const ids = await capture(ann, SAID);
    const others = await capture(bob, ["What Bob said."]);
    const client = await connect("v2 new", { ...ann, ...IN_PROJECT });
    const text = await distil(client);
    expect(text).toContain('All members of the space "acme" read');
    expect(text).not.toContain("Bob");
    const saved = await client.call("save_memory", { content: "A fact.", metadata: marksIn(text) });
    expect(saved.text).toContain("in the space acme: its members see it. 3 turns are distilled");
    expect(await daysLeft(ann, ids)).toEqual([7, 7, 7]);
    expect((await bob.get(others[0] ?? "")).tags).toEqual([]);
    const inside = await connect("v2 new", { ...ann, headers: { "ctxd-space": space.id } });
    expect(await distil(inside)).toContain("captured turns are personal");
  });
});

test("the prompt itself is not captured", async () => {
  const http = await server.account();
  const client = await connect("v2 new", { ...http, ...IN_PROJECT });
  await capture(http, SAID);
  const said = await distil(client);
  const turns = [{ role: "user", content: said }];
  const json = { agent: "gemini", session_id: "s-2", project: PROJECT, turns };
  expect(await http.send("POST", "/memories/capture", { json })).toMatchObject({
    body: { captured: 0 },
  });
});
