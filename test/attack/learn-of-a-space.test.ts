import { afterAll, beforeAll, expect, test } from "bun:test";
import { wholeAccount } from "../../src/keys/reach.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { addPerson, atDashboard, join } from "../support/space-team.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ config: { rateLimit: false } });
  // The first account is the owner, who sees more.
  await addPerson(server, "owner");
});
afterAll(() => server.close());

/** An id that no memory has. */
const NOWHERE = `mem_${"0197f2c4e0b47c3a9a1d5b8e2f60c7".padEnd(32, "1")}`;
const QUESTION = "Which+lighthouse+has+a+red+lamp%3F";

/** A person with a space and two memories, and a space of others with a memory that would be found too. */
async function strangers() {
  const ann = await addPerson(server, "ann");
  const eve = await addPerson(server, "eve");
  const own = await server.spaces.create(eve.accountId, "own");
  const foreign = await server.spaces.create(ann.accountId, "foreign");
  for (const { id } of [own, foreign]) {
    await server.spaces.change(null, id, { projects: ["acme/web"] });
  }
  const content = "The lighthouse has a red lamp.";
  await eve.save({ content, tags: ["a"] });
  const { id: mine } = await eve.save({ content, project: "acme/web" });
  const { id: secret } = await ann.save({ content, project: "acme/web" });
  return { ann, eve, own, foreign, mine, secret, content };
}

test("answers to a stranger stay the same, whatever happens in a space", async () => {
  const { ann, eve, own, foreign, mine, secret, content } = await strangers();
  const bob = await addPerson(server, "bob");
  const atBrowser = await atDashboard(server, eve);
  const paths = [
    ...["/stats", "/stats?space=own", "/memories", "/memories?space=own", "/spaces"],
    ...[`/memories/search?q=${QUESTION}`, `/memories/search?q=${QUESTION}&explain=true`],
    ...[`/memories/search?q=${QUESTION}&project=acme/web`, `/memories/${mine}`],
    ...[`/memories/${secret}`, `/memories/${secret}/history`, `/memories?space=${foreign.id}`],
    ...["/memories?space=foreign", "/memories?project=acme/web", `/memories/${NOWHERE}`],
  ];
  const look = async () => {
    const answers: unknown[] = [];
    for (const path of paths) {
      const { status, body, headers } = await eve.send("GET", path);
      answers.push({ path, status, body, etag: headers.get("etag") });
    }
    for (const path of ["/spaces", "/spaces/foreign", `/spaces/${foreign.id}`, "/spaces/own"]) {
      answers.push({ path, ...(await atBrowser("GET", path)) });
    }
    // What a save says about others of the same meaning.
    const query = "/memories?similar=true";
    const saved = await eve.send("POST", query, { json: { content, project: "acme/web" } });
    const { id: _, ...similar } = saved.body as { id: string };
    return [...answers, saved.status, similar];
  };
  const before = await look();
  const inForeign = wholeAccount(foreign.id);
  await server.memories.saveAll(inForeign, [{ content }, { content, project: "acme/web" }]);
  await server.memories.update(inForeign, secret, { content: `${content} Since May.` });
  await server.spaces.change(null, foreign.id, { name: "renamed", projects: [] });
  await join(server, foreign, bob, "write");
  await server.spaces.setRole(null, foreign.id, ann.accountId, "admin");
  expect(await look()).toEqual(before);
  await server.memories.remove(inForeign, secret);
  expect(await look()).toEqual(before);
  await server.spaces.remove(null, foreign.id);
  expect(await look()).toEqual(before);
  expect((await eve.send("GET", "/memories?space=own")).body).toMatchObject({
    memories: [{ id: mine }],
  });
  expect((await server.spaces.admit(eve.accountId))?.spaces).toMatchObject([{ id: own.id }]);
});

test("a memory of a foreign space and one that is nowhere get the same answer", async () => {
  const { eve, foreign, secret } = await strangers();
  for (const [method, path, json] of [
    ["GET", "/memories/ID", undefined],
    ["GET", "/memories/ID?space=own", undefined],
    ["GET", `/memories/ID?space=${foreign.id}`, undefined],
    ["GET", "/memories/ID/history", undefined],
    ["PUT", "/memories/ID", { content: "mine" }],
    ["DELETE", "/memories/ID", undefined],
    ["DELETE", "/memories/ID?history=true", undefined],
    ["POST", "/memories", { content: "newer", supersedes: "ID" }],
    ["POST", "/memories", { content: "newer", supersedes: "ID", project: "acme/web" }],
  ] as const) {
    const answers = [];
    for (const id of [secret, NOWHERE]) {
      const body = json === undefined ? null : JSON.stringify(json).replace("ID", id);
      const sending = body === null ? {} : { json: JSON.parse(body) };
      const answer = await eve.send(method, path.replace("ID", id), sending);
      const told = JSON.stringify(answer.body).replaceAll(id, "ID");
      answers.push({ status: answer.status, told });
    }
    expect(answers[0]).toEqual(answers[1]);
    expect(answers[0]?.status).toBeGreaterThanOrEqual(400);
  }
});

test("the answer about a memory of a foreign space takes as long as about one that is nowhere", async () => {
  const { eve, secret } = await strangers();
  const RUNS = 300;
  const timeOf = async (id: string) => {
    const began = performance.now();
    expect((await eve.send("GET", `/memories/${id}`)).status).toBe(404);
    return performance.now() - began;
  };
  const kinds = [
    { id: secret, times: [] as number[] },
    { id: NOWHERE, times: [] as number[] },
    { id: NOWHERE, times: [] as number[] },
  ] as const;
  for (let run = 0; run < RUNS; run++) {
    // Each is the first one as often as the others.
    for (let place = 0; place < 3; place++) {
      const kind = kinds[(run + place) % 3];
      kind?.times.push(await timeOf(kind.id));
    }
  }
  const median = (list: number[]) => list.toSorted((a, b) => a - b)[RUNS / 2] ?? 0;
  const [foreign, nowhere, again] = kinds.map(({ times }) => median(times));
  const ratio = (foreign ?? 0) / (nowhere ?? 0);
  const noise = (again ?? 0) / (nowhere ?? 0);
  if (process.env.LONG === "1") console.log({ ratio, noise });
  expect(Math.abs(Math.log(ratio))).toBeLessThan(Math.abs(Math.log(noise)) + Math.log(1.25));
});
