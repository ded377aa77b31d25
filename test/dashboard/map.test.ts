import { afterAll, expect, test } from "bun:test";
import { FARTHEST } from "../../src/memories/rules/map.ts";
import { startOAuthServer } from "../oauth/support/oauth-server.ts";

const server = await startOAuthServer();
afterAll(server.close);
const { accountId, person } = await server.signedIn();
const client = await server.client(accountId);
const other = await server.account();

/** The data that the script of the page receives. */
interface Points {
  ids: string;
  places: string;
  topicOf: string;
  topics: { words: string[] }[];
  masks: Record<string, string>;
}

/** Fetches JSON as the script does. */
async function told<Body>(path: string): Promise<Body> {
  const { status, headers, text } = await person.visit(path);
  expect(status).toBe(200);
  expect(headers.get("content-type")).toContain("application/json");
  return JSON.parse(text);
}

test("an empty map explains the map and links to the form for a memory", async () => {
  const { text } = await person.visit("/map");
  expect(text).toContain("Nothing to draw yet");
  expect(text).toContain('href="/memories/new"');
  const points = await told<Points>("/map/points");
  expect(points).toMatchObject({ ids: "", places: "", topics: [] });
});

test("without scripts the lists have the information of the map", async () => {
  const subjects = { atlas: "invoice", borealis: "gardening" };
  for (const [project, subject] of Object.entries(subjects)) {
    for (let number = 0; number < 15; number++) {
      const content = `${subject} ${subject} ${subject} number${number}`;
      await client.save({ content, project, tags: [`<b>${subject}`] });
    }
  }
  await other.save({ content: "of another account", project: "hidden" });
  const { text } = await person.visit("/map");
  expect(text).toContain('<a href="/memories?project=atlas">');
  expect(text).toContain('<bdi class="topic-name">');
  for (const subject of Object.values(subjects)) {
    expect(text).toContain(`href="/memories?q=${subject}`);
    expect(text).toContain(`<bdi>${subject} ${subject} ${subject} number`);
  }
  expect(text).not.toContain("hidden</bdi>");
  const byTag = await person.visit("/map?by=tag");
  expect(byTag.text).toContain("<bdi>&lt;b&gt;gardening</bdi>");
  expect(byTag.text).toContain("/memories?tags=%3Cb%3Einvoice");
  expect((await person.visit("/map?by=constructor")).status).toBe(200);
});

test("the script receives the place and groups of each memory", async () => {
  const { ids, places, topicOf, masks } = await told<Points>("/map/points");
  expect(Buffer.from(ids, "base64")).toHaveLength(30 * 16);
  expect(Buffer.from(topicOf, "base64")).toHaveLength(30);
  const numbers = new Uint16Array(new Uint8Array(Buffer.from(places, "base64")).buffer);
  expect(numbers).toHaveLength(60);
  expect(Math.max(...numbers)).toBe(FARTHEST);
  expect(Object.keys(masks).sort()).toEqual(["agent", "project", "tag"]);
});

test("when one memory comes, all others and the names of topics stay where they are", async () => {
  const placesById = ({ ids, places }: Points) => {
    const numbers = new Uint16Array(new Uint8Array(Buffer.from(places, "base64")).buffer);
    const hex = Buffer.from(ids, "base64").toString("hex");
    return new Map(
      hex.match(/.{32}/g)?.map((id, at) => [id, numbers.subarray(2 * at, 2 * at + 2).join()]),
    );
  };
  const before = await told<Points>("/map/points");
  const { id } = await client.save({ content: "invoice of the new printer" });
  const after = await told<Points>("/map/points");
  const [former, places] = [placesById(before), placesById(after)];
  expect(places.size).toBe(former.size + 1);
  expect(places.delete(id.slice("mem_".length))).toBe(true);
  expect(places).toEqual(former);
  expect(after.topics.map(({ words }) => words).sort()).toEqual(
    before.topics.map(({ words }) => words).sort(),
  );
  await client.remove(id);
});

test("the script receives the version of the map that the page shows", async () => {
  const { text } = await person.visit("/map");
  const [, path = ""] = /data-points="([^"]+)"/.exec(text) ?? [];
  await client.save({ content: "one more" });
  expect(Buffer.from((await told<Points>(path)).ids, "base64")).toHaveLength(30 * 16);
  expect(Buffer.from((await told<Points>("/map/points")).ids, "base64")).toHaveLength(31 * 16);
});

test("the script receives only texts of the person's own memories", async () => {
  const long = await client.save({ content: `${"𝒳".repeat(5_000)}`, agent_id: "planner" });
  const secret = await other.save({ content: "of another account" });
  const ids = [long.id, secret.id, "mem_none", "' OR 1=1 --", ...Array(500).fill("x")];
  const { memories } = await told<{ memories: unknown[] }>(`/map/texts?ids=${ids.join()}`);
  expect(memories).toEqual([
    {
      id: long.id,
      text: `${"𝒳".repeat(240)}…`,
      facts: ["planner"],
      created_at: long.created_at,
    },
  ]);
  expect(await told<object>("/map/texts")).toEqual({ memories: [] });
});

test("visitors who are not signed in receive no data", async () => {
  for (const path of ["/map", "/map/points", "/map/texts?ids=x"]) {
    const { status, headers } = await fetch(server.origin + path, { redirect: "manual" });
    expect(status).toBe(303);
    expect(headers.get("location")).toMatch(/^\/(sign-in|setup)/);
  }
});
