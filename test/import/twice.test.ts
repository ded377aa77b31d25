import { afterAll, expect, test } from "bun:test";
import { readContent } from "../support/import.ts";
import { startServer } from "../support/server.ts";

const server = await startServer();
afterAll(server.close);

const numbers = Array.from({ length: 40 }, (_, n) => n);
const json = (value: unknown) => JSON.stringify(value, null, 1);

/** Forty memories of each kind. */
const FILES: [string, string][] = [
  ["ctxd", numbers.map((n) => JSON.stringify({ content: `Bee ${n}`, tags: ["bee"] })).join("\n")],
  ["mem0", json({ results: numbers.map((n) => ({ id: `id-${n}`, memory: `Bee ${n}` })) })],
  [
    "mcp-memory-service",
    json({
      export_metadata: {},
      memories: numbers.map((n) => ({ content: `Bee ${n}`, content_hash: `${n}`, created_at: n })),
    }),
  ],
  [
    "the MCP memory server",
    numbers
      .map((n) => JSON.stringify({ type: "entity", name: `Bee ${n}`, observations: ["hums"] }))
      .join("\n"),
  ],
  ["Claude", json(numbers.map((n) => ({ conversations_memory: `Bee ${n}` })))],
  ["a note", `---\ntitle: Bees\n---\n${numbers.map((n) => `- [bee] number ${n}`).join("\n")}\n`],
  ["a dated list", numbers.map((n) => `[2025-01-01] - Bee ${n}`).join("\n")],
  ["a list in JSON", json(numbers.map((n) => `Bee ${n}`))],
  ["text", numbers.map((n) => `Bee ${n}`).join("\n\n")],
];

test.each(FILES)("%s: cut off, whole and again, every memory is there once", async (_, text) => {
  const ada = await server.account();
  const importAll = async (content: string) => {
    const { memories } = await readContent(content);
    const answer = await ada.send("POST", "/memories/import", {
      body: memories.map((memory) => JSON.stringify(memory)).join("\n"),
      headers: { "content-type": "application/x-ndjson" },
    });
    return { sent: memories.length, ...Object(answer.body) };
  };
  const half = await importAll(text.slice(0, text.lastIndexOf("\n", text.length / 2)));
  expect(half.created).toBe(half.sent);
  expect(half.created).toBeLessThan(40);
  const whole = await importAll(text);
  expect(whole).toMatchObject({ sent: 40, created: 40 - half.sent, unchanged: half.sent });
  expect(await importAll(text)).toMatchObject({ sent: 40, created: 0, unchanged: 40, invalid: 0 });
  expect((await ada.list({ limit: 100 })).memories).toHaveLength(40);
});
