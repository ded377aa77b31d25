import { expect, test } from "bun:test";
import { version } from "../../package.json" with { type: "json" };
import { readChangelog } from "../../src/text/changelog.ts";
import { ctxd } from "../support/command-line.ts";
import { serveRelease } from "../support/releases.ts";

const at = (address: string) => ({ env: { CTXD_RELEASES_URL: address } });

const HOW = `Installed:  ctxd ${version}, as a checkout of the source\nTo upgrade: git pull\n            Then start it again.\n`;

test("shows the way of installation in a few lines, without a request", async () => {
  await using server = serveRelease({ version: "99.0.0" });
  const { exitCode, stdout } = await ctxd(["upgrade"], at(server.address));
  expect({ exitCode, stdout }).toEqual({
    exitCode: 0,
    stdout: `${HOW}Is there a newer version? ctxd upgrade --check looks it up.\n`,
  });
  expect(server.asked).toEqual([]);
});

test("--changes shows what is new in this version", async () => {
  const { stdout } = await ctxd(["upgrade", "--changes"]);
  const sections = readChangelog(await Bun.file("CHANGELOG.md").text());
  const present = sections.find((each) => each.version === version && each.text) ?? sections[0];
  expect(stdout).toStartWith(
    `What is new in ctxd ${version}:\n\n${present?.text ?? "no text"}\n\n${HOW}`,
  );
});

test("--check shows a newer release with its notes, in one request", async () => {
  const notes = "### Added\n- A thing \u001b[31mof colour";
  await using server = serveRelease({ version: "99.0.0", notes });
  const { exitCode, stdout } = await ctxd(["upgrade", "--check"], at(server.address));
  expect(exitCode).toBe(0);
  expect(stdout).toStartWith(
    `ctxd 99.0.0 is available; this is ${version}. What is new in it:\n\n### Added\n- A thing \uFFFD[31mof colour\n`,
  );
  expect(stdout).toContain("To upgrade: git pull");
  expect(server.asked).toEqual(["/latest"]);
});

test.each(["0.0.1", version])(
  "--check reports no newer release when %s is the newest one",
  async (newest) => {
    await using server = serveRelease({ version: newest });
    const outcome = await ctxd(["upgrade", "--check"], at(server.address));
    expect(outcome).toEqual({
      exitCode: 0,
      stdout: `ctxd ${version} is up to date: the newest release is ${newest}.\n`,
      stderr: "",
    });
  },
);

test("--json prints the same for programs", async () => {
  await using server = serveRelease({ version: "99.0.0", notes: "- New" });
  const { stdout } = await ctxd(["upgrade", "--check", "--json"], at(server.address));
  expect(JSON.parse(stdout)).toMatchObject({
    version,
    installed_by: "checkout",
    command: "git pull",
    newest: { version: "99.0.0", is_newer: true, notes: "- New" },
  });
});

test("--check without the address of releases names the missing setting", async () => {
  const { exitCode, stderr } = await ctxd(["upgrade", "--check"]);
  expect(exitCode).toBe(1);
  expect(stderr).toBe(
    "ctxd: This program was built without the address of its releases. Set CTXD_RELEASES_URL to that address.\n",
  );
});
