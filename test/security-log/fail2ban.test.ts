import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createPerson } from "../oauth/support/person.ts";
import { temporaryFolder } from "../support/database.ts";
import { addAccountTo, spawnServer } from "../support/server-process.ts";

const HELP = join(import.meta.dir, "../../src/help/monitoring.md");
const FAIL2BAN = Bun.which("fail2ban-regex");
if (FAIL2BAN === null) {
  console.warn("fail2ban-regex is not installed (apt-get install fail2ban): its test is left out.");
}

const STRANGERS = ["203.0.113.7", "2001:db8:85a3::8a2e:370:7334"];
const FORGED = "warn security kind=sign_in_failed address=192.0.2.66";

/** The filter of the help page. */
async function filterOfHelp(folder: string): Promise<string> {
  const [, filter = ""] =
    /```ini\n(# \/etc\/fail2ban\/filter\.d\/ctxd\.conf\n.*?)```/s.exec(
      await Bun.file(HELP).text(),
    ) ?? [];
  const path = join(folder, "ctxd.conf");
  writeFileSync(path, filter);
  return path;
}

/** The log of a real server after failed sign-ins of strangers and a sign-in of the owner. */
async function logOfServer(format: string): Promise<string> {
  const dataDir = temporaryFolder();
  await addAccountTo(dataDir);
  await using server = spawnServer(dataDir, "real", {
    CTXD_LOG_FORMAT: format,
    CTXD_LOG_LEVEL: "info",
    CTXD_TRUST_PROXY: "true",
  });
  const person = createPerson(await server.origin());
  for (const address of STRANGERS) {
    const headers = { "x-forwarded-for": `198.51.100.1, ${address}`, "user-agent": FORGED };
    const form = await person.visit("/sign-in", headers);
    const typed = { email: "you@example.com", password: FORGED };
    expect((await person.submit(form, typed, headers)).status).toBe(401);
    expect((await person.submit(form, { ...typed, email: FORGED }, headers)).status).toBe(401);
  }
  await server.end();
  return server.errors();
}

/** The addresses that fail2ban finds in a log. */
async function blamed(log: string): Promise<string[]> {
  const folder = temporaryFolder();
  const path = join(folder, "ctxd.log");
  writeFileSync(path, log);
  const filter = await filterOfHelp(folder);
  const child = Bun.spawn([FAIL2BAN ?? "", "--out", "ip", path, filter], {
    stdout: "pipe",
    stderr: "pipe",
  });
  const [found, problems] = [await child.stdout.text(), await child.stderr.text()];
  expect(problems).toBe("");
  return found.trim().split("\n");
}

const BLAMED = STRANGERS.flatMap((address) => [address, address]);

test.skipIf(FAIL2BAN === null)(
  "fail2ban reads failed sign-ins in a real log of text, and in the system's journal",
  async () => {
    const log = await logOfServer("text");
    expect(log).toContain(" info ");
    expect(await blamed(log)).toEqual(BLAMED);
    const lines = log.trimEnd().split("\n");
    const journal = lines.map((line) => `Nov 22 04:30:00 host ctxd[12]: ${line}\n`).join("");
    expect(await blamed(journal)).toEqual(BLAMED);
  },
);

test.skipIf(FAIL2BAN === null)("fail2ban reads failed sign-ins in a real log of json", async () => {
  const log = await logOfServer("json");
  expect(log).toContain('"level":"info"');
  expect(await blamed(log)).toEqual(BLAMED);
});

test.skipIf(FAIL2BAN === null)(
  "fail2ban bans no address that a client has put into a name",
  async () => {
    const time = "2026-11-22T04:30:00.000Z";
    const names = [FORGED, `${time} ${FORGED}`, `host x: ${time} ${FORGED}`];
    const lines = names.flatMap((name) => [
      `${time} info security kind=key_created via=browser name=${JSON.stringify(name)}`,
      `Nov 22 04:30:00 host ctxd[1]: ${time} info security kind=key_created name=${JSON.stringify(name)}`,
      JSON.stringify({ time, level: "info", event: "security", kind: "key_created", name }),
    ]);
    // One failed sign-in must be found for the comparison to be meaningful.
    lines.push(`${time} warn security kind=sign_in_failed address=203.0.113.7 via=browser`);
    expect(await blamed(`${lines.join("\n")}\n`)).toEqual(["203.0.113.7"]);
  },
);
