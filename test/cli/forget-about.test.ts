import { beforeAll, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ctxd, ctxdInTerminal } from "../support/command-line.ts";
import { testCacheDir } from "../support/embedder.ts";
import { listFiles } from "../support/files.ts";
import { temporaryHome } from "../support/temporary-home.ts";

const { home: root, dataDir } = temporaryHome();
const env = { HOME: root, CTXD_CACHE_DIR: testCacheDir, CTXD_PORT: "0" };
const terminal = { dataDir, env };
/** Words that no other file of the data folder has. */
const TEXT = "Annegret keeps her zebrafish in Xanten.";

beforeAll(async () => {
  mkdirSync(dataDir);
  await run(["save", TEXT]);
});

const run = (args: string[]) => ctxd(args, { ...terminal, cwd: root });

test("--wait answers when no file has the text any more, and the receipt says so", async () => {
  await run(["save", "Bob keeps a dog."]);
  const filesWith = async (word: string) =>
    (await listFiles(dataDir)).filter((file) => readFileSync(join(dataDir, file)).includes(word));
  expect((await filesWith("zebrafish")).length).toBeGreaterThan(0);
  const file = join(root, "receipt.txt");
  const args = ["forget", "--about", "Annegret", "--yes", "--wait", "--receipt", file];
  const { stdout, stderr, exitCode } = await run(args);
  expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 0 });
  expect(stderr).toContain("Deleted: 1 memory.");
  const receipt = readFileSync(file, "utf8");
  expect(receipt).toMatch(/^Deleted {10}1, of which captured: 0, superseded: 0$/m);
  expect(receipt).toMatch(/^Left the files {3}checked at 2\S+Z$/m);
  expect(receipt).toMatch(/^About {12}not recorded$/m);
  expect(receipt).not.toMatch(/Annegret|zebrafish|Xanten/);
  expect(await filesWith("zebrafish")).toEqual([]);
});

test("in a terminal the memories are shown with what stays, and some may be kept", async () => {
  await run(["save", "Anna sings."]);
  await run(["save", "Anna paints."]);
  await run(["save", "--tag", "anna", "The choir meets on Mondays."]);
  await run(["save", "Joanna sings."]);
  const args = ["forget", "--about", "Anna", "--with-name"];
  const declined = await ctxdInTerminal(
    args,
    [
      ["Which?", "\r"],
      ["permanently?", "n\r"],
    ],
    terminal,
  );
  expect(declined).toMatchObject({ exitCode: 1 });
  const unknown = await ctxdInTerminal(args, [["Which?", "1-9\r"]], terminal);
  expect(unknown).toMatchObject({ exitCode: 1 });
  const { screen, exitCode } = await ctxdInTerminal(
    args,
    [
      ["Which?", "2-3\r"],
      ["permanently?", "y\r"],
    ],
    terminal,
  );
  expect({ screen, exitCode }).toMatchObject({ exitCode: 0 });
  expect(screen).toContain("The text names it (2)");
  expect(screen).toContain("names it (1)");
  expect(screen).not.toContain("Joanna");
  expect(screen).toMatch(/About +Anna/);
  expect((await run(["forget", "--about", "Anna", "--yes", "--json"])).stdout).toContain(
    '"deleted": 1',
  );
});

test("what makes no sense is refused before anything is deleted", async () => {
  await run(["save", "Carol sings."]);
  const file = join(root, "there.txt");
  writeFileSync(file, "");
  for (const args of [
    ["--about", "Carol", "--tag", "x", "--yes"],
    ["--about", "Carol"],
    ["--about", "Carol", "--yes", "--receipt", file],
    ["--about", "Carol", "--yes", "--receipt", join(root, "no-such-folder", "receipt.txt")],
    ["--receipt", "x", "Carol", "--yes"],
  ]) {
    expect((await run(["forget", ...args])).exitCode).toBe(2);
  }
  expect(await run(["forget", "--about", "Nobody Nowhere", "--yes"])).toMatchObject({
    exitCode: 1,
  });
  expect((await run(["search", "Carol"])).stdout).toContain("Carol sings.");
});
