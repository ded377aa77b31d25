import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { manPage } from "../../src/build/release/man-page.ts";
import { createProgram } from "../../src/cli/program.ts";
import { SETTINGS } from "../../src/config/settings.ts";
import { temporaryFolder } from "../support/database.ts";

const page = await manPage("99.0.0", "2026-11-22");

test("the manual page has every command of the help, and every setting", async () => {
  const program = await createProgram({});
  const names = program
    .createHelp()
    .visibleCommands(program)
    .map((command) => command.name());
  expect(names.length).toBeGreaterThan(20);
  // The last command is Commander's own.
  for (const name of names.filter((each) => each !== "help"))
    expect(page).toContain(`\n.SS ctxd ${name.replaceAll("-", "\\-")}`);
  expect(page).toContain("\n.SS ctxd key create\n");
  for (const name of Object.keys(SETTINGS)) expect(page).toContain(`\n.B ${name}\n`);
});

test.skipIf(!Bun.which("man"))("man reads it without warnings", async () => {
  const path = join(temporaryFolder(), "ctxd.1");
  writeFileSync(path, page);
  const command = ["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", path];
  const env = { PATH: process.env.PATH ?? "", LC_ALL: "C.UTF-8", MANWIDTH: "80" };
  const { stdout, stderr } = Bun.spawnSync(command, { env });
  expect(stderr.toString()).toBe("");
  const text = Bun.stripANSI(stdout.toString()).replaceAll(/.[\b]/g, "");
  expect(text).toContain("--importance <number>");
  // Apostrophes, dashes and dots at the start of a line are printed, not interpreted by roff.
  expect(text).toContain("ctxd save --no-project --tag food 'Sam is allergic to peanuts'");
});
