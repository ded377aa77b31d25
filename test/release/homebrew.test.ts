import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { make } from "../../src/build/release/homebrew.ts";
import { outcomeOf } from "../support/outcome.ts";

const out = mkdtempSync(join(tmpdir(), "ctxd-homebrew-"));
const repository = "https://github.com/owner/ctxd";

afterAll(() => rmSync(out, { recursive: true }));

async function executable(name: string): Promise<string> {
  await Bun.write(join(out, name), name);
  return join(out, name);
}

const sha256 = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest("hex");

test("the formula has each executable with its checksum, and is valid Ruby", async () => {
  const executables = {
    "linux-x64": await executable("ctxd-linux-x64"),
    "linux-arm64": await executable("ctxd-linux-arm64"),
    "darwin-arm64": await executable("ctxd-darwin-arm64"),
  };
  const [path = ""] = await make({ version: "1.2.3", repository, executables, out });
  const text = await Bun.file(path).text();
  const sources = [...text.matchAll(/url "(.*)"\n +sha256 "(.*)"/g)].map(([, url, sum]) => [
    url,
    sum,
  ]);
  expect(sources).toEqual(
    ["ctxd-darwin-arm64", "ctxd-linux-arm64", "ctxd-linux-x64"].map((name) => [
      `${repository}/releases/download/v1.2.3/${name}`,
      sha256(name),
    ]),
  );
  expect(text).toContain('desc "Private long-term memory for AI agents, in one executable"');
  if (Bun.which("ruby") === null) return;
  const read = Bun.spawnSync(["ruby", "-wc", path]);
  expect([read.stdout.toString(), read.stderr.toString()]).toEqual(["Syntax OK\n", ""]);
});

test("a missing executable is an error", async () => {
  const executables = { "linux-x64": await executable("ctxd-linux-x64") };
  const made = make({ version: "1.2.3", repository, executables, out });
  expect(await outcomeOf(made)).toThrow("the formula also needs the executable for darwin-arm64");
});
