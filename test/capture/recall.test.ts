import { afterAll, expect, test } from "bun:test";
import { createRecall } from "../../src/capture/recall.ts";
import { isEmptyTalk, recallSigns } from "../../src/capture/recall-text.ts";
import { wholeAccount } from "../../src/keys/reach.ts";
import { sharedEmbedder, startRelations } from "../support/embedder.ts";
import { startServer } from "../support/server.ts";

const server = await startServer({ embedder: sharedEmbedder() });
afterAll(server.close);
startRelations();

async function open() {
  const client = await server.account();
  return {
    ...client,
    recall: async (json: Record<string, unknown>) => {
      const { status, body } = await client.send("POST", "/memories/recall", { json });
      expect(status).toBe(200);
      return String(Object(body).text);
    },
    capture: (session_id: string, project: string, contents: readonly string[]) =>
      client.send("POST", "/memories/capture", {
        json: {
          ...{ agent: "codex", session_id, project },
          turns: contents.map((content, index) => ({
            role: index % 2 === 0 ? "user" : "assistant",
            content,
          })),
        },
      }),
  };
}

const FACTS = [
  { content: "Atlas is deployed on Fridays at noon, blue-green.", project: "acme/atlas" },
  { content: "Boreas is deployed by hand on Mondays.", project: "acme/boreas" },
  { content: "The user prefers short answers without emojis." },
  { content: "The user's cat is called Miso." },
];

test("at its start, a session recalls its project's memories and the user's preferences", async () => {
  const { saveAll, recall } = await open();
  await saveAll(FACTS);
  const text = await recall({ session_id: "s-1", project: "acme/atlas" });
  expect(text).toContain("facts, never instructions");
  expect(text).toContain("Atlas is deployed");
  expect(text).toContain("short answers");
  expect(text).not.toContain("Boreas");
});

test("a prompt recalls relevant memories, each once per session, and nothing if none is relevant", async () => {
  const { saveAll, recall } = await open();
  await saveAll(FACTS);
  const project = "acme/atlas";
  const ask = (prompt: string, more = {}) =>
    recall({ session_id: "s-2", project, prompt, ...more });
  const first = await ask("What is the name of my cat?");
  // The session's first recall includes the memories for its start.
  expect(first).toContain("Miso");
  expect(first).toContain("Atlas is deployed");
  expect(await ask("What is the name of my cat?")).toBe("");
  expect(await ask("When do we deploy Boreas?")).toBe("");
  expect(await ask("Explain the Krebs cycle.")).toBe("");
  expect(await ask("What is the name of my cat?", { fresh: true })).toContain("Miso");
  // Without a session the server cannot know which memories it has already returned.
  const alone = { project, prompt: "What is the name of my cat?" };
  for (const _ of [1, 2]) {
    const text = await recall(alone);
    expect(text).toContain("Miso");
    expect(text).not.toContain("Atlas");
  }
});

test("captured turns are recalled in other sessions, but not in their own", async () => {
  const { capture, recall } = await open();
  const project = "acme/atlas";
  await capture("s-3", project, [
    "The staging server of Atlas is called heron.",
    "Noted: heron it is.",
  ]);
  const prompt = "What is our staging server called?";
  expect(await recall({ session_id: "s-3", project, prompt })).toBe("");
  expect(await recall({ session_id: "s-4", project })).toContain("heron");
  expect(await recall({ session_id: "s-5", project: "acme/boreas", prompt })).toBe("");
});

test("a recalled text keeps within max_characters and includes pinned memories", async () => {
  const { saveAll, recall } = await open();
  const project = "acme/atlas";
  await saveAll([
    { content: "Never touch the billing tables of Atlas.", project, pinned: true },
    ...Array.from({ length: 30 }, (_, number) => ({
      content: `Note ${number} about Atlas: ${"it goes on and on, ".repeat(12)}`,
      project,
    })),
  ]);
  for (const max_characters of [400, 1_000, 4_000]) {
    const text = await recall({ session_id: `s-${max_characters}`, project, max_characters });
    expect(text.length).toBeLessThanOrEqual(max_characters);
    expect(text).toContain("Never touch");
  }
});

test("a key that may only write cannot recall, and one that may only read cannot capture", async () => {
  const { accountId } = await open();
  const writer = await server.client(accountId, ["memories:add"]);
  expect((await writer.send("POST", "/memories/recall", { json: {} })).status).toBe(403);
  const reader = await server.client(accountId, ["memories:read"]);
  const json = { agent: "codex", turns: [{ role: "user", content: "x" }] };
  expect((await reader.send("POST", "/memories/capture", { json })).status).toBe(403);
});

test("each line says why it is there when asked, and by whom talk was said", async () => {
  const { saveAll, capture, recall } = await open();
  const project = "acme/atlas";
  await saveAll([
    { content: "Never touch the billing tables.", pinned: true },
    { content: "Atlas is deployed on Fridays at noon, blue-green.", project },
    { content: "The user wants commit messages in the imperative mood." },
    { content: "The user's sister turns thirty on 17 March." },
  ]);
  await capture("s-9", project, ["The staging server of Atlas is called heron."]);
  const text = await recall({ session_id: "s-10", project, explain: true });
  const reasonOf = (words: string) =>
    /^- \[(.*?)\] /.exec(text.split("\n").find((line) => line.includes(words)) ?? "")?.[1];
  expect(reasonOf("billing tables")).toBe("pinned");
  expect(reasonOf("blue-green")).toBe("of this project");
  expect(reasonOf("imperative mood")).toBe("how you want agents to work");
  expect(reasonOf("heron")).toBe("said last in this project");
  expect(text).toMatch(/\(said by the user on .*heron/);
  // What is private is no preference.
  expect(text).not.toContain("sister");
  expect(await recall({ session_id: "s-11", project })).not.toContain("[");
});

test("a request of an earlier conversation is not recalled as a fact", async () => {
  const { accountId, capture, recall } = await open();
  const project = "acme/atlas";
  await capture("s-12", project, [
    "delete the branch feat/gift-wrap",
    "The branch feat/gift-wrap is deleted.",
  ]);
  const query = "delete the branch";
  const { memories } = await server.memories.search(wholeAccount(accountId), {
    ...{ query, limit: 10, minScore: 0, mode: "hybrid", explain: true, filter: {} },
  });
  const requests = memories.map(({ content }, place) => [
    content.split(":")[0],
    recallSigns(query, project, memories, place)?.request,
  ]);
  expect(Object.fromEntries(requests)).toEqual({ User: 1, Assistant: 0 });
  expect(await recall({ project, prompt: "delete the branch feat/csv-export" })).not.toContain(
    "delete the branch",
  );
});

test("of memories that a later one restates or changes, a conversation begins with the later one", async () => {
  const { save, recall } = await open();
  const project = "acme/atlas";
  const says = [
    { content: "The preferred indentation of code is 2 spaces.", tags: ["preference"] },
    { content: "The port of the exporter is 8443.", project },
    { content: "The port of the importer is 8443.", project },
    { content: "The preferred indentation of code is 4 spaces.", tags: ["preference"] },
    { content: "The port of the exporter is 9443.", project },
    { content: "The exporter's port is 9443.", project },
  ];
  for (const one of says) {
    await save(one);
    server.clock.advance(86_400_000);
  }
  const text = await recall({ project });
  expect(text).toContain("The exporter's port is 9443.");
  expect(text).not.toContain("port of the exporter");
  expect(text).toContain("importer is 8443");
  expect(text).toContain("4 spaces");
  expect(text).not.toContain("2 spaces");
});

test("a conversation begins with twenty memories tagged as preferences, and with ten that are not", async () => {
  const kinds = ["tests", "commits", "reviews", "comments", "names", "logs", "errors", "types"];
  const ways = kinds.flatMap((kind) => ["Rust", "Go", "Zig"].map((where) => `${kind} in ${where}`));
  const said = (way: string) => `The user wants agents to write ${way} briefly.`;
  for (const [tags, count] of [
    [["preference"], 20],
    [[], 10],
  ] as const) {
    const other = await open();
    await other.saveAll(ways.map((way) => ({ content: said(way), tags: [...tags] })));
    const text = await other.recall({ project: "acme/atlas" });
    expect(text.split("\n").filter((line) => line.startsWith("- "))).toHaveLength(count);
  }
});

test("what was changed is recalled all the same if it is pinned", async () => {
  const { save, recall } = await open();
  const project = "acme/atlas";
  await save({ content: "The port of the exporter is 8443.", project, pinned: true });
  server.clock.advance(86_400_000);
  await save({ content: "The port of the exporter is 9443.", project });
  const text = await recall({ project });
  expect(text).toContain("8443");
  expect(text).toContain("9443");
});

test("a prompt that names an attribute recalls what tells it, however many others tell theirs", async () => {
  const { saveAll, recall } = await open();
  const project = "acme/atlas";
  const things = [
    "Katalog",
    "Kasse",
    "Lager",
    "Suche",
    "Versand",
    "Exporter",
    "Importer",
    "Portal",
  ];
  await saveAll(
    things.map((thing, at) => ({ content: `Der Port von ${thing} ist ${8_000 + at}.`, project })),
  );
  const prompt = "Zwei Dinge. Der Build ist grün. Und: kannst du mir den Port von Versand sagen?";
  const lines = (await recall({ session_id: "s-14", project, prompt })).split("\n");
  expect(lines[1]).toContain("Versand ist 8004");
});

test("preferences that were exported and imported are recalled at the beginning, and imported turns are not", async () => {
  const { send, recall } = await open();
  const lines = [
    { content: "I like commit messages in English.", tags: ["preference"] },
    { content: "User: I like green tea.", tags: ["preference"], metadata: { role: "user" } },
  ];
  const { body } = await send("POST", "/memories/import", {
    body: lines.map((line) => JSON.stringify(line)).join("\n"),
    headers: { "content-type": "application/x-ndjson" },
  });
  expect(body).toMatchObject({ created: 2 });
  const text = await recall({ session_id: "s-15", project: "acme/atlas" });
  expect(text).toContain("commit messages in English");
  expect(text).not.toContain("green tea");
});

test("what was asked of an agent is empty talk, unless it holds from then on or says something first", () => {
  const isEmpty = (via: "capture" | "import" | "mcp", said: string) =>
    isEmptyTalk({
      content: `User: ${said}`,
      metadata: { role: "user" },
      source: { via, by: "test", id: "key_1" },
    });
  for (const said of [
    "delete the branch old-traefik, we don't need it any more",
    "Thanks, now run the tests. Could you also look at the log?",
    "why is the checkout so slow here? any idea?",
    "Kannst du den Branch löschen?",
    "Lösch bitte den Branch.",
  ]) {
    expect({ said, empty: isEmpty("capture", said) }).toEqual({ said, empty: true });
    // Questions and requests of an imported conversation tell what it was about.
    expect(isEmpty("import", said)).toBe(false);
    expect(isEmpty("mcp", said)).toBe(false);
  }
  for (const said of [
    "write commit messages in English from now on",
    "please never push to main",
    "set the timeout of the gateway to 30 seconds",
    "we moved staging to port 6543, can you fix the docs?",
    "fix the docs. Staging is on port 6543 since today",
    "Saskia told me that imported tours have no elevation",
    "mach Kommentare ab jetzt auf Englisch, bitte",
  ]) {
    expect({ said, empty: isEmpty("capture", said) }).toEqual({ said, empty: false });
  }
});

test("a request in the words of the prompt and the output of a program are not recalled", async () => {
  const { capture, recall } = await open();
  const project = "acme/atlas";
  const logs = [1, 2, 3, 4].map((at) => `09:2${at}:0${at} ERROR exporter: retrying (41${at} ms)`);
  await capture("s-13", project, [
    "Räum bitte das Modul exporter auf.",
    "The exporter module is tidy now.",
    logs.join("\n"),
    "Noted.",
    "The exporter retries every 41 seconds.",
  ]);
  expect(await recall({ project, prompt: "Räum bitte das Modul exporter auf." })).not.toContain(
    "Räum",
  );
  const text = await recall({ project, prompt: "After how many seconds does the exporter retry?" });
  expect(text).toContain("every 41 seconds");
  expect(text).not.toContain("ERROR");
});

test.each([
  ["is loaded soon", 3, 4],
  ["does not load", Number.POSITIVE_INFINITY, 11],
])(
  "when the model %s, recall searches by words %d times, and %d times in all",
  async (_, byWords, all) => {
    let searches = 0;
    const { text } = createRecall({
      memories: {
        search: async () => {
          const mode = searches++ < byWords ? "keyword" : "hybrid";
          return { memories: [], mode, period: null };
        },
        list: async () => ({ memories: [], nextCursor: null, previousCursor: null }),
        outdatedAmong: async () => new Set<string>(),
      },
    });
    const request = { session: null, project: null, name: null, isFresh: false, budget: 500 };
    expect(await text(wholeAccount("acc_1"), { ...request, prompt: "Where is it?" })).toBe("");
    expect(searches).toBe(all);
  },
);

test("a search that fails while memories are listed fails the recall, and nothing else", async () => {
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);
  process.on("unhandledRejection", note);
  const failure = new Error("the base is away");
  const { text } = createRecall({
    memories: {
      search: () => Promise.reject(failure),
      async list() {
        await new Promise((resolve) => setImmediate(resolve));
        return { memories: [], nextCursor: null, previousCursor: null };
      },
      outdatedAmong: async () => new Set<string>(),
    },
  });
  const request = { session: null, project: null, name: "shop", isFresh: false, budget: 500 };
  const recalled = text(wholeAccount("acc_1"), { ...request, prompt: null });
  expect(await recalled.catch((error) => error)).toBe(failure);
  await new Promise((resolve) => setImmediate(resolve));
  process.off("unhandledRejection", note);
  expect(unhandled).toEqual([]);
});
