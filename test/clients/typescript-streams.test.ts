import { afterAll, describe, expect, test } from "bun:test";
import { createReadStream } from "node:fs";
import { join } from "node:path";
import { createClient, type ImportedMemory } from "../../src/clients/typescript/src/index.ts";
import { rejectionOf } from "../support/outcome.ts";
import { startServer } from "../support/server.ts";

const server = await startServer();
afterAll(server.close);

async function newClient() {
  const { key } = await server.account();
  return createClient({ url: server.origin, key });
}

/** A server that answers an export with these pieces. */
function exporting(pieces: (request: Request) => ReadableStream<string>) {
  return Bun.serve({ port: 0, fetch: (request) => new Response(pieces(request)) });
}

const line = (number: number) => `${JSON.stringify({ content: `fact ${number}` })}\n`;

describe("the TypeScript client's streams", () => {
  test("an export is imported unchanged into another account, in chunks of any size", async () => {
    const [from, to] = [await newClient(), await newClient()];
    const facts = Array.from({ length: 700 }, (_, number) => `№ ${number} ${"ö".repeat(500)}`);
    await from.saveAll(facts.map((content) => ({ content, tags: ["fact"] })));
    const counts = { created: 700, updated: 0, unchanged: 0, kept: 0, invalid: 0 };
    expect(await to.import(from.export(), { dry_run: true })).toMatchObject(counts);
    expect(await to.import(from.export())).toMatchObject(counts);
    const exported = await Array.fromAsync(to.export({ tags: ["fact"] }));
    expect(exported.map(({ content }) => content)).toEqual(facts);
    const times = (memories: typeof exported) =>
      memories.map(({ id, created_at, updated_at }) => ({ id, created_at, updated_at }));
    expect(times(exported)).toEqual(times(await Array.fromAsync(from.export())));

    const text = exported.map((memory) => JSON.stringify(memory)).join("\n");
    const path = join(server.folder, "export.ndjson");
    await Bun.write(path, text);
    const bytes = new TextEncoder().encode(text);
    const sources = {
      text,
      bytes,
      list: exported,
      blob: new Blob([text]),
      file: createReadStream(path, { highWaterMark: 777 }),
      stream: new Blob([bytes]).stream(),
      texts: [text.slice(0, 5), text.slice(5)],
    };
    for (const [name, source] of Object.entries(sources)) {
      const { unchanged, invalid } = await to.import(source);
      expect({ name, unchanged, invalid }).toEqual({ name, unchanged: 700, invalid: 0 });
    }
  });

  test("lines that are no memories are named by their numbers", async () => {
    const client = await newClient();
    const lines = Array.from({ length: 600 }, (_, number) => line(number));
    lines[299] = "{}\n";
    lines[400] = "\n";
    lines[450] = `"${"x".repeat(3 << 20)}"\n`;
    lines[599] = "not JSON";
    const { skipped, ...counts } = await client.import(lines);
    expect(counts).toMatchObject({ created: 596, invalid: 3 });
    expect(skipped).toEqual([
      { line: 300, outcome: "invalid", reason: "content is required." },
      { line: 451, outcome: "invalid", reason: expect.stringContaining("longer than") },
      { line: 600, outcome: "invalid", reason: expect.stringContaining("JSON") },
    ]);
    const broken = async function* () {
      yield* lines.slice(0, 300);
      yield new Uint8Array([0x22, 0xff, 0x22, 10]);
    };
    expect(await client.import(broken())).toMatchObject({ unchanged: 299, invalid: 2 });
  });

  test("turns of a session at one time keep their order", async () => {
    const client = await newClient();
    const turns = Array.from({ length: 600 }, (_, number) => ({
      ...{ content: `turn ${number}`, session_id: "s-1", created_at: "2026-01-02T00:00:00Z" },
    }));
    await client.import(turns);
    const kept = await Array.fromAsync(client.export());
    expect(kept.map(({ content }) => content)).toEqual(turns.map(({ content }) => content));
  });

  test("an import reads no further than it has sent", async () => {
    const client = await newClient();
    let made = 0;
    const endless = async function* (): AsyncGenerator<ImportedMemory> {
      for (;;) yield { content: `fact ${made++}` };
    };
    const controller = new AbortController();
    let ahead = 0;
    const watching = createClient({
      ...{ url: server.origin, key: (await server.account()).key },
      fetch: async (url, request) => {
        const answer = await fetch(url, request);
        ahead = made;
        if (made > 1_000) controller.abort(new Error("enough"));
        return answer;
      },
    });
    const importing = watching.import(endless(), { signal: controller.signal });
    expect(await rejectionOf(importing)).toEqual(new Error("enough"));
    expect(ahead).toBeLessThan(1_400);
    // The error reaches the stream when the import fails.
    let ended = false;
    const failing = async function* () {
      try {
        for (;;) yield { content: "fact" };
      } finally {
        ended = true;
      }
    };
    const stranger = createClient({ url: server.origin, key: "ctx_unknown" });
    expect(await rejectionOf(stranger.import(failing()))).toMatchObject({ code: "unauthorized" });
    expect(ended).toBe(true);
    expect((await client.stats()).memories).toBe(0);
  });

  test("a reader that stops ends the export", async () => {
    let isCancelled = false;
    let sent = 0;
    const endless = () =>
      new ReadableStream({
        pull: (controller) => controller.enqueue(Buffer.from(line(sent++))),
        cancel() {
          isCancelled = true;
        },
      });
    const client = createClient({ key: "k", fetch: async () => new Response(endless()) });
    let read = 0;
    for await (const { content } of client.export()) {
      expect(content).toBe(`fact ${read}`);
      if (++read === 100) break;
    }
    expect(isCancelled).toBe(true);
  });

  test("an export that breaks off, or stands still, is no export", async () => {
    await using broken = exporting(
      () =>
        new ReadableStream({
          start(controller) {
            controller.enqueue(line(1));
            controller.enqueue('{"content": "fa');
            controller.close();
          },
        }),
    );
    const client = createClient({ url: broken.url.href, key: "k" });
    const memories = client.export();
    expect(await memories.next()).toMatchObject({ value: { content: "fact 1" } });
    expect(await rejectionOf(memories.next())).toMatchObject({ code: "network" });

    await using still = exporting(
      () => new ReadableStream({ start: (controller) => controller.enqueue(line(1)) }),
    );
    const impatient = createClient({ url: still.url.href, key: "k", timeout: 1_000 }).export();
    expect(await impatient.next()).toMatchObject({ value: { content: "fact 1" } });
    expect(await rejectionOf(impatient.next())).toMatchObject({ code: "timeout" });
  });
});
