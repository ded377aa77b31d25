import { afterAll, beforeAll, expect, test } from "bun:test";
import { startServer, type TestServer } from "../support/server.ts";
import { addPerson, atDashboard } from "../support/space-team.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

async function people() {
  const [ann, bob] = [await addPerson(server, "ann"), await addPerson(server, "bob")];
  return { ann, bob, asAnn: await atDashboard(server, ann), asBob: await atDashboard(server, bob) };
}

test("a person makes a space, invites another, and removes them again", async () => {
  const { bob, asAnn, asBob } = await people();
  const made = await asAnn("POST", "/spaces", { name: "acme" });
  expect(made).toMatchObject({ status: 201, body: { name: "acme", role: "admin", projects: [] } });
  const invited = await asAnn("POST", "/spaces/acme/invitations", { role: "write" });
  expect(invited).toMatchObject({ status: 201, body: { space: "acme", role: "write" } });
  const secret = invited.body.link.split("/").at(-1);
  expect(await asBob("POST", "/spaces/join", { secret })).toMatchObject({
    status: 200,
    body: { name: "acme", role: "write" },
  });
  expect((await asBob("POST", "/spaces/join", { secret })).status).toBe(404);
  const changed = await asAnn("PUT", "/spaces/acme", { projects: ["acme/web", "acme/web"] });
  expect(changed).toMatchObject({ status: 200, body: { projects: ["acme/web"] } });
  expect((await asBob("GET", "/spaces/acme")).body).toMatchObject({
    role: "write",
    projects: ["acme/web"],
    members: [{ role: "admin" }, { role: "write", id: bob.accountId }],
    invitations: [],
  });
  const role = await asAnn("PUT", `/spaces/acme/members/${bob.accountId}`, { role: "read" });
  expect(role).toMatchObject({ status: 200, body: { role: "read" } });
  expect((await asBob("DELETE", "/spaces/acme")).status).toBe(403);
  expect((await asBob("DELETE", `/spaces/acme/members/${bob.accountId}`)).status).toBe(200);
  expect((await asBob("GET", "/spaces/acme")).status).toBe(404);
  expect((await asAnn("DELETE", "/spaces/acme")).status).toBe(200);
  expect((await asAnn("GET", "/spaces")).body).toEqual({ spaces: [], invitations: [] });
});

test("an invitation of an address waits in the list of who has it", async () => {
  const { bob, asAnn, asBob } = await people();
  await asAnn("POST", "/spaces", { name: "acme" });
  await asAnn("POST", "/spaces/acme/invitations", { role: "read", email: bob.email });
  const { body } = await asBob("GET", "/spaces");
  expect(body).toMatchObject({ spaces: [], invitations: [{ space: "acme", role: "read" }] });
  const invitation = body.invitations[0].id;
  expect((await asAnn("GET", "/spaces/acme")).body.invitations).toMatchObject([{ id: invitation }]);
  expect((await asBob("POST", "/spaces/join", { invitation })).status).toBe(200);
  expect((await asAnn("GET", "/spaces/acme")).body.invitations).toEqual([]);
});

test("an invitation can be revoked", async () => {
  const { asAnn, asBob } = await people();
  await asAnn("POST", "/spaces", { name: "acme" });
  const { body } = await asAnn("POST", "/spaces/acme/invitations", { role: "admin" });
  const path = `/spaces/acme/invitations/${body.id}`;
  expect((await asBob("DELETE", path)).status).toBe(404);
  expect((await asAnn("DELETE", path)).status).toBe(200);
  const secret = body.link.split("/").at(-1);
  expect((await asBob("POST", "/spaces/join", { secret })).status).toBe(404);
});

test("a key lists spaces and manages none", async () => {
  const { ann, bob, asAnn } = await people();
  const { id } = (await asAnn("POST", "/spaces", { name: "acme" })).body;
  expect((await ann.send("GET", "/spaces")).body).toMatchObject({ spaces: [{ name: "acme" }] });
  expect((await bob.send("GET", "/spaces")).body).toEqual({ spaces: [], invitations: [] });
  const tries = [
    ["POST", "/spaces", { name: "mine" }],
    ["POST", "/spaces/join", { secret: "x" }],
    ["GET", "/spaces/acme", undefined],
    ["PUT", "/spaces/acme", { name: "mine" }],
    ["DELETE", "/spaces/acme", undefined],
    ["POST", "/spaces/acme/invitations", { role: "admin" }],
    ["DELETE", "/spaces/acme/invitations/inv_1", undefined],
    ["PUT", `/spaces/acme/members/${ann.accountId}`, { role: "read" }],
    ["DELETE", `/spaces/acme/members/${ann.accountId}`, undefined],
  ] as const;
  for (const [method, path, json] of tries) {
    expect(await ann.send(method, path, { json })).toMatchObject({
      status: 403,
      body: { error: { message: expect.stringContaining("A key can't manage spaces") } },
    });
  }
  expect((await server.spaces.admit(ann.accountId))?.spaces).toMatchObject([{ id }]);
});

test("changes of a space are in the security log", async () => {
  const { ann, asAnn } = await people();
  await asAnn("POST", "/spaces", { name: "audited" });
  await asAnn("DELETE", "/spaces/audited");
  await server.securityLog.flush();
  const events = await server.securityLog.list(ann.accountId, {}, { limit: 10 });
  expect(events.map(({ event }) => event).sort()).toEqual(["space_created", "space_deleted"]);
});
