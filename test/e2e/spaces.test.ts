import { afterAll, beforeAll, expect, test } from "bun:test";
import { projectPath } from "../../src/dashboard/navigation.tsx";
import { inSpace, wholeAccount } from "../../src/keys/reach.ts";
import { createPerson } from "../oauth/support/person.ts";
import { expectSound, type Page } from "../support/browser.ts";
import { type Dashboard, press, startDashboard } from "../support/dashboard.ts";
import { join } from "../support/space-team.ts";

/** Milliseconds for visiting all pages on a busy machine. */
const TIMEOUT = 120_000;
/** Maximum bytes of a page's HTML. */
const MOST_BYTES = 60_000;
const LONG = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauamt";

let dashboard: Dashboard;
beforeAll(async () => {
  dashboard = await startDashboard();
});
afterAll(() => dashboard?.close());

const addPerson = async (name: string) => {
  const email = `${name}-${crypto.randomUUID().slice(0, 8)}@example.com`;
  const { id: accountId } = await dashboard.accounts.add({ email, password: null });
  return { accountId, email };
};

/** An admin of a space with many members, invitations, projects and memories, and the pages that show them. */
async function largeSpace() {
  const [ann, owner] = [await addPerson("ann"), await dashboard.accounts.findOwner()];
  const space = await dashboard.spaces.create(ann.accountId, LONG);
  for (let number = 0; number < 40; number++) {
    const person = await addPerson(`${number}-${"long-name".repeat(5)}`);
    await join(dashboard, space, person, "write");
  }
  for (let number = 0; number < 25; number++) {
    const wanted = { email: `${"invited".repeat(8)}${number}@example.com`, role: "read" } as const;
    await dashboard.spaceInvitations.create(ann.accountId, space.id, wanted);
  }
  const projects = Array.from({ length: 200 }, (_, number) => `${number} ${"p".repeat(120)}`);
  await dashboard.spaces.change(ann.accountId, space.id, { projects });
  const own = wholeAccount(ann.accountId);
  await dashboard.memories.saveAll(own, [{ content: LONG, project: "acme/web" }]);
  const shared = inSpace(own, space);
  const [memory] = await dashboard.memories.saveAll(shared, [
    { content: `${LONG} in the space`, project: "acme/web" },
  ]);
  const other = await dashboard.spaces.create((await addPerson("eve")).accountId, "other");
  const [admin] = await dashboard.spaces.members(other.id);
  const { secret } = await dashboard.spaceInvitations.create(admin?.accountId ?? "", other.id, {
    ...{ email: ann.email, role: "write" },
  });
  const person = createPerson(dashboard.origin);
  const session = await dashboard.sessions.begin(ann.accountId);
  person.jar.set("ctxd-session", session);
  return {
    ...{ ann, owner, space },
    ofPerson: [
      "/spaces",
      `/spaces/${space.id}`,
      `/spaces/${space.id}?page=2`,
      `/spaces/${space.id}/member?member=${ann.accountId}`,
      `/spaces/${space.id}/projects`,
      `/spaces/${space.id}/leave`,
      `/spaces/${space.id}/delete`,
      `/spaces/join/${secret}`,
      `${projectPath("acme/web")}`,
      `${projectPath("acme/web")}/into-space?space=${space.id}`,
      "/memories",
      "/keys",
    ],
    ofSpace: [
      "/",
      "/memories",
      "/memories?q=Fahrt",
      `/memories/${memory?.id}`,
      "/memories/new",
      `/memories/${memory?.id}/edit`,
      "/memories/import",
      projectPath("acme/web"),
      "/projects",
      "/activity",
      "/map",
      "/keys",
      `/spaces/${space.id}`,
    ],
    ofOwner: ["/admin/spaces", `/admin/spaces/${space.id}`, `/admin/spaces/${space.id}/remove`],
    session,
  };
}

test(
  "every page of spaces, and every page in a space, is small and can be used by anyone",
  async () => {
    const { ann, owner, space, ofPerson, ofSpace, ofOwner, session } = await largeSpace();
    const inIt = `ctxd-space=${space.id}`;
    for (const [paths, cookie] of [
      [ofPerson, `ctxd-session=${session}`],
      [ofSpace, `ctxd-session=${session}; ${inIt}`],
    ] as const) {
      for (const path of paths) {
        const response = await fetch(dashboard.origin + path, { headers: { cookie } });
        const { length } = await response.text();
        expect({ path, status: response.status }).toEqual({ path, status: 200 });
        expect({ path, isSmall: length < MOST_BYTES, length }).toMatchObject({ isSmall: true });
      }
    }
    const visitAll = (paths: readonly string[]) => async (page: Page) => {
      for (const path of paths) {
        await page.goto(dashboard.origin + path);
        expect(await page.getByRole("heading", { level: 1 }).count()).toBe(1);
        await expectSound(page);
      }
    };
    const asAnn = async (page: Page) => {
      await visitAll(ofPerson)(page);
      const cookie = { name: "ctxd-space", value: space.id, url: dashboard.origin };
      await page.context().addCookies([cookie]);
      await visitAll(ofSpace)(page);
    };
    await dashboard.visitAs(ann.accountId, asAnn, { inTurn: true });
    await dashboard.visitAs(owner?.id ?? "", visitAll(ofOwner), { inTurn: true });
  },
  TIMEOUT,
);

test.each([true, false])(
  "two people make a space, share what they know, and part, with scripts: %p",
  async (javaScript) => {
    const [ann, bob] = [await addPerson("ann"), await addPerson("bob")];
    const name = `acme ${javaScript}`;
    await dashboard.memories.saveAll(wholeAccount(bob.accountId), [
      { content: "Deploys are on Tuesdays.", project: "acme/web" },
    ]);
    await dashboard.visitAs(
      ann.accountId,
      async (ofAnn) => {
        await ofAnn.goto(`${dashboard.origin}/spaces`);
        await ofAnn.getByLabel("Name").fill(name);
        await press(ofAnn, "Make the space");
        await press(ofAnn, "Invite");
        const link = (await ofAnn.locator(".copyable code").textContent()) ?? "";
        const asBob = async (ofBob: Page) => {
          await ofBob.goto(link);
          await ofBob.getByText("2 people, you included, will see what you save").waitFor();
          await press(ofBob, "Join the space");
          await press(ofBob, "Show its memories");
          await ofBob.getByText("2 people see these memories").waitFor();

          await ofBob.goto(`${dashboard.origin}/memories/new`);
          await ofBob.getByText("2 people will see this").waitFor();
          await ofBob.getByLabel("Text").fill("The cat is called Miro.");
          await press(ofBob, "Save the memory");
          await ofBob.getByText("The memory is saved.").waitFor();

          await ofBob.getByLabel("Whose memories").selectOption("Personal");
          await press(ofBob, "Switch");
          await ofBob.getByText("Only you see these memories").waitFor();
          expect(await ofBob.getByText("Miro").count()).toBe(0);
          await ofBob.goto(dashboard.origin + projectPath("acme/web"));
          await press(ofBob, "Preview the move…");
          await ofBob.getByText("Deploys are on Tuesdays.").waitFor();
          await press(ofBob, "Move 1 memory");
          await ofBob.getByText(`Moved into “${name}”: 1 memory.`).waitFor();

          await ofAnn.goto(`${dashboard.origin}/spaces`);
          await ofAnn.getByRole("link", { name }).click();
          await press(ofAnn, "Show its memories");
          await ofAnn.getByText("Miro").waitFor();
          await ofAnn.getByText("Deploys are on Tuesdays.").waitFor();

          await ofBob.getByLabel("Whose memories").selectOption(name);
          await press(ofBob, "Switch");
          await ofBob.goto(`${dashboard.origin}/memories`);
          await ofBob.getByText("Miro").waitFor();
          await ofAnn.getByRole("link", { name: "2 people" }).click();
          await ofAnn.getByRole("link", { name: `Change ${bob.email}` }).click();
          await ofAnn.getByRole("link", { name: "Remove from the space" }).click();
          await press(ofAnn, "Remove the member");
          await ofAnn.getByText(`${bob.email} is removed.`).waitFor();

          // Scripts notice it by themselves.
          if (!javaScript) await ofBob.reload();
          await ofBob.getByText("You are not in the space that you had chosen any more.").waitFor();
          expect(await ofBob.getByText("Miro").count()).toBe(0);
        };
        await dashboard.visitAs(bob.accountId, asBob, { javaScript });
      },
      { javaScript },
    );
  },
  TIMEOUT,
);
