import { afterAll, expect, test } from "bun:test";
import { BackupError } from "../../src/backup/backup-error.ts";
import type { BackupFacts } from "../../src/dashboard/server-status.ts";
import { startOAuthServer } from "../oauth/support/oauth-server.ts";
import { createPerson, formTo } from "../oauth/support/person.ts";

const PASSWORD = "correct horse";

const FOLDER = "/backups/of the week";
const schedule = { folder: FOLDER, every: 12 * 3_600_000, keep: 7, recipients: ["age1x"] };
const facts: BackupFacts = {
  isShared: false,
  schedule: { ...schedule, isLate: false },
  isFixed: false,
  recipients: [],
  suggested: "/home/you/ctxd-backups",
  running: null,
  failure: null,
  complete: [
    { folder: `${FOLDER}/b2`, at: 86_400_000 },
    { folder: `${FOLDER}/b1`, at: 0 },
  ],
  problem: null,
};
/** What the page is shown besides that, and what its forms have asked for. */
let shown: Partial<BackupFacts> = {};
const asked: unknown[] = [];
const server = await startOAuthServer({
  serverStatus: {
    program: "ctxd",
    isForAgents: true,
    command: (words) => `ctxd ${words}`,
    server: () => ({
      startedAt: new Date(0),
      platform: "Bun on a test",
      dataDir: "/data",
      database: "SQLite",
      model: "none",
      memory: 1e8,
      disk: { free: 3e9, total: 8e9 },
      lag: 7,
    }),
    backups: async () => ({ ...facts, ...shown }),
    createBackup: async () => void asked.push("now"),
    async changeBackups(wanted) {
      if (wanted?.folder === "/full")
        throw new BackupError("/full can't be written: the disk is full.");
      asked.push(wanted);
    },
  },
});
afterAll(server.close);
const owner = await server.signedIn();
const member = await server.signedIn();

test("only the owner can open the page and use its forms", async () => {
  const { secret, invitation } = await server.invitations.create(null);
  const { text } = await member.person.visit("/keys");
  expect(text).not.toContain('href="/admin"');
  const page = formTo(await member.person.visit("/keys"), "/keys");
  for (const path of [
    "/admin",
    "/admin/health",
    "/admin/backups",
    "/admin/backups/now",
    "/admin/backups/schedule",
    "/admin/invitations",
    `/admin/accounts/${member.accountId}`,
    `/admin/accounts/${owner.accountId}/revoke`,
    `/admin/accounts/${member.accountId}/disable`,
    `/admin/accounts/${member.accountId}/enable`,
    `/admin/accounts/${member.accountId}/quota`,
    `/admin/accounts/${member.accountId}/quota/clear`,
    `/admin/invitations/${invitation.id}/revoke`,
    `/admin/accounts/${member.accountId}/remove`,
    `/admin/accounts/${owner.accountId}/remove`,
  ]) {
    const forged = { ...page, forms: page.forms.map((form) => ({ ...form, action: path })) };
    const isShown = /^\/admin(\/health|\/backups|\/accounts\/\w+)?$/.test(path);
    if (!isShown) expect((await member.person.submit(forged)).status).toBe(403);
    if (!/invitations|quota|enable|backups\/./.test(path)) {
      expect((await member.person.visit(path)).status).toBe(403);
    }
  }
  expect(await server.accounts.list()).toHaveLength(2);
  expect(await server.invitations.list()).toHaveLength(1);
  expect(await server.invitations.find(secret)).not.toBeNull();
  await server.invitations.revoke(invitation.id);
});

test("an invitation link is shown once, creates an account, and can be revoked", async () => {
  const page = await owner.person.visit("/admin");
  const made = await owner.person.submit(formTo(page, "/admin/invitations"), {
    email: "ada@example.com",
  });
  const [link = ""] = /http:\/\/localhost:\d+\/join\/[\w-]{43}/.exec(made.text) ?? [];
  expect((await owner.person.visit(made.url)).text).not.toContain("/join/");
  const ada = createPerson(server.origin);
  await ada.submit(await ada.visit(link), { password: PASSWORD });
  expect(await server.accounts.findByEmail("ada@example.com")).toMatchObject({ role: "member" });

  const form = formTo(await owner.person.visit("/admin"), "/admin/invitations");
  const bad = await owner.person.submit(form, { email: `<script>"` });
  expect(bad.status).toBe(422);
  expect(bad.text).not.toContain("<script>");
  const again = await owner.person.submit(form, { email: "" });
  const [other = ""] = /http:\/\/localhost:\d+\/join\/[\w-]{43}/.exec(again.text) ?? [];
  const [invitation] = await server.invitations.list();
  await owner.person.submit(formTo(again, `/admin/invitations/${invitation?.id}/revoke`));
  expect((await ada.visit(other)).text).toContain("This invitation is not valid");
});

test("removing an account says what it removes, and removes all of it", async () => {
  const bob = await server.signedIn();
  const client = await server.client(bob.accountId);
  await client.saveAll([{ content: "one" }, { content: "two" }]);
  const { email = "" } = (await server.accounts.find(bob.accountId)) ?? {};
  expect((await owner.person.visit("/admin")).text).toContain(email);
  const path = `/admin/accounts/${bob.accountId}/remove`;
  const question = await owner.person.visit(path);
  expect(question.text).toContain("memories: 2");
  expect(question.text).toContain("API keys: 2");
  expect(question.text).toContain("connected apps: 0");
  const page = await owner.person.submit(formTo(question, path));
  expect(page.text).toContain(`${email} is removed`);
  expect((await client.send("GET", "/memories")).status).toBe(401);
  expect(new URL((await bob.person.visit("/")).url).pathname).toBe("/sign-in");
  expect((await owner.person.submit(formTo(question, path))).status).toBe(404);
});

test("the owner's account can't be removed", async () => {
  expect((await owner.person.visit(`/admin/accounts/${owner.accountId}/remove`)).status).toBe(403);
});

test("the health page shows each check and the facts of the program", async () => {
  const { text } = await owner.person.visit("/admin/health");
  expect(text).toContain("<dt>Version</dt>");
  expect(text).toMatch(/Database<span class="under">.*?<td data-label="State">ok/);
  expect(text).toContain("Healthy");
  expect(text).toContain("<dt>Database</dt><dd>SQLite</dd>");
  expect(text).toContain("3.0 GB free of 8.0 GB");
  expect(text).toContain("oldest change pending for 7 s");
});

test("the backups page shows the schedule, the backups, and the restore command", async () => {
  server.securityLog.record("backup_created", { accountId: null, via: "command" });
  await server.securityLog.flush();
  const { text } = await owner.person.visit("/admin/backups");
  expect(text).toMatch(/<option value="12" selected>every 12 hours/);
  expect(text).toContain(`value="${FOLDER}"`);
  expect(text).toContain("On schedule");
  expect(text).toContain(
    Bun.escapeHTML(`ctxd restore '${FOLDER}/b2' --data-dir NEW_FOLDER --identity key.txt`),
  );
  expect(text.indexOf("week/b2")).toBeLessThan(text.indexOf("week/b1"));
  expect(text).toContain("Backup made");
});

test("a backup is made by a button, and the page shows how far it is and why it failed", async () => {
  const path = "/admin/backups";
  asked.length = 0;
  const form = formTo(await owner.person.visit(path), `${path}/now`);
  expect((await owner.person.submit(form)).text).toContain("The backup is complete.");
  expect(asked).toEqual(["now"]);

  shown = { running: { at: 0, done: { step: "copying files", count: 3, total: 12 } } };
  const running = await owner.person.visit(path);
  expect(running.text).toContain("Making a backup: copying files, 3 of 12");
  expect(running.text).not.toContain("Back up now</button>");
  expect(running.headers.get("refresh")).toBe("2");

  shown = { failure: { at: 0, message: "/mnt/usb can't be written: the disk is full." } };
  const failed = await owner.person.visit(path);
  expect(failed.text).toContain(Bun.escapeHTML("can't be written: the disk is full."));
  expect(failed.headers.get("refresh")).toBeNull();
  expect((await owner.person.submit(form)).text).not.toContain("The backup is complete.");

  for (const [none, answer] of [
    [{ schedule: null }, "Choose the folder for backups first."],
    [{ schedule: null, isShared: true }, "none of them makes backups: run ctxd backup."],
  ] as const) {
    shown = none;
    const refused = await owner.person.submit(form);
    expect(refused.status).toBe(409);
    expect(refused.text).toContain(answer);
  }
  shown = {};
});

test("the owner changes the schedule, unless the environment has it", async () => {
  const path = "/admin/backups";
  asked.length = 0;
  const form = formTo(await owner.person.visit(path), `${path}/schedule`);
  expect(form.forms[0]?.fields).toEqual(
    expect.arrayContaining([
      ["folder", FOLDER],
      ["keep", "7"],
      ["recipients", "age1x"],
    ]),
  );
  const wanted = { folder: " /mnt/usb ", hours: "6", keep: "3", recipients: "age1a, age1b" };
  expect((await owner.person.submit(form, wanted)).text).toContain("The schedule is saved.");
  expect((await owner.person.submit(form, { ...wanted, hours: "0" })).status).toBe(200);
  expect((await owner.person.submit(form, { none: "true" })).text).toContain("no more backups");
  const recipients = ["age1a", "age1b"];
  expect(asked).toEqual([
    { folder: "/mnt/usb", every: 6 * 3_600_000, keep: 3, recipients },
    { folder: "/mnt/usb", every: null, keep: 3, recipients },
    null,
  ]);
  const full = await owner.person.submit(form, { ...wanted, folder: "/full" });
  expect(full.status).toBe(422);
  expect(full.text).toContain(Bun.escapeHTML("/full can't be written: the disk is full."));
  expect(full.text).toContain('value="/full"');
  for (const wrong of [{ keep: "0" }, { keep: "x" }, { hours: "-1" }, { hours: "soon" }]) {
    expect((await owner.person.submit(form, { ...wanted, ...wrong })).status).toBe(422);
  }
  expect(asked).toHaveLength(3);

  shown = { schedule: null };
  expect((await owner.person.visit(path)).text).toContain('value="/home/you/ctxd-backups"');
  expect((await owner.person.submit(form, wanted)).text).toContain("The backup is complete.");
  expect(asked.slice(3)).toEqual([expect.objectContaining({ folder: "/mnt/usb" }), "now"]);

  shown = { isFixed: true };
  const { text } = await owner.person.visit(path);
  expect(text).toContain("CTXD_BACKUP_DIR");
  expect(text).not.toContain('name="folder"');
  expect(text).toContain("<dt>Every</dt><dd>12 hours</dd>");
  expect(text).toContain("the newest 7");
  expect(text).toContain("Back up now</button>");
  expect((await owner.person.submit(form, wanted)).status).toBe(409);
  shown = {};
  await server.securityLog.flush();
  const events = await server.securityLog.list(
    owner.accountId,
    { event: "backups_changed" },
    { limit: 9, before: null },
  );
  expect(events.map(({ subject }) => subject)).toEqual([null, "/mnt/usb"]);
});

test("a quota is set, shown with its use, enforced and cleared", async () => {
  const { accountId } = await server.signedIn();
  const client = await server.client(accountId);
  await client.saveAll([{ content: "one" }, { content: "two" }]);
  const path = `/admin/accounts/${accountId}`;
  const form = formTo(await owner.person.visit(path), `${path}/quota`);
  const set = await owner.person.submit(form, { memories: "2", bytes: "20M" });
  expect(set.text).toContain("may store 2 memories and 20 MB of text.");
  expect(set.text).toContain("2 of 2 memories");
  expect(set.text).toMatch(/<meter value="1" /);
  expect((await client.send("POST", "/memories", { json: { content: "three" } })).status).toBe(409);
  expect((await owner.person.visit("/admin")).text).toContain("2 of 2 memories");

  for (const wrong of [{ memories: "-1" }, { memories: "1e3" }, { memories: "", bytes: "much" }]) {
    expect((await owner.person.submit(form, wrong)).status).toBe(422);
  }
  expect(await server.quotas.of(accountId)).toEqual({ memories: 2, bytes: 20e6 });
  const back = formTo(await owner.person.visit(path), `${path}/quota/clear`);
  expect((await owner.person.submit(back)).text).toContain("any number of memories");
  expect(await server.quotas.isSet(accountId)).toBe(false);
  expect((await client.send("POST", "/memories", { json: { content: "three" } })).status).toBe(201);
  await server.securityLog.flush();
  const events = await server.securityLog.list(
    accountId,
    { event: "quota_changed" },
    { limit: 9, before: null },
  );
  expect(events.map(({ actorId }) => actorId)).toContain(owner.accountId);
});
