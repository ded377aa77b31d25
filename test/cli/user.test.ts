import { expect, test } from "bun:test";
import { findLocalOwner } from "../../src/accounts/accounts.ts";
import { commandLine, ctxd, ctxdInTerminal } from "../support/command-line.ts";
import { temporaryFolder } from "../support/database.ts";
import { testStores } from "../support/stores.ts";

const PASSWORD = "correct horse";

test("user add takes the password from standard input and prints nothing on standard output", async () => {
  const dataDir = temporaryFolder();
  const added = await ctxd(["user", "add", "You@Example.com"], { dataDir, input: `${PASSWORD}\n` });
  expect(added.stdout).toBe("");
  expect(added.stderr).toContain("Added you@example.com as the owner of this server.\n");
  expect(added.stderr).toContain("ctxd key create --user you@example.com");
  expect(added.exitCode).toBe(0);
  expect(
    await testStores(dataDir).accounts.verifyPassword("you@example.com", PASSWORD),
  ).toMatchObject({ role: "owner" });
});

test("the password is the first line, without its line break", async () => {
  const dataDir = temporaryFolder();
  const input = ` ${PASSWORD} \r\nanother line\n`;
  expect((await ctxd(["user", "add", "you@example.com"], { dataDir, input })).exitCode).toBe(0);
  const { accounts } = testStores(dataDir);
  expect(await accounts.verifyPassword("you@example.com", ` ${PASSWORD} `)).not.toBeNull();
});

test("user add does not wait for the end of standard input", async () => {
  const dataDir = temporaryFolder();
  const child = Bun.spawn(commandLine(["user", "add", "you@example.com"], { dataDir }), {
    ...{ stdin: "pipe", stdout: "ignore", stderr: "ignore", env: {} },
  });
  child.stdin.write(`${PASSWORD}\n`);
  child.stdin.flush();
  expect(await child.exited).toBe(0);
});

test.each([
  ["you@example.com", "short\n", 2, "A password has 8 to 1024 characters."],
  ["you@example.com", "", 1, "Nothing came from standard input"],
  ["account", `${PASSWORD}\n`, 2, "This is not an e-mail address"],
  ["' OR 1=1 --", `${PASSWORD}\n`, 2, "This is not an e-mail address"],
  ["bob@example.com", `${PASSWORD}\n`, 1, "exists already"],
])("user add %s with %j fails in one line", async (email, input, exitCode, message) => {
  const dataDir = temporaryFolder();
  const { accounts } = testStores(dataDir);
  await accounts.add({ email: "bob@example.com", password: null });
  const refused = await ctxd(["user", "add", email], { dataDir, input });
  expect(refused).toMatchObject({ stdout: "", exitCode });
  expect(refused.stderr).toMatch(/^ctxd: [^\n]+\n$/);
  expect(refused.stderr).toContain(message);
  expect(await accounts.list()).toHaveLength(1);
});

test("user list shows the accounts as text columns and as JSON", async () => {
  const dataDir = temporaryFolder();
  const { accounts } = testStores(dataDir);
  const account = await accounts.add({ email: "you@example.com", password: null });
  await accounts.add({ email: "b@example.com", password: null });

  const table = await ctxd(["user", "list"], { dataDir });
  expect(table).toMatchObject({ stderr: "", exitCode: 0 });
  const lines = table.stdout.trimEnd().split("\n");
  expect(lines).toHaveLength(3);
  expect(lines[0]).toMatch(/^EMAIL +ROLE +SECOND FACTOR +CREATED +ID$/);
  expect(lines[2]).toMatch(/^b@example.com {4}member {2}- +2026-01-01 00:00Z {2}acc_/);

  const json = await ctxd(["user", "list", "--json"], { dataDir });
  const entries = JSON.parse(json.stdout);
  expect(entries).toHaveLength(2);
  expect(entries[0]).toEqual({
    id: account.id,
    email: "you@example.com",
    role: "owner",
    second_factors: [],
    disabled_at: null,
    created_at: "2026-01-01T00:00:00.000Z",
  });
});

test("user list without accounts says how to add one", async () => {
  const dataDir = temporaryFolder();
  const table = await ctxd(["user", "list"], { dataDir });
  expect(table).toMatchObject({ stdout: "", exitCode: 0 });
  expect(table.stderr).toContain("ctxd user add EMAIL");
  expect((await ctxd(["user", "list", "--json"], { dataDir })).stdout).toBe("[]\n");
});

test("user passwd replaces the password", async () => {
  const dataDir = temporaryFolder();
  const { accounts } = testStores(dataDir);
  await accounts.add({ email: "you@example.com", password: PASSWORD });
  const input = "a new password\n";
  const changed = await ctxd(["user", "passwd", "YOU@example.com"], { dataDir, input });
  expect(changed).toMatchObject({ stdout: "", exitCode: 0 });
  expect(await accounts.verifyPassword("you@example.com", PASSWORD)).toBeNull();
  expect(await accounts.verifyPassword("you@example.com", "a new password")).not.toBeNull();
});

test.each(["passwd", "remove"])("user %s of an unknown account says what to do", async (verb) => {
  const refused = await ctxd(["user", verb, "eve@example.com"], { dataDir: temporaryFolder() });
  expect(refused).toMatchObject({ stdout: "", exitCode: 1 });
  expect(refused.stderr).toMatch(/^ctxd: .*ctxd user list.*ctxd user add EMAIL.*\n$/);
});

test("user remove without a terminal requires --yes", async () => {
  const dataDir = temporaryFolder();
  const { accounts } = testStores(dataDir);
  await accounts.add({ email: "you@example.com", password: null });
  const remove = ["user", "remove", "you@example.com"];
  const refused = await ctxd(remove, { dataDir, input: "y\n" });
  expect(refused).toMatchObject({ stdout: "", exitCode: 2 });
  expect(refused.stderr).toContain("--yes");
  expect(await accounts.list()).toHaveLength(1);
  expect((await ctxd([...remove, "--yes"], { dataDir })).exitCode).toBe(0);
  expect(await accounts.list()).toEqual([]);
});

test("only one of two concurrently added accounts is the owner", async () => {
  const dataDir = temporaryFolder();
  const { accounts, db } = testStores(dataDir);
  db.sqlite.run("BEGIN IMMEDIATE");
  db.sqlite.run("INSERT INTO accounts VALUES ('acc_1', 'bob@example.com', NULL, 'owner', 0, NULL)");
  const adding = ctxd(["user", "add", "you@example.com"], { dataDir, input: `${PASSWORD}\n` });
  // Gives the command time to wait for the lock. Its waiting can't be observed.
  await Bun.sleep(1_000);
  db.sqlite.run("COMMIT");
  expect(await adding).toMatchObject({ exitCode: 0 });
  expect((await accounts.findByEmail("you@example.com"))?.role).toBe("member");
});

test("in a terminal the password is asked for twice and not shown", async () => {
  const dataDir = temporaryFolder();
  const { screen, exitCode } = await ctxdInTerminal(
    ["user", "add", "you@example.com"],
    [
      ["Password", `wrong\u0015${PASSWORD}x\u007f\r`],
      ["Repeat it", `${PASSWORD}\r`],
    ],
    { dataDir },
  );
  expect(exitCode).toBe(0);
  expect(screen).toContain("Added you@example.com");
  expect(screen).not.toContain("horse");
  expect(screen).not.toContain("wrong");
  const { accounts } = testStores(dataDir);
  expect(await accounts.verifyPassword("you@example.com", PASSWORD)).not.toBeNull();
});

test.each([
  [
    "two passwords that differ",
    [
      ["Password", `${PASSWORD}\r`],
      ["Repeat it", "other word\r"],
    ],
    "differ",
  ],
  ["a short password", [["Password", "short\r"]], "8 to 1024"],
  ["Ctrl-C", [["Password", "corr\u0003"]], "Cancelled"],
  ["Ctrl-D", [["Password", "\u0004"]], "Cancelled"],
] as const)("in a terminal %s adds no account", async (_, steps, message) => {
  const dataDir = temporaryFolder();
  const { screen, exitCode } = await ctxdInTerminal(["user", "add", "you@example.com"], steps, {
    dataDir,
  });
  expect(screen).toContain(message);
  expect(exitCode).not.toBe(0);
  expect(await testStores(dataDir).accounts.list()).toEqual([]);
});

test.each([
  ["y\r", 0, 0],
  ["yes\r", 0, 0],
  ["n\r", 1, 1],
  ["\r", 1, 1],
  ["\u0003", 1, 1],
])(
  "in a terminal user remove names the data that is lost, and obeys %j",
  async (typed, code, remaining) => {
    const dataDir = temporaryFolder();
    const { accounts, keys } = testStores(dataDir);
    const account = await accounts.add({ email: "you@example.com", password: null });
    await keys.create(account.id, { name: "laptop", scopes: ["memories:read"], expiresAt: null });
    const remove = ["user", "remove", "you@example.com"];
    const { screen, exitCode } = await ctxdInTerminal(remove, [["[y/N]", typed]], { dataDir });
    expect(screen).toContain("its API keys (1) and all its memories");
    expect(exitCode).toBe(code);
    expect(await accounts.list()).toHaveLength(remaining);
  },
);

test("the first account takes over the memories of local agents, a second one does not", async () => {
  const dataDir = temporaryFolder();
  const local = await findLocalOwner(testStores(dataDir).accounts);

  const first = await ctxd(["user", "add", "you@example.com"], { dataDir, input: "password 1\n" });
  expect(first.stderr).toContain("the memories of local agents are in this account");
  await ctxd(["user", "add", "other@example.com"], { dataDir, input: "password 2\n" });

  const listed = await ctxd(["user", "list", "--json"], { dataDir });
  const accounts: { id: string; email: string; role: string }[] = JSON.parse(listed.stdout);
  expect(accounts.map(({ email, role }) => [email, role])).toEqual([
    ["you@example.com", "owner"],
    ["other@example.com", "member"],
  ]);
  expect(accounts[0]?.id).toBe(local.id);
});

test("user quota shows and sets the limits of an account", async () => {
  const dataDir = temporaryFolder();
  await testStores(dataDir).accounts.add({ email: "you@example.com", password: null });
  const quota = async (...args: string[]) => {
    const { stderr, exitCode } = await ctxd(["user", "quota", "you@example.com", ...args], {
      dataDir,
    });
    return { exitCode, message: stderr.trim() };
  };
  const may = (what: string) => ({ exitCode: 0, message: `you@example.com may store ${what}.` });
  expect(await quota()).toEqual(may("any number of memories and any number of bytes of text"));
  expect(await quota("--memories", "100", "--bytes", "20M")).toEqual(
    may("100 memories and 20000000 bytes of text"),
  );
  expect(await quota("--memories", "none")).toEqual(
    may("any number of memories and 20000000 bytes of text"),
  );
  for (const wrong of ["-1", "1.5", "many", "20MB"]) {
    expect(await quota("--bytes", wrong)).toMatchObject({ exitCode: 2 });
  }
  expect((await ctxd(["user", "quota", "nobody@example.com"], { dataDir })).exitCode).toBe(1);
});

test("without passwords, user add asks for none", async () => {
  const dataDir = temporaryFolder();
  const env = {
    CTXD_PASSWORDS: "off",
    CTXD_GITHUB_CLIENT_ID: "a",
    CTXD_GITHUB_CLIENT_SECRET: "b",
  };
  const added = await ctxd(["user", "add", "you@example.com"], { dataDir, env });
  expect(added).toMatchObject({ stdout: "", exitCode: 0 });
  const { accounts } = testStores(dataDir);
  expect(
    await accounts.hasPassword((await accounts.findByEmail("you@example.com"))?.id ?? ""),
  ).toBe(false);
});
