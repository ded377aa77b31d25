import { afterAll, expect, test } from "bun:test";
import { sharedEmbedder } from "../support/embedder.ts";
import { type ClientName, connectHttp, shownIn } from "../support/mcp.ts";
import { startServer } from "../support/server.ts";
import { addPerson, atDashboard, type Person } from "../support/space-team.ts";

const PROJECT = "acme/shop";

const server = await startServer({ embedder: sharedEmbedder() });
afterAll(server.close);

/** An agent of a person, at work in the team's repository. */
async function agentOf({ key }: Person, name: ClientName, folder = PROJECT) {
  const headers = { authorization: `Bearer ${key}`, "ctxd-project": encodeURIComponent(folder) };
  const mcp = await connectHttp(name, server.origin, headers);
  return {
    save: async (content: string) => (await mcp.call("save_memory", { content })).text,
    search: async (query: string) => {
      const found = shownIn(await mcp.call("search_memories", { query }));
      return found.map(({ content }) => content);
    },
    end: () => mcp[Symbol.asyncDispose](),
  };
}

/** What a person's agent is told when a session begins. */
async function recall(person: Person, session: string, prompt?: string): Promise<string> {
  const json = { session_id: session, project: PROJECT, ...(prompt && { prompt }) };
  const { status, body } = await person.send("POST", "/memories/recall", { json });
  expect(status).toBe(200);
  return (body as { text: string }).text;
}

test("a day of a team: what one's agent learned, the other's recalls; the personal stays personal", async () => {
  const [ann, bob] = [await addPerson(server, "ann"), await addPerson(server, "bob")];
  const [asAnn, asBob] = [await atDashboard(server, ann), await atDashboard(server, bob)];
  const [annClaude, annCursor] = [await agentOf(ann, "v1"), await agentOf(ann, "v2 new")];
  const [bobCodex, bobGemini] = [await agentOf(bob, "v2 old"), await agentOf(bob, "v2 new")];

  // Ann has worked alone for a while, and makes a space for the shop.
  await annClaude.save("Ann plans to ask for a raise in May.");
  await asAnn("POST", "/spaces", { name: "acme" });
  await asAnn("PUT", "/spaces/acme", { projects: [PROJECT] });
  const invited = await asAnn("POST", "/spaces/acme/invitations", {
    role: "write",
    email: bob.email,
  });
  expect(invited.status).toBe(201);
  const [invitation] = (await asBob("GET", "/spaces")).body.invitations;
  expect((await asBob("POST", "/spaces/join", { invitation: invitation.id })).status).toBe(200);

  // One agent learns, all others of the team know.
  await annClaude.save("The shop deploys from the branch release, never from main.");
  await bobCodex.save("The shop's payment tests need the variable PAY_SANDBOX=1.");
  for (const agent of [annClaude, annCursor, bobCodex, bobGemini]) {
    const [first] = await agent.search("which branch is deployed?");
    expect(first).toContain("release");
  }
  const morning = await recall(bob, "bob-1");
  expect(morning).toContain("branch release");
  expect(morning).toContain("shared in acme");
  expect(await recall(ann, "ann-1", "How do I run the payment tests?")).toContain("PAY_SANDBOX");

  // What was said to an agent, and what was there before, is nobody else's.
  const turns = [{ role: "user", content: "Remind me that my dentist is called Moll." }];
  const captured = { agent: "codex", session_id: "b", project: PROJECT, turns };
  expect((await bob.send("POST", "/memories/capture", { json: captured })).status).toBe(200);
  expect((await bobCodex.search("what is my dentist called?")).join()).toContain("Moll");
  expect((await annClaude.search("what is the dentist called?")).join()).not.toContain("Moll");
  expect((await bobCodex.search("what does Ann plan in May?")).join()).not.toContain("raise");
  expect(await recall(bob, "bob-2", "what does Ann plan in May?")).not.toContain("raise");
  // Another repository is another matter.
  const elsewhere = await agentOf(bob, "v1", "bob/diary");
  await elsewhere.save("Bob reads about sailing in the evening.");
  expect((await annClaude.search("who reads about sailing?")).join()).not.toContain("sailing");

  // A fact changes: the old one is history for both.
  const { body } = await ann.send("GET", `/memories?space=acme`);
  const [old] = (body as { memories: { id: string; content: string }[] }).memories.filter(
    ({ content }) => content.includes("branch release"),
  );
  const json = { content: "The shop deploys from the branch stable.", supersedes: old?.id };
  expect((await bob.send("POST", "/memories", { json })).status).toBe(201);
  expect((await annCursor.search("which branch is deployed?"))[0]).toContain("stable");

  // Bob leaves the team. What he wrote for it stays, and he sees nothing more of it.
  expect((await asAnn("DELETE", `/spaces/acme/members/${bob.accountId}`)).status).toBe(200);
  expect((await bobGemini.search("which branch is deployed?")).join()).not.toContain("stable");
  expect(await recall(bob, "bob-3")).not.toContain("acme");
  expect((await annCursor.search("which branch is deployed?"))[0]).toContain("stable");
  expect((await elsewhere.search("what does Bob read?")).join()).toContain("sailing");
  for (const agent of [annClaude, annCursor, bobCodex, bobGemini, elsewhere]) await agent.end();
});
